/** What to fix, ordered by gain, and every other check with its reason. */

import type { Fix, Reference } from '../../analysis/check.ts';
import type { CheckResult } from '../../analysis/result.ts';
import { checksToFix } from '../../analysis/summary.ts';
import {
  type Block,
  badge,
  type Entry,
  type Finding,
  type Findings,
  type Fold,
  figure,
  type Group,
  type Note,
  oneLine,
  paragraph,
  type RecordBlock,
  type Section,
  type Span,
  small,
  state,
  stateOf,
  strong,
  type Table,
  verbatimText,
} from '../blocks.ts';
import {
  capSentence,
  categoryName,
  dependsOnFailedCheck,
  formatPoints,
  MAX_FULL_FINDINGS,
  missingResultsSentence,
  STATUS_WORDS,
} from '../content.ts';
import type { ReportedResult } from '../report.ts';
import { evidenceFacts, evidenceInShort } from './evidence.ts';
import type { ReportVariant } from './variant.ts';
import { nothingToFix } from './verdict.ts';

export const FIX_TITLE = 'Fix these first';
/** Half a page. Real records are far shorter. */
const MAX_RECORD_VALUE = 2500;

export function fixSection(result: ReportedResult, variant: ReportVariant): Section {
  const findings = checksToFix(result.checks);
  const section = { kind: 'section', id: 'fix', title: FIX_TITLE } as const;
  if (findings.length === 0)
    return { ...section, note: null, blocks: [nothingToFixBlock(result.score)] };
  if (variant.medium === 'paper' && variant.isBrief)
    return { ...section, note: null, blocks: [...capNotes(result), findingsTable(result)] };
  return {
    ...section,
    note: [gainNote(result)],
    blocks: [...capNotes(result), findingsBlock(result, variant)],
  };
}

/** For a terminal: the first findings with reason and fix, the rest as titles. */
export function shortFixes(result: ReportedResult): Block[] {
  const findings = checksToFix(result.checks);
  if (findings.length === 0) return [nothingToFixBlock(result.score)];
  const first = findings
    .map((check) => shortFinding(check, result))
    .map((finding, index) => (index < MAX_FULL_FINDINGS ? finding : { ...finding, groups: [] }));
  const blocks: Block[] = [
    ...(result.cap
      ? [{ kind: 'note', state: 'fail', text: [capSentence(result.cap)] } as Note]
      : []),
    { kind: 'findings', first, more: null },
  ];
  return [{ kind: 'section', id: 'fix', title: FIX_TITLE, note: null, blocks }];
}

const nothingToFixBlock = (score: number | null): Block => ({
  kind: 'paragraph',
  style: 'card',
  text: [state(score === null ? 'unknown' : 'pass', nothingToFix(score))],
});

function gainNote({ score, cap }: ReportedResult): string {
  if (score === null)
    return 'There are not enough results for a score, but you can already fix these issues.';
  const gain = 'Each number shows how much your score rises if you fix only that issue.';
  return cap ? `${gain} Issues at +0 add points once the cap is lifted.` : gain;
}

function capNotes({ cap }: ReportedResult): Note[] {
  if (!cap) return [];
  return [
    { kind: 'note', state: 'fail', text: [strong(capSentence(cap)), ` ${oneLine(cap.reference)}`] },
  ];
}

function findingsBlock(result: ReportedResult, variant: ReportVariant): Findings {
  const all = checksToFix(result.checks).map((check, index) =>
    findingBlock(check, result, variant, index === 0),
  );
  if (variant.medium === 'paper') return { kind: 'findings', first: all, more: null };
  const rest = all.slice(MAX_FULL_FINDINGS);
  const title = rest.length === 1 ? '1 more issue' : `${rest.length} more issues`;
  return {
    kind: 'findings',
    first: all.slice(0, MAX_FULL_FINDINGS),
    more: rest.length > 0 ? { title, findings: rest } : null,
  };
}

function findingBlock(
  check: CheckResult,
  result: ReportedResult,
  variant: ReportVariant,
  open: boolean,
): Finding {
  return {
    kind: 'finding',
    id: `check-${check.id}`,
    state: stateOf(check.status),
    gain: gainOf(check, result),
    title: [oneLine(check.title, 400)],
    context: {
      label: oneLine(check.label, 80),
      category: categoryName(check.category),
      state: badge(stateOf(check.status), STATUS_WORDS[check.status]),
    },
    open,
    groups: [...evidenceGroup(check, variant), reasonGroup(check), ...fixGroup(check.fix)],
  };
}

const gainOf = ({ gain }: CheckResult, { score }: ReportedResult): Finding['gain'] =>
  score === null ? null : { text: `+${formatPoints(gain)}`, points: gain, spoken: ' points. ' };

function evidenceGroup({ evidence }: CheckResult, { medium }: ReportVariant): Group[] {
  const facts = medium === 'page' ? evidenceFacts(evidence) : evidenceInShort(evidence);
  if (facts.rows.length === 0) return [];
  return [{ kind: 'group', name: 'evidence', title: 'Evidence', blocks: [facts] }];
}

const reasonGroup = ({ detail, reference }: CheckResult): Group => ({
  kind: 'group',
  name: 'reason',
  title: 'Why it matters',
  blocks: [paragraph(oneLine(detail, 1200)), small(referenceLink(reference))],
});

function fixGroup(fix: Fix | null): Group[] {
  if (!fix) return [];
  const blocks: Block[] = [paragraph(oneLine(fix.text, 2000))];
  if (fix.record) blocks.push(recordBlock(fix.record));
  return [{ kind: 'group', name: 'remedy', title: 'How to fix it', blocks }];
}

