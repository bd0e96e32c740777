/** `unsubscribe_link`: the body of marketing mail has a visible unsubscribe link. */

import {
  type Check,
  type Context,
  type Finding,
  fail,
  pass,
  skipped,
  unknown,
  warn,
} from '../check.ts';
import { skipForwarded } from '../forwarding/explain.ts';
import { htmlFacts } from '../html/facts.ts';
import { MAX_LINKS } from '../html/links.ts';
import { skipUnlessMarketing } from '../kind.ts';
import { type MessageLink, messageLinks } from '../links/links.ts';
import { isUnsubscribeUrl, unsubscribeCandidates, unsubscribeLinks } from '../links/unsubscribe.ts';
import type { Template } from '../templates/template.ts';

const FIX =
  'Add a visible link to the body, usually at the end, with text such as "Unsubscribe". It can lead to a preferences page but must work without signing in.';

/** Identified by the words in its text and URL. It is never requested. */
export const unsubscribeLink: Check = {
  id: 'unsubscribe_link',
  category: 'compliance',
  points: 2,
  label: 'Unsubscribe link',
  issueTitle: 'No working unsubscribe link in the body',
  reference: {
    name: 'Gmail: Email sender guidelines',
    url: 'https://support.google.com/a/answer/81126',
  },
  dependsOnKind: true,
  publicEvidence: { links: { href: 'host', text: 'unquoted', part: 'shown' } },
  run(context) {
    const title = 'The unsubscribe link was not checked.';
    const skipFinding = skipForwarded(context, title) ?? skipUnlessMarketing(context, title);
    if (skipFinding) return skipFinding;
    const links = context.fact(unsubscribeLinks);
    const evidence = { links: links.slice(0, 5).map(linkEvidence) };
    // Clients that display the HTML don't show the text part.
    const displayed = context.message.html === null ? links : links.filter(isHtml);
    if (displayed.length === 0 && context.template) {
      const finding = templateLink(context.template);
      if (finding) return finding;
    }
    if (displayed.length === 0) return { ...missingLink(context, links), evidence };
    if (displayed.some(({ text }) => text !== ''))
      return pass(
        'Your message has an unsubscribe link in its body.',
        'Recipients can unsubscribe instead of reporting spam. This service did not open the link.',
        evidence,
      );
    return warn({
      title: 'Your unsubscribe link has no visible text.',
      detail:
        'It is hidden, or has neither text nor an image with alt text. Recipients who block images never see it.',
      fix: FIX,
      evidence,
    });
  },
};

/** For a link that only the rendered template has; null if it cannot have one. */
function templateLink({ tags, isPart }: Template): Finding | null {
  const tag = tags.find(isUnsubscribeUrl);
  if (tag !== undefined)
    return pass(
      'Your template has a merge tag for an unsubscribe link.',
      `Your sending system replaces ${tag.slice(0, 60)} with the link.`,
    );
  return isPart
    ? skipped(
        'The unsubscribe link was not checked.',
        'Not checked: the link may be in another file that this template includes.',
      )
    : null;
}

const isHtml = ({ source }: MessageLink): boolean => source === 'html';

const linkEvidence = ({ href, text, source }: MessageLink) => ({
  href: href.slice(0, 500),
  text: text?.slice(0, 200) ?? null,
  part: source,
});

function missingLink(context: Context, textLinks: MessageLink[]) {
  const { exceededLimits } = context.message;
  const isTruncated =
    context.fact(htmlFacts)?.truncated || context.fact(messageLinks).length >= MAX_LINKS;
  if (exceededLimits.length > 0 || isTruncated)
    return unknown(
      'Could not determine whether your message has an unsubscribe link.',
      `Your message is too long to read in full${exceededLimits.length > 0 ? ` (${exceededLimits.join('; ')})` : ''}. The rest may contain the link.`,
    );
  const why =
    'Gmail, Yahoo and Microsoft require one that is easy to see. Recipients who find none report spam.';
  if (textLinks.length > 0)
    return fail({
      title: 'The HTML of your message has no unsubscribe link.',
      detail: `Only the text part has one, and nearly all email clients show the HTML. ${why}`,
      fix: FIX,
    });
  if (context.fact(unsubscribeCandidates).length > 0)
    return fail({
      title: 'Your unsubscribe link has no valid address.',
      detail: `It has neither a web nor an email address, often because of an unfilled merge tag. ${why}`,
      fix: FIX,
    });
  return fail({
    title: 'Your message has no unsubscribe link in its body.',
    detail: `No link has text or a URL about unsubscribing. ${why}`,
    fix: FIX,
  });
}
