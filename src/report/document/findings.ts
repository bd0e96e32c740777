/** "Fix these first", the findings by gain; and everything that is no finding, each with its reason. */

import type { Fix, Reference } from '../../analysis/check.ts';
import type { CheckResult } from '../../analysis/result.ts';
import { toFix } from '../../analysis/summary.ts';
import {
  type Block,
  badge,
  type Entry,
  exactly,
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
} from '../blocks.ts';
import {
  capSentence,
  categoryName,
  FIRST_FINDINGS,
  followsFromAnother,
  formatPoints,
  missedSentence,
  STATUS_WORDS,
} from '../content.ts';
import type { Reported } from '../report.ts';
import { evidenceFacts, evidenceInShort } from './evidence.ts';
import type { Form } from './form.ts';
import { nothingToFix } from './verdict.ts';

export const FIX_TITLE = 'Fix these first';
/** A record of this length fills half a page; no real one comes near. */
const MAX_RECORD_VALUE = 2500;

export function fixSection(result: Reported, form: Form): Section {
  const findings = toFix(result.checks);
  const section = { kind: 'section', id: 'fix', title: FIX_TITLE } as const;
  if (findings.length === 0)
    return { ...section, note: null, blocks: [nothingToFixBlock(result.score)] };
  if (form.medium === 'paper' && form.isBrief)
    return { ...section, note: null, blocks: [...capNotes(result), findingsTable(result)] };
  return {
    ...section,
    note: [howToRead(result)],
    blocks: [...capNotes(result), findingsBlock(result, form)],
  };
}

/** For a terminal: the first in full with why and what to change, the rest by their titles. */
export function shortFixes(result: Reported): Block[] {
  const findings = toFix(result.checks);
  if (findings.length === 0) return [nothingToFixBlock(result.score)];
  const first = findings
    .map((check) => shortFinding(check, result))
    .map((finding, index) => (index < FIRST_FINDINGS ? finding : { ...finding, groups: [] }));
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

function howToRead({ score, cap }: Reported): string {
  if (score === null) return 'Too little is known for a score, but this can be put right already.';
  const gain = 'The number is by how much your score would rise if this one thing were put right.';
  return cap ? `${gain} What stands at +0 counts again once nothing holds the score down.` : gain;
}

function capNotes({ cap }: Reported): Note[] {
  if (!cap) return [];
  return [
    { kind: 'note', state: 'fail', text: [strong(capSentence(cap)), ` ${oneLine(cap.reference)}`] },
  ];
}

function findingsBlock(result: Reported, form: Form): Findings {
  const all = toFix(result.checks).map((check, index) =>
    findingBlock(check, result, form, index === 0),
  );
  // Nothing can be unfolded on paper.
  if (form.medium === 'paper') return { kind: 'findings', first: all, more: null };
  const rest = all.slice(FIRST_FINDINGS);
  const title = rest.length === 1 ? 'One smaller finding' : `${rest.length} smaller findings`;
  return {
    kind: 'findings',
    first: all.slice(0, FIRST_FINDINGS),
    more: rest.length > 0 ? { title, findings: rest } : null,
  };
}

function findingBlock(check: CheckResult, result: Reported, form: Form, open: boolean): Finding {
  return {
    kind: 'finding',
    id: `check-${check.id}`,
    state: stateOf(check.status),
    gain: gainOf(check, result),
    title: [oneLine(check.title, 400)],
    where: {
      label: oneLine(check.label, 80),
      category: categoryName(check.category),
      state: badge(stateOf(check.status), STATUS_WORDS[check.status]),
    },
    open,
    groups: [...evidenceGroup(check, form), reasonGroup(check), ...remedyGroup(check.fix)],
  };
}

const gainOf = ({ gain }: CheckResult, { score }: Reported): Finding['gain'] =>
  score === null ? null : { text: `+${formatPoints(gain)}`, points: gain, spoken: ' points. ' };

function evidenceGroup({ evidence }: CheckResult, { medium }: Form): Group[] {
  const facts = medium === 'page' ? evidenceFacts(evidence) : evidenceInShort(evidence);
  if (facts.rows.length === 0) return [];
  return [{ kind: 'group', name: 'evidence', title: 'What your message shows', blocks: [facts] }];
}

const reasonGroup = ({ detail, reference }: CheckResult): Group => ({
  kind: 'group',
  name: 'reason',
  title: 'Why it matters',
  blocks: [paragraph(oneLine(detail, 1200)), small(referenceLink(reference))],
});

function remedyGroup(fix: Fix | null): Group[] {
  if (!fix) return [];
  const blocks: Block[] = [paragraph(oneLine(fix.text, 2000))];
  if (fix.record) blocks.push(recordBlock(fix.record));
  return [{ kind: 'group', name: 'remedy', title: 'What to change', blocks }];
}

const recordBlock = ({ type, name, value }: NonNullable<Fix['record']>): RecordBlock => ({
  kind: 'record',
  type: { label: 'Type', value: exactly(type, 20) },
  name: { label: 'Name', value: exactly(name, 300) },
  value: { label: 'Value', value: exactly(value, MAX_RECORD_VALUE) },
});

/** Our own rules and texts alone have links; what comes from a message never becomes one. */
export function referenceLink({ name, url }: Reference): string | Span {
  const text = oneLine(name, 160);
  return /^https?:\/\//.test(url) ? { kind: 'link', text, url: oneLine(url, 300) } : text;
}

/** What the findings of messages and of domains have in common in a terminal. */
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
    ...remedyGroup(fix).map(({ blocks }) => group('remedy', blocks)),
    group('remarks', [small(`${oneLine(label, 80)} · ${oneLine(reference.name, 160)}`)]),
  ];
}