const recordBlock = ({ type, name, value }: NonNullable<Fix['record']>): RecordBlock => ({
  kind: 'record',
  type: { label: 'Type', value: verbatimText(type, 20) },
  name: { label: 'Name', value: verbatimText(name, 300) },
  value: { label: 'Value', value: verbatimText(value, MAX_RECORD_VALUE) },
});

/** Only the rules of the service become links, never anything from a message. */
export function referenceLink({ name, url }: Reference): string | Span {
  const text = oneLine(name, 160);
  return /^https?:\/\//.test(url) ? { kind: 'link', text, url: oneLine(url, 300) } : text;
}

/** The groups of a finding in a terminal, for messages and domains alike. */
export function shortGroups({
  detail,
  fix,
  label,
  reference,
}: Pick<CheckResult, 'detail' | 'fix' | 'label' | 'reference'>): Group[] {
  const group = (name: Group['name'], blocks: Block[]): Group => ({
    kind: 'group',
    name,
    title: null,
    blocks,
  });
  return [
    group('reason', [paragraph(oneLine(detail, 1200))]),
    ...fixGroup(fix).map(({ blocks }) => group('remedy', blocks)),
    group('remarks', [small(`${oneLine(label, 80)} · ${oneLine(reference.name, 160)}`)]),
  ];
}

function shortFinding(check: CheckResult, result: ReportedResult): Finding {
  return {
    kind: 'finding',
    id: `check-${check.id}`,
    state: stateOf(check.status),
    gain: check.gain > 0 ? gainOf(check, result) : null,
    title: [oneLine(check.title, 400)],
    context: null,
    open: true,
    groups: shortGroups(check),
  };
}

/** One row for each finding, where reasons and fixes do not fit. */
const findingsTable = (result: ReportedResult): Table => ({
  kind: 'table',
  name: 'findings',
  label: FIX_TITLE,
  columns: [
    { title: 'Gain', share: 9, isNumber: true },
    { title: 'Issue', share: 50 },
    { title: 'Check', share: 21, style: 'small' },
    { title: 'Status', share: 20 },
  ],
  groups: [
    {
      title: null,
      rows: checksToFix(result.checks).map((check) => ({
        cells: [
          { text: [figure(gainOf(check, result)?.text ?? '–')] },
          { text: [oneLine(check.title, 300)] },
          { text: [oneLine(check.label, 80)] },
          { text: [state(stateOf(check.status), STATUS_WORDS[check.status])] },
        ],
      })),
    },
  ],
  foot: [],
});

// The other checks: passed, for information, or not checked, each with its reason.

const GROUPS = [
  { id: 'passed', title: 'Passed', statuses: ['pass'] },
  { id: 'info', title: 'Information', statuses: ['info'] },
  { id: 'not-checked', title: 'Not checked', statuses: ['error', 'skipped'] },
];

/** On a page one section with a fold for each group; on paper one section for each group. */
export function restSections({ checks }: ReportedResult, variant: ReportVariant): Section[] {
  const groups = GROUPS.map(({ id, title, statuses }) => {
    const items = checks
      .filter(({ status }) => statuses.includes(status))
      .map((check) => entryOf(check, variant));
    return { id, title, items };
  }).filter(({ items }) => items.length > 0);
  const entries = (items: Entry[]): Block => ({
    kind: 'entries',
    name: 'checks',
    columns: { label: 'Check', text: 'Result', figure: 'Points' },
    items,
  });
  const section = { kind: 'section', note: null } as const;
  if (variant.medium === 'paper')
    return groups.map(({ id, title, items }) => ({
      ...section,
      id,
      title,
      blocks: [entries(items)],
    }));
  const folds = groups.map(
    ({ title, items }): Fold => ({
      kind: 'fold',
      title,
      state: null,
      count: items.length === 1 ? '1 check' : `${items.length} checks`,
      open: false,
      style: 'card',
      blocks: [entries(items)],
    }),
  );
  return [{ ...section, id: 'rest', title: 'Other checks', blocks: folds }];
}

function entryOf(check: CheckResult, variant: ReportVariant): Entry {
  const { status, earned, points, evidence } = check;
  const isDependent = dependsOnFailedCheck(check);
  const figureText = earned === null ? '–' : `${formatPoints(earned)} of ${formatPoints(points)}`;
  const blocks: Block[] = [
    ...(Object.keys(evidence).length > 0 ? [evidenceFacts(evidence)] : []),
    small(referenceLink(check.reference)),
  ];
  return {
    id: `check-${check.id}`,
    state: state(stateOf(status), STATUS_WORDS[status]),
    label: `${oneLine(check.label, 80)} · ${categoryName(check.category)}`,
    title: [oneLine(check.title, 400)],
    // The title of a dependent check already names the cause.
    lines: isDependent ? [] : [[oneLine(check.detail, 1200)]],
    // A page shows the points of all checks with the score.
    figure: variant.medium === 'paper' ? figureText : null,
    more:
      variant.medium === 'page' && !isDependent && !variant.isBrief
        ? { title: 'Evidence and reference', blocks }
        : null,
  };
}

/** For a terminal: one sentence for checks that were not completed, one for those that were skipped. */
export function notChecked(result: ReportedResult): Block[] {
  const missed = missingResultsSentence(result);
  const skipped = result.checks
    .filter(
      (check) => check.status === 'skipped' && check.points > 0 && !dependsOnFailedCheck(check),
    )
    .map(({ label }) => label);
  const blocks = [
    ...(missed ? [small(missed)] : []),
    ...(skipped.length > 0 ? [small(`Not checked: ${skipped.join(', ')}.`)] : []),
  ];
  return blocks.length > 0 ? [{ kind: 'group', name: 'remarks', title: null, blocks }] : [];
}
