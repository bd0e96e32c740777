/** What became of asking the links of a message, by their address. */

import { shownAddress } from '../analysis/content/link-evidence.ts';
import { evidenceOf, objectsIn, textIn } from './read-evidence.ts';
import type { Reported } from './report.ts';

interface LinkAnswer {
  /** `works`, `dead`, `unknown`, `not_asked`. */
  status: string;
  reason: string | null;
}

/** The answer for a link as written in the message; null where the check says nothing of it. */
export function linkAnswers({
  checks,
}: Pick<Reported, 'checks'>): (href: string) => LinkAnswer | null {
  const answers = new Map<string, LinkAnswer>();
  for (const link of objectsIn(evidenceOf(checks, 'link_status'), 'links')) {
    const [href, status] = [textIn(link, 'href'), textIn(link, 'status')];
    if (href && status) answers.set(asAsked(href), { status, reason: textIn(link, 'reason') });
  }
  return (href) => answers.get(asAsked(shownAddress(URL.parse(href)?.href ?? href))) ?? null;
}

/** The part after # is never sent: addresses that differ in it alone are asked once. */
const asAsked = (address: string): string => address.replace(/#.*$/s, '');
