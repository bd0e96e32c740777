/** The sender requirements of each mailbox provider. */

import {
  type ProviderVerdict,
  type Readiness,
  type RuleStatus,
  type RuleVerdict,
  ruleApplies,
} from '../../analysis/result.ts';
import type { State } from '../../ui/components.tsx';
import {
  type Block,
  badge,
  type Card,
  type Choice,
  type Entries,
  type Fold,
  muted,
  oneLine,
  type Paragraph,
  type Row,
  type Section,
  type StateSpan,
  small,
  state,
  strong,
  type Table,
  type Text,
} from '../blocks.ts';
import { kindInWords } from '../content.ts';
import type { Report, ReportedResult } from '../report.ts';
import { referenceLink } from './findings.ts';
import type { ReportVariant } from './variant.ts';

const RULES_TITLE = 'Provider rules';

export function providersSection(report: Report, { medium }: ReportVariant): Section {
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
  const { kind } = judged_kind;
  const cards = providers.map((verdict) => providerCard(verdict, kind, medium));
  return { ...section, note, blocks: [...laterChoice(report), ...cards] };
}

function kindNote(report: Report): Text {
  const { reasons, by } = report.judged_kind;
  const reasonText = reasons.map((reason) => oneLine(reason, 300)).join(' ');
  const override =
    by === 'message' && report.kindForm === undefined
      ? ' If that is wrong, set the kind when you create or reanalyze the test.'
      : '';
  return ['Evaluated as ', strong(kindInWords(report)), `. ${reasonText}${override}`];
}

const KIND_OPTIONS = {
  marketing: { value: 'marketing', label: 'This is marketing mail' },
  transactional: { value: 'transactional', label: 'This is transactional mail' },
  auto: { value: 'auto', label: 'Detect the kind again' },
};

/** Lets the reader choose the kind; empty if they may not. An uncertain kind is a question of its own. */
export function kindChoice({ kindForm, judged_kind: { kind, by, confidence } }: Report): Choice[] {
  if (kindForm === undefined) return [];
  const isUncertain = confidence === 'uncertain';
  const { marketing, transactional, auto } = KIND_OPTIONS;
  const other = kind === 'marketing' ? transactional : marketing;
  return [
    {
      kind: 'choice',
      action: kindForm,
      field: 'kind',
      text: [
        isUncertain
          ? 'Choose the kind of mail. The service then analyzes the message again.'
          : 'If the kind is wrong, choose another. The service then analyzes the message again.',
      ],
      options: isUncertain ? [marketing, transactional] : by === 'sender' ? [other, auto] : [other],
    },
  ];
}

/** The choice in the section of provider rules. An uncertain kind has it at the top of the report. */
const laterChoice = (report: Report): Choice[] =>
  report.judged_kind.confidence === 'uncertain' ? [] : kindChoice(report);

type Kind = Report['judged_kind']['kind'];

function providerCard(verdict: ProviderVerdict, kind: Kind, medium: ReportVariant['medium']): Card {
  const { provider, name, rules, reference } = verdict;
  const { met, open, unobservable, bulkOnly } = sortRules(rules, kind);
  const list = medium === 'pdf' ? rulesInShort : ruleFold;
  return {
    kind: 'card',
    id: `provider-${provider}`,
    title: [oneLine(name, 60)],
    state: BADGES[verdict.status],
    blocks: [
      ...(open.length > 0 ? [entriesOf(open, name)] : []),
      ...list('pass', `${ruleCount(met)} met`, met, name),
      ...list(
        'unknown',
        `${ruleCount(unobservable)} that one message cannot show`,
        unobservable,
        name,
      ),
      ...list(
        'info',
        `${ruleCount(bulkOnly)} for bulk senders only, which do not count for this message`,
        bulkOnly,
        name,
      ),
      small(referenceLink(reference)),
    ],
  };
}

/** Only the titles, in one paragraph. */
const rulesInShort = (ruleState: State, title: string, rules: RuleVerdict[]): Paragraph[] => {
  if (rules.length === 0) return [];
  const titles = rules.map((rule) => oneLine(rule.title, 300)).join(' ');
  return [small(state(ruleState, `${title}:`), ` ${titles}`)];
};

