/** What the checks on links share: which links they judge, what they may have missed, and how they show one. */

import type { Context, Json } from '../check.ts';
import { htmlFacts } from './html-facts.ts';
import { MAX_LINKS } from './link-limits.ts';
import { hideTokens } from './link-tokens.ts';
import type { MessageLink } from './links.ts';

const MAX_SHOWN = 20;
const MAX_ADDRESS = 300;

/** A link that something is wrong with, and what that is in a few words. */
export interface LinkProblem {
  link: MessageLink;
  status: 'warn' | 'fail';
  problem: string;
}

/** Why there may be links that were not looked at, as a sentence; null where all were. */
export function unseenLinks(context: Context, links: MessageLink[]): string | null {
  const { limits } = context.message;
  if (limits.length > 0)
    return `Your message has ${limits.join('; ')}; more links may lie beyond that.`;
  if (context.fact(htmlFacts)?.truncated)
    return 'Your HTML is longer than what is looked at; more links may lie beyond that.';
  return links.length >= MAX_LINKS ? 'Only the first 1,000 links were looked at.' : null;
}

/** An address for the evidence: of bounded length, and without secrets, for reports are shared. */
export function shownAddress(href: string): string {
  const shown = hideTokens(href.slice(0, 2 * MAX_ADDRESS));
  return shown.length <= MAX_ADDRESS ? shown : `${shown.slice(0, MAX_ADDRESS)}…`;
}

/** How many links there are, and the first of those with a problem, each address once. */
export function problemEvidence(links: MessageLink[], problems: LinkProblem[]) {
  const distinct = new Map<string, Json>();
  for (const { link, problem } of problems) {
    if (distinct.size >= MAX_SHOWN) break;
    distinct.set(link.href, { href: shownAddress(link.href), text: textOf(link), problem });
  }
  return { links: links.length, problems: problems.length, found: [...distinct.values()] };
}

/** `fail` where any problem is one. */
export function worstOf(problems: LinkProblem[]): 'warn' | 'fail' {
  return problems.some(({ status }) => status === 'fail') ? 'fail' : 'warn';
}

/** `A link` or `3 links`. */
export const linkCount = (count: number): string =>
  count === 1 ? 'A link' : `${count.toLocaleString('en')} links`;

const textOf = ({ text }: MessageLink): string | null => text?.slice(0, 100) ?? null;
