/** The unsubscribe link: what happened when members tried it, and the buttons to try it. */

import { dayInWords } from '../../lib/format/times.ts';
import { type Block, oneLine, paragraph, type Section, small, state, time } from '../blocks.ts';
import type { Report } from '../report.ts';
import { describeTry, GMAIL_NEEDS, MAY_UNSUBSCRIBE, TRY_METHODS } from '../unsubscribe-try.ts';
import { section } from './figures.ts';

const NAMES = { POST: 'One-click request', GET: 'Opening the link' };
const LABELS = { POST: 'Try the unsubscribe link', GET: 'Open the link (GET)' };

/** No section if nobody tried the link, and the reader can't. */
export function unsubscribeSections(report: Report): Section[] {
  const { unsubscribeTries: tries = [], unsubscribeForm: action, message } = report;
  const hasLink = message?.headers.some(
    ({ name, value }) => /^list-unsubscribe$/i.test(name) && /<\s*https:/i.test(value),
  );
  const blocks = tries.flatMap((one): Block[] => {
    const { duration_ms, tls_version, certificate_expires_at: end } = one.response ?? {};
    const [verdict, text] = describeTry(one);
    return [
      paragraph(state(verdict, NAMES[one.method]), ` · ${oneLine(text)}`),
      small(
        time(one.requested_at),
        ...(duration_ms === undefined ? [] : [` · ${duration_ms} ms`]),
        ...(end
          ? [` · ${tls_version?.replace('v', ' ')}, certificate valid until ${dayInWords(end)}`]
          : []),
      ),
    ];
  });
  if (action !== undefined && hasLink)
    blocks.push({
      kind: 'choice',
      action,
      field: 'try',
      text: [MAY_UNSUBSCRIBE],
      options: TRY_METHODS.map((method) => {
        const count = tries.find((one) => one.method === method)?.tries ?? 0;
        return { value: `${method} ${count}`, label: LABELS[method] + (count ? ' again' : '') };
      }),
    });
  return blocks.length === 0
    ? []
    : [section('unsubscribe', 'Unsubscribe link', [...blocks, small(GMAIL_NEEDS)])];
}
