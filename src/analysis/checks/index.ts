/** All checks, in the order of the documentation. */

import type { Check, CheckDeclaration } from '../check.ts';
import { activeContent } from './active-content.ts';
import { allowlists } from './allowlists.ts';
import { arc } from './arc.ts';
import { attachments } from './attachments.ts';
import { bimi } from './bimi.ts';
import { caa } from './caa.ts';
import { clientSupport } from './client-support.ts';
import { dane } from './dane.ts';
import { date } from './date.ts';
import { dkim } from './dkim.ts';
import { dkimAlignment } from './dkim-alignment.ts';
import { dkimCoverage } from './dkim-coverage.ts';
import { dkimKey } from './dkim-key.ts';
import { dkimSelector } from './dkim-selector.ts';
import { dmarc } from './dmarc.ts';
import { dmarcPolicy } from './dmarc-policy.ts';
import { dmarcRecord } from './dmarc-record.ts';
import { dnssec } from './dnssec.ts';
import { domainBlocklists } from './domain-blocklists.ts';
import { encoding } from './encoding.ts';
import { fcrdns } from './fcrdns.ts';
import { feedbackId } from './feedback-id.ts';
import { forwarding } from './forwarding.ts';
import { from } from './from.ts';
import { headerDuplicates } from './header-duplicates.ts';
import { helo } from './helo.ts';
import { hiddenText } from './hidden-text.ts';
import { htmlSize } from './html-size.ts';
import { htmlStructure } from './html-structure.ts';
import { imageAlt } from './image-alt.ts';
import { imageRatio } from './image-ratio.ts';
import { ipBlocklists } from './ip-blocklists.ts';
import { ipv6 } from './ipv6.ts';
import { lineLength } from './line-length.ts';
import { linkBlocklists } from './link-blocklists.ts';
import { linkHost } from './link-host.ts';
import { linkScheme } from './link-scheme.ts';
import { linkShorteners } from './link-shorteners.ts';
import { linkStatus } from './link-status.ts';
import { linkText } from './link-text.ts';
import { listUnsubscribeCheck } from './list-unsubscribe.ts';
import { mergeTags } from './merge-tags.ts';
import { messageId } from './message-id.ts';
import { messageProtection } from './message-protection.ts';
import { messageSize } from './message-size.ts';
import { mtaSts } from './mta-sts.ts';
import { mx } from './mx.ts';
import { mxTls } from './mx-tls.ts';
import { nameServersCheck } from './name-servers.ts';
import { noReply } from './no-reply.ts';
import { oneClick } from './one-click.ts';
import { oneClickSigned } from './one-click-signed.ts';
import { precedence } from './precedence.ts';
import { preheader } from './preheader.ts';
import { ptr } from './ptr.ts';
import { receivedPath } from './received-path.ts';
import { recipients } from './recipients.ts';
import { replyTo } from './reply-to.ts';
import { returnPath } from './return-path.ts';
import { rspamd } from './rspamd.ts';
import { spamassassin } from './spamassassin.ts';
import { spf } from './spf.ts';
import { spfAlignment } from './spf-alignment.ts';
import { spfRecord } from './spf-record.ts';
import { subject } from './subject.ts';
import { subjectStyle } from './subject-style.ts';
import { textMatchesHtml } from './text-matches-html.ts';
import { textPart } from './text-part.ts';
import { tls } from './tls.ts';
import { tlsRpt } from './tls-rpt.ts';
import { trackingPixel } from './tracking-pixel.ts';
import { unsubscribeLink } from './unsubscribe-link.ts';

/** In the order of fixes with the same gain. DKIM comes before SPF, because it survives forwarding. */
export const CHECKS: Check[] = [
  dkim,
  dkimAlignment,
  dkimKey,
  dkimCoverage,
  spf,
  spfAlignment,
  spfRecord,
  dmarc,
  dmarcPolicy,
  dmarcRecord,
  arc,
  bimi,
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
  forwarding,
  ipv6,
  mtaSts,
  tlsRpt,
  dane(null),
  dnssec,
  from,
  date,
  messageId,
  recipients,
  subject,
  headerDuplicates,
  lineLength,
  encoding,
  messageProtection,
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

/** Checks that run only for a domain without a message. */
export const DOMAIN_CHECKS: (Pick<Check, 'id'> & CheckDeclaration)[] = [
  caa,
  mxTls(null),
  dkimSelector,
  nameServersCheck,
];
