/** Findings as a table: on the first page of a PDF, and in PDFs of many reports. */

import type { Fix } from '../../analysis/check.ts';
import type { CheckResult } from '../../analysis/result.ts';
import { checksToFix } from '../../analysis/summary.ts';
import {
  type Block,
  code,
  figure,
  oneLine,
  type Section,
  small,
  state,
  stateOf,
  type Table,
  type Text,
} from '../blocks.ts';
import { STATUS_WORDS } from '../content.ts';
import type { ReportedResult } from '../report.ts';
import {
  FIX_TITLE,
  findingGroups,
  fixesSection,
  gainNote,
  gainOf,
  MAX_FIRST_FINDINGS,
  rankByLevel,
} from './findings.ts';

/** In a brief PDF: as many findings as leave room for the rest on two pages, and the first ones with their fix. */
const MAX_BRIEF_FINDINGS = { listed: 10, withFix: 3 };

/** Longer texts are truncated, because the row of a table is never split. */
interface Lengths {
  title: number;
  fix: number;
  record: number;
}

const BRIEF: Lengths = { title: 160, fix: 320, record: 200 };
/** Three of them leave room for the verdict and the providers on one page, unless titles and records are long too. */
const FIRST: Lengths = { title: 160, fix: 400, record: 260 };
const FIRST_IF_LONG: Lengths = { title: 120, fix: 200, record: 120 };
const MAX_FIRST_CHARACTERS = 1400;

/** In a brief PDF. */
export function briefFixesSection(result: ReportedResult): Section {
  const ranked = rankByLevel(checksToFix(result.checks));
  const { listed, withFix } = MAX_BRIEF_FINDINGS;
  const checks = ranked.slice(0, listed);
  const groups = findingGroups(
    checks,
    (check) => rowOf(check, result, BRIEF, checks.indexOf(check) < withFix),
    ranked,
  );
  const table = tableOf(groups.map(({ title, findings: rows }) => ({ title, rows })));
  return fixesSection(result, [table, ...omittedNote(ranked.length - listed, '')], null);
}

/** On the first page of a PDF: the three fixes that raise the score most. */
export function firstFixesSection(result: ReportedResult): Section {
  const findings = checksToFix(result.checks);
  const first = findings.slice(0, MAX_FIRST_FINDINGS);
  const max = lengthOf(first, FIRST) > MAX_FIRST_CHARACTERS ? FIRST_IF_LONG : FIRST;
  const rows = first.map((check) => rowOf(check, result, max, true));
  const note = omittedNote(findings.length - MAX_FIRST_FINDINGS, ' on the next pages');
  const blocks = [tableOf([{ title: null, rows }]), ...note];
  return { ...fixesSection(result, blocks, [gainNote(result)]), id: 'first-fixes' };
}

const lengthOf = (checks: CheckResult[], max: Lengths): number =>
  checks
    .flatMap(({ title, fix }) => [
      Math.min(title.length, max.title),
      Math.min(fix?.text.length ?? 0, max.fix),
      Math.min(fix?.record?.value.length ?? 0, max.record),
    ])
    .reduce((sum, length) => sum + length, 0);

const omittedNote = (count: number, place: string): Block[] =>
  count <= 0 ? [] : [small(`And ${count} more ${count === 1 ? 'issue' : 'issues'}${place}.`)];

function rowOf(check: CheckResult, result: ReportedResult, max: Lengths, hasFix: boolean) {
  return {
    cells: [
      { text: [figure(gainOf(check, result)?.text ?? '–')] },
      {
        text: [oneLine(check.title, max.title)],
        ...(hasFix && check.fix ? { below: fixText(check.fix, max) } : {}),
      },
      {
        text: [oneLine(check.label, 80)],
        below: [state(stateOf(check.status), STATUS_WORDS[check.status])],
      },
    ],
  };
}

const fixText = ({ text, record }: Fix, max: Lengths): Text => [
  oneLine(text, max.fix),
  ...(record ? [' ', code(`${record.name} ${record.type} ${record.value}`, max.record)] : []),
];

const tableOf = (groups: Table['groups']): Table => ({
  kind: 'table',
  name: 'findings',
  label: FIX_TITLE,
  columns: [
    { title: 'Gain', share: 9, isNumber: true },
    { title: 'Issue and what to change', share: 73 },
    { title: 'Check', share: 18, style: 'small' },
  ],
  groups,
  foot: [],
});
