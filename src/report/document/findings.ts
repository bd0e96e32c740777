/** What to fix, ordered by gain, and every other check with its reason. */

import type { Fix, Reference } from '../../analysis/check.ts';
import type { CheckResult } from '../../analysis/result.ts';
import { LEFT_OUT } from '../../analysis/result.ts';
import { checksToFix } from '../../analysis/summary.ts';
import {
  type Block,
  badge,
  type Entry,
  type Finding,
  type Findings,
  type Group,
  muted,
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
  type Text,
  verbatimText,
} from '../blocks.ts';
import {
  capSentence,
  categoryName,
  dependsOnFailedCheck,
  formatGain,
  formatPoints,
  isLockedByCap,
  MAX_FULL_FINDINGS,
  missingResultsSentence,
  STATUS_WORDS,
  UNLOCKS_LATER,
} from '../content.ts';
import type { ReportedResult } from '../report.ts';
import { evidenceFacts, evidenceInShort } from './evidence.ts';
import type { ReportVariant } from './variant.ts';
import { nothingToFix } from './verdict.ts';

export const FIX_TITLE = 'Fix these first';
/** How many findings a page shows with their fix on its first screen. */
export const MAX_FIRST_FINDINGS = 3;
/** About half a page; real records are far shorter. */
const MAX_RECORD_VALUE = 2500;

/** All findings of a PDF. Its first page has a section with the first fixes, which explains gain and cap. */
export const allFixesSection = (result: ReportedResult, variant: ReportVariant): Section => ({
  kind: 'section',
  id: 'fix',
  title: 'All issues',
  note: null,
  blocks: [findingsBlock(checksToFix(result.checks), result, variant)],
});

/** The first screen of a page: the fixes that raise the score most. Nothing without findings, as the verdict says so. */
export function frontFixes(result: ReportedResult, variant: ReportVariant): Section[] {
  const checks = checksToFix(result.checks).slice(0, MAX_FIRST_FINDINGS);
  if (checks.length === 0) return [];
  const findings = checks.map((check) => findingBlock(check, result, variant, 'Why'));
  const blocks: Block[] = [
    { kind: 'findings', groups: [{ title: null, findings }] },
    ...capNotes(result),
    small(gainNote(result)),
  ];
  return [{ kind: 'section', id: 'fix', title: FIX_TITLE, note: null, blocks }];
}

/** The other findings of a page, one line each. */
export function moreFixes(result: ReportedResult, variant: ReportVariant): Section[] {
  const checks = checksToFix(result.checks).slice(MAX_FIRST_FINDINGS);
  if (checks.length === 0) return [];
  const title = `${checks.length} more ${checks.length === 1 ? 'issue' : 'issues'}`;
  const blocks = [findingsBlock(checks, result, variant)];
  return [{ kind: 'section', id: 'more-fixes', title, note: null, blocks }];
}

/** A section of findings in the form of `blocks`, after the explanation of the cap; without findings, it says so. */
export function fixesSection(result: ReportedResult, blocks: Block[], note: Text | null): Section {
  const section = { kind: 'section', id: 'fix', title: FIX_TITLE } as const;
  return checksToFix(result.checks).length === 0
    ? { ...section, note: null, blocks: [nothingToFixBlock(result.score)] }
    : { ...section, note, blocks: [...capNotes(result), ...blocks] };
}

/** For a terminal: the first findings with reason and fix, the rest as titles. */
export function shortFixes(result: ReportedResult): Block[] {
  const findings = checksToFix(result.checks);
  if (findings.length === 0) return [nothingToFixBlock(result.score)];
  const full = new Set(rankByLevel(findings).slice(0, MAX_FULL_FINDINGS));
  const groups = findingGroups(findings, (check): Finding => {
    const finding = shortFinding(check, result);
    return full.has(check) ? finding : { ...finding, groups: [] };
  });
  const blocks: Block[] = [
    ...capNotes(result).map((note) => ({ ...note, text: note.text.slice(0, 1) })),
    {
      kind: 'findings',
      groups,
    },
  ];
  return [{ kind: 'section', id: 'fix', title: FIX_TITLE, note: null, blocks }];
}

const nothingToFixBlock = (score: number | null): Block => ({
  kind: 'paragraph',
  style: 'card',
  text: [state(score === null ? 'unknown' : 'pass', nothingToFix(score))],
});

export function gainNote({ score }: ReportedResult): string {
  if (score === null)
    return 'There are not enough results for a score, but you can already fix these issues.';
  return 'Each number shows how much your score rises if you fix only that issue.';
}