/** On the first page of a PDF: whether the message meets the rules of each provider, and why not. */
export function acceptanceSection({ providers, judged_kind: { kind } }: ReportedResult): Section {
  const rows = providers.map((verdict): Row => {
    const { met, open } = sortRules(verdict.rules, kind);
    const unmet = open.filter(({ status }) => status === 'not_met');
    const counts = [`${ruleCount(met)} met`, ...openCounts(open, unmet)].join(', ');
    const reasons =
      unmet.length > 0
        ? unmet.map(({ detail }) => oneLine(detail, 160))
        : open.map(({ title }) => oneLine(title, 160));
    return {
      cells: [
        { text: [oneLine(verdict.name, 60)] },
        { text: [BADGES[verdict.status]] },
        {
          text: [counts],
          ...(reasons.length > 0
            ? { below: [`${unmet.length > 0 ? '' : 'Unknown: '}${firstOf([...new Set(reasons)])}`] }
            : {}),
        },
      ],
    };
  });
  const table: Table = {
    kind: 'table',
    name: 'plain',
    label: ACCEPTANCE_TITLE,
    columns: [
      { title: 'Provider', share: 16 },
      { title: 'Verdict', share: 16 },
      { title: 'Rules', share: 68 },
    ],
    groups: [{ title: null, rows }],
    foot: [],
  };
  return {
    kind: 'section',
    id: 'acceptance',
    title: ACCEPTANCE_TITLE,
    note: null,
    isEmpty: providers.length === 0,
    blocks: [table],
  };
}

const ACCEPTANCE_TITLE = 'Provider verdicts';

/** More would fill the first page. */
const MAX_REASONS = 2;

const firstOf = (reasons: string[]): string => {
  const more = reasons.length - MAX_REASONS;
  return [...reasons.slice(0, MAX_REASONS), ...(more > 0 ? [`And ${more} more.`] : [])].join(' ');
};

const openCounts = (open: RuleVerdict[], unmet: RuleVerdict[]): string[] => [
  ...(unmet.length > 0 ? [`${unmet.length} not met`] : []),
  ...(open.length > unmet.length ? [`${open.length - unmet.length} unknown`] : []),
];

interface SortedRules {
  met: RuleVerdict[];
  /** Not met or unknown; those not met first. */
  open: RuleVerdict[];
  unobservable: RuleVerdict[];
  /** Rules for bulk senders, if the message is transactional. */
  bulkOnly: RuleVerdict[];
}

/** Each rule once. All counts in reports come from here. */
function sortRules(rules: RuleVerdict[], kind: Kind): SortedRules {
  const counted = rules.filter((rule) => ruleApplies(rule, kind));
  const isUnobservable = ({ status, checks }: RuleVerdict) =>
    status === 'unknown' && checks.length === 0;
  return {
    met: counted.filter(({ status }) => status === 'met'),
    open: counted
      .filter((rule) => rule.status !== 'met' && !isUnobservable(rule))
      .toSorted((a, b) => rank(a) - rank(b)),
    unobservable: counted.filter(isUnobservable),
    bulkOnly: rules.filter((rule) => !ruleApplies(rule, kind)),
  };
}

const BADGES: Record<Readiness, StateSpan> = {
  ready: badge('pass', 'Ready'),
  not_ready: badge('fail', 'Not ready'),
  unknown: badge('unknown', 'Unknown'),
};

const rank = ({ status }: RuleVerdict): number => (status === 'not_met' ? 0 : 1);

const ruleCount = ({ length }: RuleVerdict[]): string =>
  length === 1 ? '1 rule' : `${length} rules`;

const ruleFold = (
  foldState: State,
  title: string,
  rules: RuleVerdict[],
  provider: string,
): Fold[] =>
  rules.length === 0
    ? []
    : [
        {
          kind: 'fold',
          title,
          state: foldState,
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

const LINE_STATES: Record<Readiness, State> = {
  ready: 'pass',
  not_ready: 'fail',
  unknown: 'unknown',
};

/** For a terminal: one line for each provider with the verdict and the number of rules behind it. */
export function providerLines({ providers, judged_kind: { kind } }: ReportedResult): Block[] {
  if (providers.length === 0) return [];
  const items = providers.map((verdict) => {
    const { met, open } = sortRules(verdict.rules, kind);
    const unmet = open.filter(({ status }) => status === 'not_met');
    const counts = [`${met.length} met`, ...openCounts(open, unmet)];
    const status = verdict.status;
    return {
      state: LINE_STATES[status],
      name: oneLine(verdict.name, 60),
      text: [counts.join(', ')],
    };
  });
  const blocks: Block[] = [{ kind: 'lines', nameWidth: 12, items }];
  return [{ kind: 'section', id: 'providers', title: RULES_TITLE, note: null, blocks }];
}
