/** Where the message was found in the seed mailboxes: providers and places. */

import { formatDuration } from '../../lib/durations.ts';
import { type PlacementRow, placementTable } from '../placement-table.ts';
import type { Report } from '../report.ts';
import { paragraph, section } from './blocks.ts';
import { COLOR, type State } from './look.ts';
import type { Sheet } from './sheet.ts';
import { shown } from './shown-text.ts';
import { mark } from './states.ts';
import { type Cell, table } from './table.ts';

const MAX_PROVIDERS = 60;
/** As many columns as there is room for; there are nine places. */
const MAX_PLACES = 9;

const STATES: Record<string, State> = {
  inbox: 'pass',
  promotions: 'info',
  social: 'info',
  updates: 'info',
  forums: 'info',
  spam: 'fail',
  missing: 'fail',
};

export function placementSection(sheet: Sheet, { placement }: Report): void {
  const { columns, rows, inbox, settled } = placementTable(placement);
  if (rows.length === 0) return;
  const places = columns.slice(0, MAX_PLACES);
  section(sheet, 'Where it landed', () => {
    const rate =
      settled > 0
        ? `${inbox} of ${settled} seed mailboxes have it in the inbox or one of its tabs.`
        : 'No seed mailbox could tell yet.';
    paragraph(sheet, `${rate} This never enters the score.`);
    sheet.y += 4;
    table(
      sheet,
      [
        { title: 'Provider', share: 26 },
        ...places.map(({ name }) => ({
          title: shown(name, 20),
          share: 60 / places.length,
          align: 'right' as const,
        })),
        { title: 'Seeds', share: 12, align: 'right' },
        { title: 'Arrived after', share: 22, align: 'right' },
      ],
      rows
        .slice(0, MAX_PROVIDERS)
        .map((row) => [
          shown(row.provider, 60),
          ...places.map(({ place }, index) => count(place, row.counts[index] ?? 0)),
          String(row.seeds),
          arrival(row),
        ]),
    );
  });
}

function count(place: string, seeds: number): Cell {
  if (seeds === 0) return [{ text: '0', color: COLOR.muted }];
  return mark(Object.hasOwn(STATES, place) ? STATES[place]! : 'unknown', String(seeds));
}

function arrival({ seconds }: PlacementRow): string {
  if (seconds === null) return '–';
  const [first, last] = seconds.map((each) => formatDuration(each * 1000));
  return first === last ? first! : `${first} – ${last}`;
}
