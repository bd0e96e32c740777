/** The unsubscribe link: what happened when members tried it, and the buttons to try it. */

import { dayInWords } from '../../lib/format/times.ts';
import {
  type Block,
  oneLine,
  paragraph,
  type Section,
  small,
  state,
  stateOf,
  time,
} from '../blocks.ts';
import type { Report } from '../report.ts';
import { section } from './figures.ts';

/** POST is the one-click request (RFC 8058). GET is what a browser sends. */
export const TRY_METHODS = ['POST', 'GET'] as const;

const NAMES = { POST: 'One-click request', GET: 'In a browser' };
/** Then for another time. */
const LABELS = {
  POST: ['Try the unsubscribe link', 'Try it again'],
  GET: ['Open the link', 'Open it again'],
};

const MAY_UNSUBSCRIBE =
  'Both can really unsubscribe the address to which the message was sent. Each request is sent once, and the score does not change.';

/** https://support.google.com/a/answer/81126 and https://support.google.com/a/answer/14229414 */
const GMAIL_NEEDS =
  'Gmail sends this POST request when a recipient clicks Unsubscribe. DKIM must cover List-Unsubscribe and List-Unsubscribe-Post (RFC 8058 §4). The link must unsubscribe within two days, without a redirect, sign-in or confirmation.';

/** No section if nobody tried the link, and the reader can't. */
export function unsubscribeSections(report: Report): Section[] {
  const { unsubscribeTries: tries = [], unsubscribeForm: action, message, checks } = report;
  const has = (field: RegExp, content: RegExp) =>
    message?.headers.some(({ name, value }) => field.test(name) && content.test(value));
  const hasLink =
    has(/^list-unsubscribe$/i, /<\s*https:/i) && has(/^list-unsubscribe-post$/i, /one-click/i);
  const blocks = tries.flatMap((one): Block[] => {
    const { duration_ms, tls_version, certificate_expires_at: end } = one.response ?? {};
    return [
      paragraph(state(one.verdict, NAMES[one.method]), ` · ${oneLine(one.detail)}`),
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
        const label = `${LABELS[method][count > 0 ? 1 : 0]} (may unsubscribe)`;
        return { value: `${method} ${count}`, label };
      }),
    });
  if (blocks.length === 0) return [];
  const signed = checks.find(({ id }) => id === 'one_click_signed');
  if (signed && signed.status !== 'skipped')
    blocks.push(
      paragraph(state(stateOf(signed.status), 'DKIM signature'), ` · ${oneLine(signed.title)}`),
    );
  return [
    {
      ...section('unsubscribe', 'Unsubscribe link', [...blocks, small(GMAIL_NEEDS)]),
      fold: { open: tries.length > 0, count: tries.length > 0 ? 'tried' : 'not tried' },
    },
  ];
}
