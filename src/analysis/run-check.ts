/** Runs one check within the deadline; what goes wrong in it is a finding. */

import { errorMessage } from '../lib/errors.ts';
import { type Check, type Context, type Finding, type Fix, type Json, unknown } from './check.ts';
import { type Deadline, LATE } from './context.ts';

export interface Run {
  context: Context;
  deadline: Deadline;
  /** What is looked at, for sentences. */
  subject: 'message' | 'domain';
  /** Told of a check that threw: a bug, shown to the user as "could not be found out". */
  onFault?(checkId: string, error: unknown): void;
}

/** Never rejects; ends with the deadline at the latest. */
export async function runCheck(
  check: Check,
  { context, deadline, subject, onFault }: Run,
): Promise<Finding> {
  try {
    const finding = check.run(context);
    if (!(finding instanceof Promise)) return finding;
    const first = await Promise.race([finding, deadline.passed]);
    return first === LATE ? timedOut(check) : first;
  } catch (error) {
    onFault?.(check.id, error);
    return unknown(
      `${check.label} could not be checked.`,
      `This is a fault of the tester, not of your ${subject} (${errorMessage(error).slice(0, 80)}).`,
    );
  }
}

function timedOut({ label }: Check): Finding {
  return unknown(
    `${label} could not be checked in time.`,
    'timed out: what it asked was not answered before the analysis had to end.',
  );
}

// What follows from what: a check that depends on a failed one is skipped; one cause is one finding.

type Dependent = Pick<Check, 'id' | 'dependsOn'>;

const NONE: string[] = [];

/**
 * For each check the ids of the failed ones that it follows from: the roots alone, also through
 * checks that did not fail themselves. Empty where it stands for itself. Several checks may have
 * one id; ids that are not among the checks are no causes.
 */
export function causesOf(checks: Dependent[], findings: Finding[]): string[][] {
  const places = new Map<string, number[]>();
  for (const [index, { id }] of checks.entries())
    places.set(id, [...(places.get(id) ?? []), index]);
  const causes = (index: number, path: number[]): string[] => {
    const roots = new Set<string>();
    for (const id of dependenciesOf(checks[index]!, findings[index]!))
      for (const parent of places.get(id) ?? []) {
        // Two may name each other, each for its own kind of failure.
        if (path.includes(parent)) continue;
        const above = causes(parent, [...path, parent]);
        if (above.length > 0) for (const root of above) roots.add(root);
        else if (findings[parent]!.status === 'fail') roots.add(id);
      }
    return roots.size > 0 ? [...roots] : NONE;
  };
  return checks.map((_, index) => causes(index, [index]));
}

function dependenciesOf({ dependsOn = NONE }: Dependent, finding: Finding): string[] {
  return finding.dependsOn ? [...dependsOn, ...finding.dependsOn] : dependsOn;
}

/** What is shown of a check in the place of its own finding, where it has causes. */
export function followingFinding({ label }: Check, own: Finding, causes: string[]): Finding {
  return {
    ...own,
    status: 'skipped',
    title: `${label}: follows from ${causes.join(' and ')}.`,
    detail: `follows from ${causes.join(', ')}`,
    fix: undefined,
  };
}

// Keeps what a hostile message can put into a result within bounds.

const TEXT_MAX = 2000;
const ITEMS_MAX = 100;
const DEPTH_MAX = 8;

/** What would move or hide the text around it: control characters, and those that turn its direction. */
const CONTROL = /[\0-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const CONTROLS = new RegExp(CONTROL.source, 'g');

/** Text of at most 2,000 characters, its end marked where it was cut, without control characters. */
export function trimText(text: string): string {
  const cut = text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX)}…`;
  return CONTROL.test(cut) ? cut.replace(CONTROLS, '·') : cut;
}

/** A fix with its text cut; a record that is longer than any that could be published is left out. */
export function trimFix({ text, record }: Fix): Fix {
  const trimmed = trimText(text);
  if (!record || Math.max(record.name.length, record.value.length) > TEXT_MAX)
    return { text: trimmed };
  const { type, name, value } = record;
  return { text: trimmed, record: { type, name: trimText(name), value: trimText(value) } };
}

/** Evidence with long text cut, long lists cut (and counted), and nothing nested too deep. */
export function trimEvidence(evidence: { [key: string]: Json }): { [key: string]: Json } {
  return fits(evidence, 0) ? evidence : (trimValue(evidence, 0) as { [key: string]: Json });
}

/** Whether nothing has to be cut, as for any honest message. */
function fits(value: Json, depth: number): boolean {
  if (typeof value === 'string') return value.length <= TEXT_MAX && !CONTROL.test(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth >= DEPTH_MAX) return false;
  let items = 0;
  for (const key in value) {
    items += 1;
    if (items > ITEMS_MAX || key.length > TEXT_MAX || CONTROL.test(key)) return false;
    if (!fits((value as Record<string, Json>)[key]!, depth + 1)) return false;
  }
  return true;
}

function trimValue(value: Json, depth: number): Json {
  if (typeof value === 'string') return trimText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEPTH_MAX) return '…';
  if (Array.isArray(value)) {
    const kept = value.slice(0, ITEMS_MAX).map((item) => trimValue(item, depth + 1));
    return value.length > ITEMS_MAX ? [...kept, `… and ${value.length - ITEMS_MAX} more`] : kept;
  }
  const entries = Object.entries(value).slice(0, ITEMS_MAX);
  return Object.fromEntries(
    entries.map(([key, item]) => [trimText(key), trimValue(item, depth + 1)]),
  );
}
