/** The way the message came: the servers that it passed, and the session in which it was handed over. */

import type { Envelope, Json } from '../../analysis/check.ts';
import { formatDuration } from '../../lib/durations.ts';
import { type Evidence, evidenceOf, numberIn, objectsIn, type Report, textIn } from '../report.ts';
import { BODY, type Cell, type Pair, pairs, paragraph, SMALL, section, table } from './blocks.ts';
import type { Sheet } from './sheet.ts';
import { mark, shown, shownTime } from './style.ts';

const MAX_HOPS = 50;
const LONG_SECONDS = 300;

export function pathSection(sheet: Sheet, report: Report): void {
  const check = report.checks.find(({ id }) => id === 'received_path');
  const evidence = evidenceOf(report.checks, 'received_path');
  const hops = objectsIn(evidence, 'hops').slice(0, MAX_HOPS);
  if (!check && !report.envelope) return;
  section(sheet, 'The way it came', () => {
    if (check) paragraph(sheet, shown(`${check.title} ${check.detail}`, 600));
    sheet.y += 4;
    if (hops.length > 0) {
      table(
        sheet,
        [
          { title: 'Server', share: 50 },
          { title: 'Received', share: 30 },
          { title: 'After', share: 20, align: 'right' },
        ],
        [...hops.map(hopRow), lastRow(report, evidence)],
      );
      sheet.y += 8;
    }
    if (report.envelope) pairs(sheet, session(report.envelope), { names: 90 });
  });
}

function hopRow(hop: Evidence): Cell[] {
  const [from, by, protocol, time] = ['from', 'by', 'protocol', 'time'].map((key) =>
    textIn(hop, key),
  );
  const via = [from && `took it from ${from}`, protocol && `by ${protocol}`].filter(Boolean);
  return [
    {
      parts: [
        { text: shown(by ?? 'A server without a name', 255), style: BODY },
        { text: shown(via.join(' '), 320), style: SMALL },
      ],
    },
    time ? shownTime(time) : '–',
    delay(numberIn(hop, 'delay_seconds')),
  ];
}

const lastRow = ({ received_at }: Report, evidence: Evidence): Cell[] => [
  'Here',
  received_at ? shownTime(received_at) : '–',
  delay(numberIn(evidence, 'last_delay_seconds')),
];

/** A negative one shows that a clock is wrong. */
function delay(seconds: number | null): Cell {
  if (seconds === null) return '–';
  const text = formatDuration(Math.abs(seconds) * 1000);
  if (seconds < 0) return mark('unknown', `−${text}: a clock is wrong`);
  return seconds >= LONG_SECONDS ? mark('warn', text) : text;
}

function session({ client_ip, helo, mail_from, tls }: Envelope): Pair[] {
  const secured =
    tls && (tls.used ? [tls.version ?? 'used', tls.cipher].filter(Boolean).join(', ') : 'not used');
  const list: [string, Json][] = [
    ['Client', client_ip],
    ['HELO', helo],
    ['MAIL FROM', mail_from === '' ? '<>' : mail_from],
    ['TLS', secured],
  ];
  return list.map(([name, value]) => ({
    name,
    value: value === null ? 'not known' : shown(String(value), 320),
  }));
}