function shortFinding(check: CheckResult, result: Reported): Finding {
  return {
    kind: 'finding',
    id: `check-${check.id}`,
    state: stateOf(check.status),
    gain: check.gain > 0 ? gainOf(check, result) : null,
    title: [oneLine(check.title, 400)],
    where: null,
    open: true,
    groups: shortGroups(check),
  };
}

/** A row each: for where there is no room for reasons and remedies. */
const findingsTable = (result: Reported): Table => ({
  kind: 'table',
  name: 'findings',
  label: FIX_TITLE,
  columns: [
    { title: 'Gain', share: 9, isNumber: true },
    { title: 'What is wrong', share: 50 },
    { title: 'Check', share: 21, style: 'small' },
    { title: 'State', share: 20 },
  ],
  groups: [
    {
      title: null,
      rows: toFix(result.checks).map((check) => ({
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

// What is neither a finding nor a figure: passed, for information, not checked; each with its reason.

const GROUPS = [
  { id: 'passed', title: 'Passed', statuses: ['pass'] },
  { id: 'info', title: 'For your information', statuses: ['info'] },
  { id: 'not-checked', title: 'Not checked', statuses: ['error', 'skipped'] },
];

/** On a page one section with a part to unfold for each kind; on paper a section each. */
export function restSections({ checks }: Reported, form: Form): Section[] {
  const groups = GROUPS.map(({ id, title, statuses }) => {
    const items = checks
      .filter(({ status }) => statuses.includes(status))
      .map((check) => entryOf(check, form));
    return { id, title, items };
  }).filter(({ items }) => items.length > 0);
  const entries = (items: Entry[]): Block => ({
    kind: 'entries',
    name: 'checks',
    columns: { label: 'Check', text: 'What was found', figure: 'Points' },
    items,
  });
  const section = { kind: 'section', note: null } as const;
  if (form.medium === 'paper')
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
  return [{ ...section, id: 'rest', title: 'Everything else', blocks: folds }];
}

function entryOf(check: CheckResult, form: Form): Entry {
  const { status, earned, points, evidence } = check;
  const follows = followsFromAnother(check);
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
    lines: [[follows ? 'It is decided by that check.' : oneLine(check.detail, 1200)]],
    // On a page they stand with those of all checks.
    figure: form.medium === 'paper' ? figureText : null,
    more:
      form.medium === 'page' && !follows && !form.isBrief
        ? { title: 'Evidence and rule', blocks }
        : null,
  };
}

/** For a terminal: what could not be checked and what does not apply, in a sentence each; none where all was. */
export function notChecked(result: Reported): Block[] {
  const missed = missedSentence(result);
  const skipped = result.checks
    .filter((check) => check.status === 'skipped' && check.points > 0 && !followsFromAnother(check))
    .map(({ label }) => label);
  const blocks = [
    ...(missed ? [small(missed)] : []),
    ...(skipped.length > 0 ? [small(`Not applicable here: ${skipped.join(', ')}.`)] : []),
  ];
  return blocks.length > 0 ? [{ kind: 'group', name: 'remarks', title: null, blocks }] : [];
}