/** The only explanation of the cap, above the findings. */
function capNotes(result: ReportedResult): Note[] {
  const { cap, checks } = result;
  if (!cap) return [];
  const hasLocked = checksToFix(checks).some((check) => isLockedByCap(check, result));
  const lockNote = hasLocked ? ` Points marked “${UNLOCKS_LATER}” count from then on.` : '';
  return [
    {
      kind: 'note',
      state: 'fail',
      text: [strong(`${capSentence(cap)}${lockNote}`), ` ${oneLine(cap.reference)}`],
    },
  ];
}

// Required changes and recommendations, which are never mixed. Information is in the other checks.

const LEVELS = [
  { status: 'fail', title: 'Required' },
  { status: 'warn', title: 'Recommended' },
] as const;

type Level = (typeof LEVELS)[number];

interface LevelGroup<T> {
  title: string;
  findings: T[];
}

/** A cause is at the level of what goes with it, so that it comes first. */
const isAtLevel = (check: CheckResult, { status }: Level, all: CheckResult[]): boolean => {
  const causesFailure = all.some((one) => one.goes_with === check.id && one.status === 'fail');
  return (causesFailure ? 'fail' : check.status) === status;
};

/** The order in which levels show them. */
export const rankByLevel = (checks: CheckResult[]): CheckResult[] =>
  LEVELS.flatMap((level) => checks.filter((check) => isAtLevel(check, level, checks)));

/** `all`: the checks that decide the level, if `checks` are only some of them. */
export function findingGroups<T>(
  checks: CheckResult[],
  convert: (check: CheckResult) => T,
  all = checks,
): LevelGroup<T>[] {
  return LEVELS.map((level) => ({
    title: level.title,
    findings: checks.filter((check) => isAtLevel(check, level, all)).map(convert),
  })).filter(({ findings }) => findings.length > 0);
}

const findingsBlock = (
  checks: CheckResult[],
  result: ReportedResult,
  variant: ReportVariant,
): Findings => ({
  kind: 'findings',
  groups: findingGroups(
    checks,
    (check) => findingBlock(check, result, variant, null),
    checksToFix(result.checks),
  ),
});

function findingBlock(
  check: CheckResult,
  result: ReportedResult,
  variant: ReportVariant,
  more: string | null,
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
    more,
    groups: [
      ...fixGroup(check.fix, publishLink(check, result)),
      ...evidenceGroup(check, variant),
      reasonGroup(check, variant),
    ],
  };
}

export function gainOf(check: CheckResult, result: ReportedResult): Finding['gain'] {
  const { gain: points } = check;
  if (result.score === null) return null;
  if (points > 0) return { text: formatGain(points), points, spoken: ' points. ' };
  const text = isLockedByCap(check, result) ? UNLOCKS_LATER : 'no points';
  return { text, points, spoken: '. ' };
}

function evidenceGroup({ evidence }: CheckResult, { medium }: ReportVariant): Group[] {
  const block = medium === 'page' ? evidenceFacts(evidence) : evidenceInShort(evidence);
  if (block === null || (block.kind === 'facts' && block.rows.length === 0)) return [];
  return [{ kind: 'group', name: 'evidence', title: 'Evidence', blocks: [block] }];
}

function reasonGroup({ detail, reference }: CheckResult, { medium }: ReportVariant): Group {
  const [text, link] = [oneLine(detail, 1200), referenceLink(reference)];
  return {
    kind: 'group',
    name: 'reason',
    title: 'Why it matters',
    blocks: medium === 'pdf' ? [small(text, ' ', link)] : [paragraph(text), small(link)],
  };
}

function fixGroup(fix: Fix | null, link: Span | null = null): Group[] {
  if (!fix) return [];
  const blocks: Block[] = [paragraph(oneLine(fix.text, 2000))];
  if (fix.record) blocks.push(recordBlock(fix.record));
  if (link) blocks.push(paragraph(link));
  if (fix.guide) blocks.push(small(referenceLink(fix.guide)));
  return [{ kind: 'group', name: 'fix', title: 'What to change', blocks }];
}

/** Where the record of a fix can be published, if it is below the domain of the team. */
function publishLink({ id, fix }: CheckResult, { publish }: ReportedResult): Span | null {
  const name = fix?.record?.name;
  if (!publish || name === undefined) return null;
  if (name !== publish.owner && !name.endsWith(`.${publish.owner}`)) return null;
  return { kind: 'link', text: 'Publish this record', url: `${publish.url}&checks=${id}` };
}

