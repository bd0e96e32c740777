/** The sender requirements of each mailbox provider, and the placement of the message. */

import type { ProviderVerdict, RuleStatus, RuleVerdict } from '../../analysis/result.ts';
import {
  type Block,
  badge,
  type Card,
  type Entries,
  type Fold,
  muted,
  oneLine,
  type Row,
  type Section,
  type State,
  type StateSpan,
  small,
  state,
  strong,
  type Text,
} from '../blocks.ts';
import { type PlacementRow, placementTable } from '../content.ts';
import type { Report, ReportedResult } from '../report.ts';
import { formatSeconds } from './evidence.ts';
import { referenceLink } from './findings.ts';

const RULES_TITLE = 'Provider rules';

export function providersSection(report: Report): Section {
  const { providers, judged_kind } = report;
  const section = { kind: 'section', id: 'providers', title: RULES_TITLE } as const;
  const note = kindNote(report);
  if (providers.length === 0) {
    const text = ['Provider rules were not checked.'];
    return {
      ...section,
      note,
      isEmpty: true,
      blocks: [{ kind: 'paragraph', style: 'card', text }],
    };
  }
  const isBulk = judged_kind.kind === 'marketing';
  return { ...section, note, blocks: providers.map((verdict) => providerCard(verdict, isBulk)) };
}

function kindNote({ judged_kind: { kind, reasons, by } }: Report): Text {
  const why = reasons.map((reason) => oneLine(reason, 300)).join(' ');
  const basis = by === 'message' ? ', based on its content' : '';
  const override =
    by === 'message' ? ' If that is wrong, set the kind when you create the test.' : '';
  return ['Evaluated as ', strong(`${kind} mail`), `${basis}. ${why}${override}`];
}

function providerCard(verdict: ProviderVerdict, isBulk: boolean): Card {
  const { provider, name, rules, reference } = verdict;
  const met = rules.filter(({ status }) => status === 'met');
  const notVisible = rules.filter(
    ({ status, checks }) => status === 'unknown' && checks.length === 0,
  );
  const open = rules
    .filter((rule) => !met.includes(rule) && !notVisible.includes(rule))
    .toSorted((a, b) => rank(a) - rank(b));
  return {
    kind: 'card',
    id: `provider-${provider}`,
    title: [oneLine(name, 60)],
    state: readiness(verdict, isBulk),
    blocks: [
      ...(open.length > 0 ? [entriesOf(open, name)] : []),
      ...folded('pass', `${counted(met)} met`, met, name),
      ...folded('unknown', `${counted(notVisible)} that one message cannot show`, notVisible, name),
      small(referenceLink(reference)),
    ],
  };
}

/** "Not ready" needs a rule that is not met; unknown rules alone leave it unknown. */
function readiness({ ready, rules }: ProviderVerdict, isBulk: boolean): StateSpan {
  if (ready) return badge('pass', 'Ready');
  return hasUnmetRule(rules, isBulk) ? badge('fail', 'Not ready') : badge('unknown', 'Unknown');
}

/** Rules for bulk mail that a transactional message does not meet do not count. */
const hasUnmetRule = (rules: RuleVerdict[], isBulk: boolean): boolean =>
  rules.some(({ status, applies }) => status === 'not_met' && (isBulk || applies === 'any'));

const rank = ({ status }: RuleVerdict): number => (status === 'not_met' ? 0 : 1);

const counted = ({ length }: RuleVerdict[]): string =>
  length === 1 ? '1 rule' : `${length} rules`;

const folded = (of: State, title: string, rules: RuleVerdict[], provider: string): Fold[] =>
  rules.length === 0
    ? []
    : [
        {
          kind: 'fold',
          title,
          state: of,
          count: null,
          open: false,
          style: 'plain',
          blocks: [entriesOf(rules, provider)],
        },
      ];

const RULE_STATES: Record<RuleStatus, StateSpan> = {
  not_met: state('fail', 'Not met'),
  unknown: state('unknown', 'Unknown'),
  met: state('pass', 'Met'),
};

