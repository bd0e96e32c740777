/** `unsubscribe_link`: the body of marketing mail shows a way to unsubscribe. */

import { type Check, type Context, fail, pass, unknown, warn } from '../check.ts';
import { htmlFacts } from '../html/facts.ts';
import { MAX_LINKS } from '../html/links.ts';
import { unlessMarketing } from '../kind.ts';
import { type MessageLink, messageLinks } from '../links/links.ts';
import { unsubscribeCandidates, unsubscribeLinks } from '../links/unsubscribe.ts';

const FIX =
  'Put a link that anyone can see into the body, most often at its end, with a text such as "Unsubscribe". It may lead to a page with preferences, but must work without signing in.';

/** Told by the words in its text and its address; it is never called. */
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
  publicEvidence: { links: { href: 'host', text: 'unquoted', part: 'shown' } },
  run(context) {
    const other = unlessMarketing(context, 'An unsubscribe link was not looked for.');
    if (other) return other;
    const links = context.fact(unsubscribeLinks);
    const evidence = { links: links.slice(0, 5).map(shown) };
    // Who has HTML to show does not see the text part.
    const seen = context.message.html === null ? links : links.filter(isHtml);
    if (seen.length === 0) return { ...without(context, links), evidence };
    if (seen.some(({ text }) => text !== ''))
      return pass(
        'Your message has an unsubscribe link in its body.',
        'Readers find a way out without the spam button. The link was not called.',
        evidence,
      );
    return warn({
      title: 'Your unsubscribe link has nothing to read.',
      detail:
        'It is hidden, or there is nothing between its tags, not even the alternative text of an image. Where images are not shown, nobody sees it.',
      fix: FIX,
      evidence,
    });
  },
};

const isHtml = ({ source }: MessageLink): boolean => source === 'html';

const shown = ({ href, text, source }: MessageLink) => ({
  href: href.slice(0, 500),
  text: text?.slice(0, 200) ?? null,
  part: source,
});

function without(context: Context, inText: MessageLink[]) {
  const { limits } = context.message;
  const cut = context.fact(htmlFacts)?.truncated || context.fact(messageLinks).length >= MAX_LINKS;
  if (limits.length > 0 || cut)
    return unknown(
      'An unsubscribe link could not be found.',
      `There is more to your message than is looked at${limits.length > 0 ? ` (${limits.join('; ')})` : ''}; the link may lie beyond.`,
    );
  const why =
    'Gmail, Yahoo and Microsoft ask for one that is easy to see. Readers who find none press the spam button.';
  if (inText.length > 0)
    return fail({
      title: 'The HTML of your message has no unsubscribe link.',
      detail: `Only its text part has one, and nearly every mail program shows the HTML. ${why}`,
      fix: FIX,
    });
  if (context.fact(unsubscribeCandidates).length > 0)
    return fail({
      title: 'Your unsubscribe link leads nowhere.',
      detail: `Its address is neither a web nor a mail address; often a placeholder was not filled in. ${why}`,
      fix: FIX,
    });
  return fail({
    title: 'Your message has no unsubscribe link in its body.',
    detail: `No link was found whose text or address speaks of unsubscribing. ${why}`,
    fix: FIX,
  });
}