const recordBlock = ({ type, name, value }: NonNullable<Fix['record']>): RecordBlock => ({
  kind: 'record',
  type: { label: 'Type', value: verbatimText(type, 20) },
  name: { label: 'Name', value: verbatimText(name, 300) },
  value: { label: 'Value', value: verbatimText(value, MAX_RECORD_VALUE) },
});

/** Links only references of our rules and guides of sending services, never text from a message. */
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
    ...fixGroup(fix).map(({ blocks }) => group('fix', blocks)),
    group('reason', [paragraph(oneLine(detail, 1200))]),
    group('remarks', [
      small([...new Set([oneLine(label, 80), oneLine(reference.name, 160)])].join(' · ')),
    ]),
  ];
}

function shortFinding(check: CheckResult, result: ReportedResult): Finding {
  return {
    kind: 'finding',
    id: `check-${check.id}`,
    state: stateOf(check.status),
    gain: check.gain > 0 ? gainOf(check, result) : null,
    title: [
      oneLine(check.title, 400),
      ...(isLockedByCap(check, result) ? [muted(` (${UNLOCKS_LATER})`)] : []),
    ],
    context: null,
    more: null,
    groups: shortGroups(check),
  };
}

// The other checks: passed, for information, or not checked, each with its reason.

const GROUPS = [
  { id: 'passed', title: 'Passed', statuses: ['pass'] },
  { id: 'info', title: 'For your information', statuses: ['info'] },
  { id: 'not-checked', title: 'Not checked', statuses: ['error', 'skipped'] },
];

/** A section for each group. */
export function otherCheckSections({ checks }: ReportedResult, variant: ReportVariant): Section[] {
  const groups = GROUPS.map(({ id, title, statuses }) => {
    const items = checks
      .filter(({ status }) => statuses.includes(status))
      .map((check) => entryOf(check, variant));
    return { id, title, items };
  }).filter(({ items }) => items.length > 0);
  const entries = (items: Entry[]): Block => ({
    kind: 'entries',
    name: 'checks',
    isCompact: variant.medium === 'pdf',
    columns: { label: 'Check', text: 'Result', figure: 'Points' },
    items,
  });
  return groups.map(({ id, title, items }) => ({
    kind: 'section',
    id,
    title,
    note: null,
    fold: { open: false, count: items.length === 1 ? '1 check' : `${items.length} checks` },
    blocks: [entries(items)],
  }));
}

function entryOf(check: CheckResult, variant: ReportVariant): Entry {
  const { status, earned, points, evidence } = check;
  const isDependent = dependsOnFailedCheck(check);
  const isOneLine = variant.medium === 'pdf' && status === 'pass';
  const pointsText = earned === null ? '–' : `${formatPoints(earned)} of ${formatPoints(points)}`;
  const blocks: Block[] = [
    ...(Object.keys(evidence).length > 0 ? [evidenceFacts(evidence)] : []),
    small(referenceLink(check.reference)),
  ];
  return {
    id: `check-${check.id}`,
    state: state(stateOf(status), STATUS_WORDS[status]),
    label:
      variant.medium === 'pdf'
        ? oneLine(check.label, 80)
        : `${oneLine(check.label, 80)} · ${categoryName(check.category)}`,
    title: [oneLine(check.title, 400)],
    // The title of a dependent check already names the cause.
    lines: isDependent || isOneLine ? [] : [[oneLine(check.detail, 1200)]],
    // On a page, the score section lists the points of all checks.
    figure: variant.medium === 'pdf' ? pointsText : null,
    more:
      variant.medium === 'page' && !isDependent && !variant.isBrief
        ? { title: 'Evidence and reference', blocks }
        : null,
  };
}

/** One sentence for all checks that are skipped for a template. */
const TEMPLATE_NOTE =
  'Not checked, because this is a template: sender, authentication, servers and blocklists. Send it once to check them.';

/** For a terminal: one sentence for checks that were not completed, one for those that were skipped. */
export function uncheckedNotes(result: ReportedResult): Block[] {
  const missingResults = missingResultsSentence(result);
  const skipped = result.checks
    .filter(
      (check) => check.status === 'skipped' && check.points > 0 && !dependsOnFailedCheck(check),
    )
    .filter(({ detail }) => !result.is_template || !detail.startsWith(LEFT_OUT))
    .map(({ label }) => label);
  const blocks = [
    ...(missingResults ? [small(missingResults)] : []),
    ...(result.is_template ? [small(TEMPLATE_NOTE)] : []),
    ...(skipped.length > 0 ? [small(`Not checked: ${skipped.join(', ')}.`)] : []),
  ];
  return blocks.length > 0 ? [{ kind: 'group', name: 'remarks', title: null, blocks }] : [];
}
