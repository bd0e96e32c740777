/** The list of all checks, in the order of the documentation: adding one is one line here. */

import { arc } from './authentication/arc.ts';
import { bimi } from './authentication/bimi.ts';
import { dkim } from './authentication/dkim.ts';
import { dkimAlignment } from './authentication/dkim-alignment.ts';
import { dkimCoverage } from './authentication/dkim-coverage.ts';
import { dkimKey } from './authentication/dkim-key.ts';
import { dkim2 } from './authentication/dkim2.ts';
import { dmarc } from './authentication/dmarc.ts';
import { dmarcPolicy } from './authentication/dmarc-policy.ts';
import { dmarcRecord } from './authentication/dmarc-record.ts';
import { spf } from './authentication/spf.ts';
import { spfAlignment } from './authentication/spf-alignment.ts';
import { spfRecord } from './authentication/spf-record.ts';
import type { Check } from './check.ts';
import { date } from './compliance/date.ts';
import { encoding } from './compliance/encoding.ts';
import { feedbackId } from './compliance/feedback-id.ts';
import { from } from './compliance/from.ts';
import { headerDuplicates } from './compliance/header-duplicates.ts';
import { lineLength } from './compliance/line-length.ts';
import { listUnsubscribeCheck } from './compliance/list-unsubscribe.ts';
import { messageId } from './compliance/message-id.ts';
import { noReply } from './compliance/no-reply.ts';
import { oneClick } from './compliance/one-click.ts';
import { oneClickSigned } from './compliance/one-click-signed.ts';
import { precedence } from './compliance/precedence.ts';
import { recipients } from './compliance/recipients.ts';
import { replyTo } from './compliance/reply-to.ts';
import { subject } from './compliance/subject.ts';
import { unsubscribeLink } from './compliance/unsubscribe-link.ts';
import { activeContent } from './content/active-content.ts';
import { attachments } from './content/attachments.ts';
import { clientSupport } from './content/client-support.ts';
import { hiddenText } from './content/hidden-text.ts';
import { htmlSize } from './content/html-size.ts';
import { htmlStructure } from './content/html-structure.ts';
import { imageAlt } from './content/image-alt.ts';
import { imageRatio } from './content/image-ratio.ts';
import { linkHost } from './content/link-host.ts';
import { linkScheme } from './content/link-scheme.ts';
import { linkShorteners } from './content/link-shorteners.ts';
import { linkStatus } from './content/link-status.ts';
import { linkText } from './content/link-text.ts';
import { mergeTags } from './content/merge-tags.ts';
import { messageSize } from './content/message-size.ts';
import { preheader } from './content/preheader.ts';
import { subjectStyle } from './content/subject-style.ts';
import { textMatchesHtml } from './content/text-matches-html.ts';
import { textPart } from './content/text-part.ts';
import { trackingPixel } from './content/tracking-pixel.ts';
import { rspamd } from './filters/rspamd.ts';
import { spamassassin } from './filters/spamassassin.ts';
import { dnssec } from './infrastructure/dnssec.ts';
import { fcrdns } from './infrastructure/fcrdns.ts';
import { helo } from './infrastructure/helo.ts';
import { ipv6 } from './infrastructure/ipv6.ts';
import { mtaSts } from './infrastructure/mta-sts.ts';
import { mx } from './infrastructure/mx.ts';
import { ptr } from './infrastructure/ptr.ts';
import { receivedPath } from './infrastructure/received-path.ts';
import { returnPath } from './infrastructure/return-path.ts';
import { tls } from './infrastructure/tls.ts';
import { tlsRpt } from './infrastructure/tls-rpt.ts';
import { allowlists } from './reputation/allowlists.ts';
import { domainBlocklists } from './reputation/domain-blocklists.ts';
import { ipBlocklists } from './reputation/ip-blocklists.ts';
import { linkBlocklists } from './reputation/link-blocklists.ts';

export const CHECKS: Check[] = [
  spf,
  spfAlignment,
  spfRecord,
  dkim,
  dkimAlignment,
  dkimKey,
  dkimCoverage,
  dmarc,
  dmarcPolicy,
  dmarcRecord,
  arc,
  bimi,
  dkim2,
  ipBlocklists,
  domainBlocklists,
  linkBlocklists,
  allowlists,
  ptr,
  fcrdns,
  helo,
  tls,
  mx,
  returnPath,
  receivedPath,
  ipv6,
  mtaSts,
  tlsRpt,
  dnssec,
  from,
  date,
  messageId,
  recipients,
  subject,
  headerDuplicates,
  lineLength,
  encoding,
  replyTo,
  listUnsubscribeCheck,
  oneClick,
  oneClickSigned,
  unsubscribeLink,
  feedbackId,
  precedence,
  noReply,
  textPart,
  textMatchesHtml,
  htmlStructure,
  htmlSize,
  messageSize,
  imageRatio,
  imageAlt,
  attachments,
  activeContent,
  hiddenText,
  linkText,
  linkHost,
  linkScheme,
  linkShorteners,
  linkStatus,
  mergeTags,
  subjectStyle,
  trackingPixel,
  preheader,
  clientSupport,
  spamassassin,
  rspamd,
];
