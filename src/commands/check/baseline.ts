/** `--baseline FILE`: compares a run with an earlier one, so that only what got worse fails. */

import { readFileSync, statSync } from 'node:fs';
import type { AnalysisResult, CheckResult } from '../../analysis/result.ts';
import { UsageError } from '../command.ts';

/** `unknown`: the check could not be completed. Checks without a problem are not stored. */
const STATES = ['unknown', 'warn', 'fail'] as const;
type State = (typeof STATES)[number];

export interface BaselineEntry {
  file: string;
  score: number | null;
  findings: Record<string, State>;
}

export interface Baseline {
  ruleset: string | null;
  messages: Map<string, BaselineEntry>;
}

interface Change {
  id: string;
  label: string;
  was: State | null;
  now: 'warn' | 'fail';
}

export interface Comparison {
  /** The baseline does not contain the message, so all its findings are new. */
  isNew: boolean;
  scoreBefore: number | null;
  worse: Change[];
  /** The labels of checks that had a problem and pass now. */
  fixed: string[];
  /** The labels of checks whose result is unknown now: nobody knows whether they got better or worse. */
  unknown: string[];
}

/** Much larger than the baseline of the greatest possible run. */
const MAX_BASELINE_BYTES = 256 * 1024 * 1024;

/** Throws a UsageError. */
export function readBaseline(file: string): Baseline {
  let text: string;
  try {
    if (statSync(file).size > MAX_BASELINE_BYTES)
      throw new UsageError(`--baseline ${file} is larger than ${MAX_BASELINE_BYTES / 2 ** 20} MiB`);
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'the file does not exist' : code;
    throw new UsageError(`--baseline cannot read ${file} (${reason}). ${HOW_TO_CREATE}`);
  }
  const baseline = parseBaseline(text);
  if (baseline === null)
    throw new UsageError(`--baseline ${file} is not a baseline. ${HOW_TO_CREATE}`);
  return baseline;
}

const HOW_TO_CREATE = 'Create one with --report baseline=FILE';

/** null if the text is not a baseline. */
function parseBaseline(text: string): Baseline | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(value) || value.object !== 'check_baseline' || value.version !== 1) return null;
  const { ruleset, messages } = value;
  if (!Array.isArray(messages) || !messages.every(isEntry)) return null;
  return {
    ruleset: typeof ruleset === 'string' ? ruleset : null,
    messages: new Map(messages.map((entry) => [entry.file, entry])),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isEntry = (value: unknown): value is BaselineEntry =>
  isObject(value) &&
  typeof value.file === 'string' &&
  (value.score === null || typeof value.score === 'number') &&
  isObject(value.findings) &&
  Object.values(value.findings).every((state) => STATES.includes(state as State));

const SEVERITY: Record<State, number> = { unknown: 0, warn: 1, fail: 2 };

export function compare(result: AnalysisResult, file: string, baseline: Baseline): Comparison {
  const entry = baseline.messages.get(file);
  const before = new Map<string, State>(Object.entries(entry?.findings ?? {}));
  const comparison: Comparison = {
    isNew: entry === undefined,
    scoreBefore: entry?.score ?? null,
    worse: [],
    fixed: [],
    unknown: [],
  };
  for (const { id, label, status } of result.checks) {
    const was = before.get(id) ?? null;
    if (status === 'fail' || status === 'warn') {
      if (was === null || SEVERITY[status] > SEVERITY[was])
        comparison.worse.push({ id, label, was, now: status });
    } else if (isUndetermined(status, was)) comparison.unknown.push(label);
    else if (was === 'fail' || was === 'warn') comparison.fixed.push(label);
  }
  return comparison;
}

/** A check that is skipped now, for example offline, has not shown that its problem is gone. */
const isUndetermined = (status: CheckResult['status'], was: State | null): boolean =>
  status === 'error' || (status === 'skipped' && was !== null);

/** Why the message fails, as sentences. */
export function regressions(
  { score, checks }: AnalysisResult,
  { isNew, scoreBefore, worse }: Comparison,
  tolerance: number,
): string[] {
  const titles = new Map(checks.map(({ id, title }) => [id, title]));
  const found = worse.map(
    ({ id, label, was, now }) => `${changeName(was, now)}: ${label}. ${titles.get(id)}`,
  );
  if (isNew || scoreBefore === null) return found;
  if (score === null) return [`The score is unknown. It was ${scoreBefore}.`, ...found];
  if (scoreBefore - score <= tolerance) return found;
  const limit = tolerance === 0 ? '' : `, by more than ${tolerance}`;
  return [`The score fell from ${scoreBefore} to ${score}${limit}.`, ...found];
}

function changeName(was: State | null, now: 'warn' | 'fail'): string {
  const name = now === 'fail' ? 'required change' : 'recommendation';
  if (was === 'warn') return 'Now a required change';
  return `New ${name}${was === 'unknown' ? ' (unknown in the baseline)' : ''}`;
}

/** What the next baseline says. An unknown check keeps the state that the former baseline knows. */
export function baselineEntry(
  file: string,
  { score, checks }: AnalysisResult,
  former: Baseline | null,
): BaselineEntry {
  const before = new Map<string, State>(Object.entries(former?.messages.get(file)?.findings ?? {}));
  const findings: Record<string, State> = {};
  for (const { id, status } of checks) {
    const was = before.get(id);
    if (status === 'fail' || status === 'warn') findings[id] = status;
    else if (status === 'error') findings[id] = was ?? 'unknown';
    else if (status === 'skipped' && was !== undefined) findings[id] = was;
  }
  return { file, score, findings };
}
