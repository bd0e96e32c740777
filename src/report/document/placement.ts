/** Where the message arrived in the seed mailboxes, and what their providers wrote about it. */

import { formatPercent } from '../../lib/format/numbers.ts';
import type { State } from '../../ui/components.tsx';
import {
  type Block,
  muted,
  type Note,
  oneLine,
  type Row,
  type Section,
  type StateSpan,
  state,
  type Text,
} from '../blocks.ts';
import { type PlacementRow, placementTable, placeName, wasFound } from '../content.ts';
import {
  inboxRate,
  MIN_PLACEMENT_SAMPLES,
  placementState,
  providerName,
  SAMPLE_NOTE,
  TOO_FEW,
} from '../placement-rates.ts';
import { isMove, type Report, type SeedPlacement } from '../report.ts';
import { formatSeconds } from './evidence.ts';

const MAX_PROVIDERS = 60;
const MAX_FOLDERS = 9;
const MAX_SEEDS = 60;

const PLACE_STATES: Record<string, State> = {
  inbox: 'pass',
  promotions: 'info',
  social: 'info',
  updates: 'info',
  forums: 'info',
  spam: 'fail',
};

/** No section without seed mailboxes; in a short PDF, without tables. */
export function placementSections(report: Report, isShortPdf: boolean): Section[] {
  const { placement } = report;
  const table = placementTable(placement);
  if (table.rows.length === 0) return [];
  return [
    {
      kind: 'section',
      id: 'placement',
      title: 'Inbox placement',
      note: [`${rateText(report)} Placement does not affect the score.`],
      blocks: isShortPdf
        ? []
        : [
            providerTable(table, missingOf(report)),
            ...differenceNotes(report),
            ...seedTable(placement, missingOf(report)),
            { kind: 'paragraph', style: 'small', text: [SAMPLE_NOTE] },
          ],
    },
  ];
}

/** Placements that can still be found. */
const OPEN_PLACES = ['pending', 'missing', 'unknown'];

function rateText({ placement, placement_status }: Report): string {
  const { inbox, settled } = placementTable(placement);
  if (placement_status === 'settled' && !wasFound(placement))
    return 'No seed mailbox received the message, so it was probably not sent to them. No rate includes it.';
  if (placement_status === 'settled' && settled === 0)
    return 'The message arrived, but no seed mailbox shows where.';
  const rate =
    settled > 0
      ? `${inbox} of ${settled} seed mailboxes received the message in the inbox or an inbox tab.`
      : 'No results from seed mailboxes yet.';
  if (placement_status !== 'waiting') return rate;
  return placement.every(({ placement: place }) => !OPEN_PLACES.includes(place))
    ? `${rate} They are checked again, because providers can move messages after delivery.`
    : `${rate} The search continues.`;
}

/** How a missing message is marked: it is only a failure once the search is over and others were found. */
interface Missing {
  state: State;
  name: string;
}

function missingOf({ placement, placement_status }: Report): Missing {
  if (placement_status === 'waiting') return { state: 'unknown', name: 'Missing so far' };
  return { state: wasFound(placement) ? 'fail' : 'unknown', name: placeName('missing') };
}

/** A row for each provider and a column for each folder, with the number of seeds and delays. */
function providerTable(
  { columns, rows }: ReturnType<typeof placementTable>,
  missing: Missing,
): Block {
  const places = columns.slice(0, MAX_FOLDERS);
  const hasRates = rows.some(({ settled }) => settled >= MIN_PLACEMENT_SAMPLES);
  const rowOf = (row: PlacementRow): Row => ({
    cells: [
      { text: [providerName(row.provider)] },
      ...places.map(({ place }, index) => ({
        text: [countOf(place, row.counts[index] ?? 0, missing)],
      })),
      { text: [String(row.seeds)] },
      ...(hasRates ? [{ text: [rateOf(row)] }] : []),
      { text: [arrivalText(row)] },
    ],
  });
  return {
    kind: 'table',
    name: 'placement',
    label: 'Placement by provider',
    columns: [
      { title: 'Provider', share: 22 },
      ...places.map(({ place, name }) => ({
        title: oneLine(place === 'missing' ? missing.name : name, 40),
        share: Math.max(15, 64 / places.length),
        isNumber: true,
      })),
      { title: 'Seeds', share: 12, isNumber: true },
      ...(hasRates ? [{ title: 'Inbox rate', share: 18, isNumber: true }] : []),
      { title: 'Arrived after', share: 22, isNumber: true },
    ],
    groups: [{ title: null, rows: rows.slice(0, MAX_PROVIDERS).map(rowOf) }],
    foot: [],
  };
}

