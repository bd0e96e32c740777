/** What the checks on HTML share: whether there is HTML, and what of it was not looked at. */

import { type Context, type Finding, skipped, unknown } from '../check.ts';
import { type HtmlFacts, htmlFacts } from './html-facts.ts';

/**
 * What the check says of the facts, or why there are none. What may change when the rest is seen is
 * `unknown` where not all was: a pass, and all that `judge` marks as `open`.
 */
export function judgeHtml(
  context: Context,
  notChecked: string,
  judge: (facts: HtmlFacts) => Finding & { open?: boolean },
): Finding {
  const facts = context.fact(htmlFacts);
  const unseen = unseenHtml(context);
  if (facts) {
    const { open = false, ...finding } = judge(facts);
    const decided = !open && finding.status !== 'pass' && finding.status !== 'skipped';
    return unseen === null || decided ? finding : unknown(notChecked, unseen);
  }
  return unseen === null
    ? skipped('Your message has no HTML.', 'The message has no HTML part.')
    : unknown(notChecked, unseen);
}

/** Why there may be HTML that was not looked at, as a sentence; null where all was. */
function unseenHtml(context: Context): string | null {
  const { limits } = context.message;
  if (limits.length > 0) return `Your message has ${limits.join('; ')}; more may lie beyond that.`;
  return context.fact(htmlFacts)?.truncated
    ? 'Your HTML, or what it is made of, is longer than what is looked at; more may lie beyond that.'
    : null;
}
