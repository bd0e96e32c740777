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
  type Cell,
  type Choice,
  type Fold,
  muted,
  oneLine,
  plainText,
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
  const { providers } = report;
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
  return {
    ...section,
    note,
    fold: {
      open: providers.some(({ status }) => status === 'not_ready'),
      count: readinessInWords(providers),
    },
    blocks: [...laterChoice(report), ...ruleBlocks(report, medium)],
  };
}

/** `Not ready: Gmail, Yahoo. Ready: Apple.` */
function readinessInWords(providers: ProviderVerdict[]): string {
  const parts = (['not_ready', 'unknown', 'ready'] as const).flatMap((status) => {
    const names = providers.filter((one) => one.status === status).map(({ name }) => name);
    return names.length > 0 ? [`${BADGES[status].word}: ${oneLine(names.join(', '), 200)}`] : [];
  });
  return `${parts.join('. ')}.`;
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

interface SharedRule {
  rules: Map<string, RuleVerdict>;
  /** The group that the row is in: the worst of what it is for each provider. */
  group: RuleGroup;
}

const RULE_GROUPS = ['open', 'met', 'unobservable', 'bulkOnly'] as const;
type RuleGroup = (typeof RULE_GROUPS)[number];

/** One table of all rules: what is not met or unknown, then the rest. A page folds the rest. */
function ruleBlocks(
  { providers, judged_kind: { kind } }: ReportedResult,
  medium: ReportVariant['medium'],
): Block[] {
  const shared = sharedRules(providers, kind);
  const inGroup = (group: RuleGroup) => shared.filter((rule) => rule.group === group);
  const tableOf = (groups: Table['groups']): Table => ({
    kind: 'table',
    name: 'rules',
    label: RULES_TITLE,
    columns: [
      { title: 'Rule', share: 40 },
      ...providers.map(({ name }) => ({ title: oneLine(name, 60), share: 15 })),
    ],
    groups,
    foot: [],
  });
  const rowsOf = (rules: SharedRule[]) => rules.map((rule) => ruleRow(rule, providers, kind));
  const verdicts: Row = {
    cells: [{ text: ['Verdict'] }, ...providers.map(({ status }) => ({ text: [BADGES[status]] }))],
  };
  const hasCodes = providers.some(({ rules }) =>
    rules.some((rule) => rule.error && isUnmet(rule, kind)),
  );
  const first = { title: null, rows: [verdicts, ...rowsOf(inGroup('open'))] };
  const others = RULE_GROUPS.slice(1)
    .map((group) => ({ ...OTHER_GROUPS[group as keyof typeof OTHER_GROUPS], group }))
    .map(({ group, state: of, words }) => ({ of, group, words, rules: inGroup(group) }))
    .filter(({ rules }) => rules.length > 0)
    .map(({ of, group, words, rules }) => ({
      of,
      id: `rules-${group.toLowerCase()}`,
      title: `${ruleCount(rules.length)} ${words}`,
      rows: rowsOf(rules),
    }));
  const references = providers.map(({ reference }) => small(referenceLink(reference)));
  const notes = [...(hasCodes ? [small(CODES_NOTE)] : []), ...references];
  // A PDF has only the titles of the others, in one paragraph.
  if (medium === 'pdf') {
    const titles = others.map(({ of, title, rows }) => {
      const rules = rows.map(({ cells: [rule] }) => plainText(rule!.text)).join(' ');
      return small(state(of, `${title}:`), ` ${rules}`);
    });
    return [tableOf([first]), ...titles, ...notes];
  }
  return [
    tableOf([first]),
    ...others.map(
      ({ of, id, ...group }): Fold => ({
        kind: 'fold',
        id,
        title: group.title,
        state: of,
        count: null,
        open: false,
        style: 'plain',
        blocks: [tableOf([{ ...group, title: null }])],
      }),
    ),
    ...notes,
  ];
}

const CODES_NOTE = 'The codes are the replies with which a provider rejects such mail.';

const OTHER_GROUPS = {
  met: { state: 'pass', words: 'met' },
  unobservable: { state: 'unknown', words: 'that one message cannot show' },
  bulkOnly: { state: 'info', words: 'for bulk senders only, which do not count for this message' },
} as const;

function sharedRules(providers: ProviderVerdict[], kind: Kind): SharedRule[] {
  const byId = new Map<string, SharedRule>();
  for (const { provider, rules } of providers)
    for (const [group, list] of Object.entries(sortRules(rules, kind)) as [
      RuleGroup,
      RuleVerdict[],
    ][])
      for (const rule of list) {
        const shared = byId.get(rule.id) ?? { rules: new Map(), group };
        shared.rules.set(provider, rule);
        if (RULE_GROUPS.indexOf(group) < RULE_GROUPS.indexOf(shared.group)) shared.group = group;
        byId.set(rule.id, shared);
      }
  const rankOf = (shared: SharedRule) =>
    [...shared.rules.values()].some((rule) => isUnmet(rule, kind)) ? 0 : 1;
  return [...byId.values()].toSorted((a, b) => rankOf(a) - rankOf(b));
}

const isUnmet = (rule: RuleVerdict, kind: Kind): boolean =>
  rule.status === 'not_met' && ruleApplies(rule, kind);

/** In the words of the first provider; where others say it differently, their words follow. */
function ruleRow({ rules, group }: SharedRule, providers: ProviderVerdict[], kind: Kind): Row {
  const all = providers.flatMap(({ provider, name }) => {
    const rule = rules.get(provider);
    return rule ? [{ name, ...rule }] : [];
  });
  const isShown = (rule: RuleVerdict) =>
    group !== 'open' || (ruleApplies(rule, kind) && rule.status !== 'met');
  const { title } = all[0]!;
  const details = new Set(all.filter(isShown).map(({ detail }) => oneLine(detail, 500)));
  const others = all
    .filter(
      (rule, index) =>
        rule.title !== title && all.findIndex((one) => one.title === rule.title) === index,
    )
    .map((rule) => `${rule.name}: ${oneLine(rule.title, 300)}`);
  const isBulk = all.every(({ applies }) => applies === 'bulk');
  return {
    cells: [
      {
        text: [oneLine(title, 300), ...(isBulk ? [muted(' (bulk mail)')] : [])],
        below: [[...details, ...others].join(' ')],
      },
      ...providers.map(({ provider }) => ruleCell(rules.get(provider), kind)),
    ],
  };
}

function ruleCell(rule: RuleVerdict | undefined, kind: Kind): Cell {
  if (rule === undefined) return { text: [muted('– No rule')] };
  if (!ruleApplies(rule, kind)) return { text: [muted('– Not needed')] };
  const { status, error } = rule;
  return {
    text: [RULE_STATES[status]],
    ...(error && status === 'not_met' ? { below: [oneLine(error, 300)] } : {}),
  };
}

/** On the first page of a PDF: whether the message meets the rules of each provider, and why not. */
export function acceptanceSection({ providers, judged_kind: { kind } }: ReportedResult): Section {
  const rows = providers.map((verdict): Row => {
    const { met, open } = sortRules(verdict.rules, kind);
    const unmet = open.filter(({ status }) => status === 'not_met');
    const counts = [`${ruleCount(met.length)} met`, ...openCounts(open, unmet)].join(', ');
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

const ruleCount = (count: number): string => (count === 1 ? '1 rule' : `${count} rules`);

const RULE_STATES: Record<RuleStatus, StateSpan> = {
  not_met: state('fail', 'Not met'),
  unknown: state('unknown', 'Unknown'),
  met: state('pass', 'Met'),
};

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