const stateOf = (place: string, missing: Missing): State =>
  place === 'missing'
    ? missing.state
    : Object.hasOwn(PLACE_STATES, place)
      ? PLACE_STATES[place]!
      : 'unknown';

const countOf = (
  place: string,
  count: number,
  missing: Missing,
): StateSpan | ReturnType<typeof muted> =>
  count === 0 ? muted('0') : state(stateOf(place, missing), String(count));

/** A rate of a few seeds would look more exact than it is. */
function rateOf({ inbox, settled }: PlacementRow): StateSpan | ReturnType<typeof muted> {
  const rate = inboxRate(inbox, settled);
  return rate === null
    ? muted(TOO_FEW)
    : state(placementState(rate), `${formatPercent(rate)} of ${settled}`);
}

function arrivalText({ seconds }: PlacementRow): string {
  if (seconds === null) return '–';
  const [first, last] = seconds.map(formatSeconds);
  return first === last ? first! : `${first} – ${last}`;
}

// Each seed mailbox, for the team.

/** No table in public reports, which have no details. */
function seedTable(placement: SeedPlacement[], missing: Missing): Block[] {
  const rows = placement
    .filter(({ details }) => details !== undefined)
    .slice(0, MAX_SEEDS)
    .map((seed) => seedRow(seed, missing));
  if (rows.length === 0) return [];
  return [
    {
      kind: 'table',
      name: 'plain',
      label: 'Each seed mailbox',
      columns: [
        { title: 'Seed mailbox', share: 34 },
        { title: 'Placement', share: 16 },
        { title: 'What the provider says', share: 50 },
      ],
      groups: [{ title: null, rows }],
      foot: [],
    },
  ];
}

function seedRow({ provider, placement, details }: SeedPlacement, missing: Missing): Row {
  const { address, reasons } = details!;
  const texts = reasons.filter((reason) => !isMove(reason)).map(({ text }) => oneLine(text, 200));
  return {
    cells: [
      { text: [providerName(provider)], below: [oneLine(address, 120)] },
      {
        text: [
          state(
            stateOf(placement, missing),
            placement === 'missing' ? missing.name : placeName(placement),
          ),
        ],
        below: whereText(details!),
      },
      {
        text:
          texts.length > 0 ? [texts.join(' ')] : [muted(details!.match === null ? '–' : 'Nothing')],
      },
    ],
  };
}

/** The folder, or where it is not and why. */
function whereText({
  folder,
  match,
  detail,
  searched,
  settled,
  reasons,
}: NonNullable<SeedPlacement['details']>): Text {
  if (detail !== null) return [oneLine(detail, 300)];
  if (folder !== null)
    return [
      [
        `In ${oneLine(folder, 80)}${settled ? '' : ' so far'}`,
        ...reasons.filter(isMove).map(({ text }) => oneLine(text, 200).replace(/\.$/, '')),
        ...(match === 'probable' ? ['Matched only by sender, subject and time'] : []),
      ].join('. '),
    ];
  if (searched.length === 0) return ['Not searched yet'];
  const folders = searched.map((each) => oneLine(each, 60)).join(', ');
  return [`Not in ${folders}${settled ? '' : ' so far'}`];
}

// Where a provider’s verdict on SPF, DKIM and DMARC differs from the result of this service.

const METHODS = { spf: 'SPF', dkim: 'DKIM', dmarc: 'DMARC' } as const;
/** Results that mean the same to a sender. */
const sameAs = (result: string): string =>
  ({ softfail: 'fail', permerror: 'fail', bestguesspass: 'none', neutral: 'none' })[result] ??
  result;

function differenceNotes({ placement, auth_results }: Report): Note[] {
  const found = new Map<string, string>();
  for (const { provider, details } of placement)
    for (const { name, value } of details?.reasons ?? []) {
      const own = Object.hasOwn(METHODS, name) ? auth_results[name as keyof typeof METHODS] : null;
      if (own === null || own === 'temperror' || value === 'temperror') continue;
      if (sameAs(own) === sameAs(value)) continue;
      const label = METHODS[name as keyof typeof METHODS];
      const text = `${label} is “${oneLine(value, 20)}” at ${providerName(provider)}, but “${own}” in this report. The two copies may have taken different paths.`;
      found.set(`${provider} ${name}`, text);
    }
  return [...found.values()]
    .slice(0, 10)
    .map((text) => ({ kind: 'note', state: 'warn', text: [text] }));
}