const entriesOf = (rules: RuleVerdict[], provider: string): Entries => ({
  kind: 'entries',
  name: 'rules',
  columns: null,
  items: rules.map(({ status, title, applies, detail, error }) => ({
    id: null,
    state: RULE_STATES[status],
    label: null,
    title: [oneLine(title, 300), ...(applies === 'bulk' ? [muted(' (bulk mail)')] : [])],
    lines: [
      [oneLine(detail, 500)],
      ...(error && status === 'not_met'
        ? [
            [
              `${oneLine(provider, 60)} rejects with `,
              { kind: 'code', text: oneLine(error.replaceAll(', ', ' or '), 300) } as const,
            ],
          ]
        : []),
    ],
    figure: null,
    more: null,
  })),
});

/** For a terminal: one line for each provider with the number of rules met, not met and unknown. */
export function providerLines({ providers, judged_kind }: ReportedResult): Block[] {
  if (providers.length === 0) return [];
  const isBulk = judged_kind.kind === 'marketing';
  const items = providers.map(({ name, ready, rules }) => {
    const unmet = rules.filter(({ status }) => status === 'not_met').length;
    const open = rules.filter(({ status }) => status === 'unknown').length;
    const words = [
      `${rules.length - unmet - open} met`,
      ...(unmet > 0 ? [`${unmet} not met`] : []),
      ...(open > 0 ? [`${open} unknown`] : []),
    ];
    const of: State = ready ? 'pass' : hasUnmetRule(rules, isBulk) ? 'fail' : 'unknown';
    return { state: of, name: oneLine(name, 60), text: [words.join(', ')] };
  });
  const blocks: Block[] = [{ kind: 'lines', nameWidth: 12, items }];
  return [{ kind: 'section', id: 'providers', title: RULES_TITLE, note: null, blocks }];
}

// Placement: a row for each provider and a column for each folder, with the number of seeds and delays.

const MAX_PROVIDERS = 60;
const MAX_FOLDERS = 9;

const PLACE_STATES: Record<string, State> = {
  inbox: 'pass',
  promotions: 'info',
  social: 'info',
  updates: 'info',
  forums: 'info',
  spam: 'fail',
  missing: 'fail',
};

export function placementSection({ placement }: Report): Section {
  const { columns, rows, inbox, settled } = placementTable(placement);
  const section = { kind: 'section', id: 'placement', title: 'Inbox placement' } as const;
  if (rows.length === 0) {
    const text = ['No seed mailbox received this message, so its placement is unknown.'];
    const nothing = { kind: 'paragraph', style: 'card', text } as const;
    return { ...section, note: null, isEmpty: true, blocks: [nothing] };
  }
  const rate =
    settled > 0
      ? `${inbox} of ${settled} seed mailboxes received the message in the inbox or an inbox tab.`
      : 'No results from seed mailboxes yet.';
  const places = columns.slice(0, MAX_FOLDERS);
  const rowOf = (row: PlacementRow): Row => ({
    cells: [
      { text: [oneLine(row.provider, 60)] },
      ...places.map(({ place }, index) => ({ text: [countOf(place, row.counts[index] ?? 0)] })),
      { text: [String(row.seeds)] },
      { text: [arrival(row)] },
    ],
  });
  const table: Block = {
    kind: 'table',
    name: 'placement',
    label: 'Placement by provider',
    columns: [
      { title: 'Provider', share: 26 },
      ...places.map(({ name }) => ({
        title: oneLine(name, 40),
        share: 60 / places.length,
        isNumber: true,
      })),
      { title: 'Seeds', share: 12, isNumber: true },
      { title: 'Arrived after', share: 22, isNumber: true },
    ],
    groups: [{ title: null, rows: rows.slice(0, MAX_PROVIDERS).map(rowOf) }],
    foot: [],
  };
  return { ...section, note: [`${rate} Placement does not affect the score.`], blocks: [table] };
}

function countOf(place: string, count: number): StateSpan | ReturnType<typeof muted> {
  if (count === 0) return muted('0');
  const of = Object.hasOwn(PLACE_STATES, place) ? PLACE_STATES[place]! : 'unknown';
  return state(of, String(count));
}

function arrival({ seconds }: PlacementRow): string {
  if (seconds === null) return '–';
  const [first, last] = seconds.map(formatSeconds);
  return first === last ? first! : `${first} – ${last}`;
}
