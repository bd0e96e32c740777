/** The unsubscribe link: what happened when members tried it, or the button to try it. */

import { type Block, oneLine, paragraph, type Section, small, state, time } from '../blocks.ts';
import type { Report } from '../report.ts';
import { describeTry, GMAIL_NEEDS, MAY_UNSUBSCRIBE } from '../unsubscribe-try.ts';
import { section } from './figures.ts';

const WORDS = { POST: 'One-click request (POST)', GET: 'Browser (GET)' };

/** No section if nobody tried the link, and the reader can't. */
export function unsubscribeSections({ unsubscribe, message }: Report): Section[] {
  if (!unsubscribe) return [];
  const { tries, form, page } = unsubscribe;
  const hasLink = message?.headers.some(
    ({ name, value }) => /^list-unsubscribe$/i.test(name) && /<\s*https:/i.test(value),
  );
  if (tries.length === 0 && (form === undefined || !hasLink)) return [];
  const blocks: Block[] = tries.map((one) => {
    const [verdict, text] = describeTry(one);
    return paragraph(
      state(verdict, WORDS[one.method]),
      ` · ${oneLine(text)} `,
      time(one.requestedAt),
    );
  });
  if (tries.length === 0)
    blocks.push({
      kind: 'choice',
      action: form!,
      field: 'method',
      text: [MAY_UNSUBSCRIBE],
      options: [{ value: 'POST', label: 'Try the unsubscribe link' }],
    });
  blocks.push(small(GMAIL_NEEDS, ' ', { kind: 'link', text: 'Details', url: page }));
  return [section('unsubscribe', 'Unsubscribe link', blocks)];
}
