/** What the large providers ask of senders, rule by rule, and where the message landed at them. */

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
import type { Report, Reported } from '../report.ts';
import { formatSeconds } from './evidence.ts';
import { referenceLink } from './findings.ts';

const RULES_TITLE = 'Providers’ rules';

export function providersSection(report: Report): Section {
  const { providers, judged_kind } = report;
  const section = { kind: 'section', id: 'providers', title: RULES_TITLE } as const;
  const note = kindOf(report);
  if (providers.length === 0) {
    const text = ['The rules of the providers were not looked at.'];
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

function kindOf({ judged_kind: { kind, reasons, by } }: Report): Text {
  const why = reasons.map((reason) => oneLine(reason, 300)).join(' ');
  const how = by === 'message' ? ', by what is in the message' : '';
  const otherwise =
    by === 'message' ? ' Where that is wrong, say which kind it is when you create the test.' : '';
  return ['Judged as ', strong(`${kind} mail`), `${how}. ${why}${otherwise}`];
}

function providerCard(verdict: ProviderVerdict, isBulk: boolean): Card {
  const { provider, name, rules, reference } = verdict;
  const met = rules.filter(({ status }) => status === 'met');
  const unseen = rules.filter(({ status, checks }) => status === 'unknown' && checks.length === 0);
  const open = rules
    .filter((rule) => !met.includes(rule) && !unseen.includes(rule))
    .toSorted((a, b) => rank(a) - rank(b));
  return {
    kind: 'card',
    id: `provider-${provider}`,
    title: [oneLine(name, 60)],
    state: readiness(verdict, isBulk),
    blocks: [
      ...(open.length > 0 ? [entriesOf(open)] : []),
      ...folded('pass', `${counted(met)} met`, met),
      ...folded('unknown', `${counted(unseen)} that no single message can show`, unseen),
      small(referenceLink(reference)),
    ],
  };
}

/** Not ready for want of knowledge is not known to be unready. */
function readiness({ ready, rules }: ProviderVerdict, isBulk: boolean): StateSpan {
  if (ready) return badge('pass', 'Ready');
  const isBroken = rules.some(
    ({ status, applies }) => status === 'not_met' && (isBulk || applies === 'any'),
  );
  return isBroken ? badge('fail', 'Not ready') : badge('unknown', 'Not known');
}

const rank = ({ status }: RuleVerdict): number => (status === 'not_met' ? 0 : 1);

const counted = ({ length }: RuleVerdict[]): string =>
  length === 1 ? '1 rule' : `${length} rules`;

const folded = (of: State, title: string, rules: RuleVerdict[]): Fold[] =>
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
          blocks: [entriesOf(rules)],
        },
      ];

const RULE_STATES: Record<RuleStatus, StateSpan> = {
  not_met: state('fail', 'Not met'),
  unknown: state('unknown', 'Unknown'),
  met: state('pass', 'Met'),
};

const entriesOf = (rules: RuleVerdict[]): Entries => ({
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
        ? [['It answers ', { kind: 'code', text: oneLine(error, 300) } as const]]
        : []),
    ],
    figure: null,
    more: null,
  })),
});

/** For a terminal, a line for each provider: whether it is content, and how many of its rules are not met. */
export function providerLines({ providers }: Reported): Block[] {
  if (providers.length === 0) return [];
  const items = providers.map(({ name, ready, rules }) => {
    const unmet = rules.filter(({ status }) => status === 'not_met').length;
    const open = rules.filter(({ status }) => status === 'unknown').length;
    const words = [
      `${rules.length - unmet - open} met`,
      ...(unmet > 0 ? [`${unmet} not met`] : []),
      ...(open > 0 ? [`${open} unknown`] : []),
    ];
    const of: State = ready ? 'pass' : unmet > 0 ? 'fail' : 'unknown';
    return { state: of, name: oneLine(name, 60), text: [words.join(', ')] };
  });
  const blocks: Block[] = [{ kind: 'lines', nameWidth: 12, items }];
  return [{ kind: 'section', id: 'providers', title: RULES_TITLE, note: null, blocks }];
}

// Where the message landed: providers × places, with the number of seeds and the time it took.

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

export function placementSection({ placement }: Report): Section {
  const { columns, rows, inbox, settled } = placementTable(placement);
  const section = { kind: 'section', id: 'placement', title: 'Where it landed' } as const;
  if (rows.length === 0) {
    const text = [
      'No seed mailbox got this message, so where it lands at real providers is not known.',
    ];
    const nothing = { kind: 'paragraph', style: 'card', text } as const;
    return { ...section, note: null, isEmpty: true, blocks: [nothing] };
  }
  const rate =
    settled > 0
      ? `${inbox} of ${settled} seed mailboxes have it in the inbox or one of its tabs.`
      : 'No seed mailbox could tell yet.';
  const places = columns.slice(0, MAX_PLACES);
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
  return { ...section, note: [`${rate} This never enters the score.`], blocks: [table] };
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
