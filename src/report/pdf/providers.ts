/** What the large providers ask of senders, rule by rule: not met, unknown, met. */

import type { ProviderVerdict, RuleStatus, RuleVerdict } from '../../analysis/result.ts';
import { formatDuration } from '../../lib/durations.ts';
import { type PlacementRow, placementTable } from '../content.ts';
import type { Report } from '../report.ts';
import { BODY, type Cell, paragraph, SMALL, section, subheading, table } from './blocks.ts';
import type { Sheet } from './sheet.ts';
import { COLOR, mark, ruleText, type State, shown } from './style.ts';

const MAX_RULES = 40;
const RULE_STATES: Record<RuleStatus, { state: State; word: string; rank: number }> = {
  not_met: { state: 'fail', word: 'Not met', rank: 0 },
  unknown: { state: 'unknown', word: 'Unknown', rank: 1 },
  met: { state: 'pass', word: 'Met', rank: 2 },
};
const ANSWER = { ...SMALL, face: 'mono', color: COLOR.fail } as const;

export function providersSection(sheet: Sheet, { providers, judged_kind }: Report): void {
  if (providers.length === 0) return;
  section(sheet, 'Providers’ rules', () => {
    const { kind, by, reasons } = judged_kind;
    const how = by === 'message' ? ', by what is in the message' : '';
    paragraph(sheet, shown(`Judged as ${kind} mail${how}. ${reasons.join(' ')}`, 600));
    for (const provider of providers) oneProvider(sheet, provider);
  });
}

function oneProvider(sheet: Sheet, { name, ready, reference, rules }: ProviderVerdict): void {
  const sorted = rules.toSorted((a, b) => RULE_STATES[a.status].rank - RULE_STATES[b.status].rank);
  const count = (status: RuleStatus) => rules.filter((rule) => rule.status === status).length;
  const counts = `${count('met')} met, ${count('not_met')} not met, ${count('unknown')} unknown · `;
  subheading(
    sheet,
    [
      { text: `${shown(name, 60)}  ` },
      ...mark(ready ? 'pass' : 'fail', ready ? 'Ready' : 'Not ready'),
    ],
    80,
  );
  paragraph(sheet, [{ text: counts }, ...ruleText(reference)], { style: SMALL });
  sheet.y += 2;
  table(
    sheet,
    [
      { title: 'State', share: 16 },
      { title: 'Rule', share: 66 },
      { title: 'For', share: 18 },
    ],
    sorted.slice(0, MAX_RULES).map(ruleRow),
  );
}

function ruleRow({ status, title, detail, applies, error }: RuleVerdict): Cell[] {
  const { state, word } = RULE_STATES[status];
  const answers = status === 'not_met' && error !== null;
  return [
    mark(state, word),
    {
      parts: [
        { text: shown(title, 300), style: BODY },
        { text: shown(detail, 500), style: SMALL },
        ...(answers ? [{ text: `It answers: ${shown(error, 300)}`, style: ANSWER }] : []),
      ],
    },
    applies === 'bulk' ? 'bulk mail' : 'every sender',
  ];
}

// Where the message was found in the seed mailboxes: providers and places.

const MAX_PROVIDERS = 60;
/** As many columns as there is room for; there are nine places. */
const MAX_PLACES = 9;

const PLACE_STATES: Record<string, State> = {
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
  return mark(Object.hasOwn(PLACE_STATES, place) ? PLACE_STATES[place]! : 'unknown', String(seeds));
}

function arrival({ seconds }: PlacementRow): string {
  if (seconds === null) return '–';
  const [first, last] = seconds.map((each) => formatDuration(each * 1000));
  return first === last ? first! : `${first} – ${last}`;
}
