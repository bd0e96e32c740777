/** Runs checks within the deadline and turns their errors into findings. */

import { ownerOf } from '../lib/domain-names.ts';
import { errorMessage } from '../lib/errors.ts';
import { type Check, type Context, type Finding, type Fix, type Json, unknown } from './check.ts';
import type { Deadline } from './context.ts';
import { withAlias } from './dns/alias.ts';
import { brokenName } from './dns/broken-name.ts';
import { dependencyDetail } from './result.ts';
import { mayHaveForeignFrom, senderSetup, withSetup } from './sender-setup/setup.ts';
import { withoutForeignAdvice } from './sending-services/foreign-sender.ts';
import { publishableFix } from './sending-services/ownership.ts';

export interface RunCheckOptions {
  context: Context;
  deadline: Deadline;
  /** What the checks examine, for sentences. */
  subject: 'message' | 'domain';
  /** Called when a check throws, which is a bug. Users see that the check could not be completed. */
  onFault?(checkId: string, error: unknown): void;
}

/**
 * Runs all checks at once and returns their findings in order, at the deadline at the latest. `onFinding` is called as
 * soon as one is known. Rejects only if that throws.
 */
export function runChecks(
  checks: Check[],
  options: RunCheckOptions,
  onFinding: (check: Check, finding: Finding) => void = () => {},
): Promise<Finding[]> {
  const { context, deadline } = options;
  const { promise, resolve, reject } = Promise.withResolvers<Finding[]>();
  const findings: Finding[] = [];
  let openCount = checks.length;
  const settle = (index: number, finding: Finding): void => {
    try {
      findings[index] = finding;
      onFinding(checks[index]!, finding);
    } catch (error) {
      reject(error);
    }
    openCount -= 1;
    if (openCount === 0) resolve(findings);
  };
  const isMessage = options.subject === 'message';
  const settleWithFault = (index: number, error: unknown): void =>
    settle(index, fault(checks[index]!, error, options));
  // A check has a finding already if the deadline came first.
  const accept = (index: number, finding: Finding): void => {
    if (findings[index]) return;
    if (finding.fix || (isMessage && mayHaveForeignFrom(context))) {
      findings[index] = finding;
      withPossibleFix(checks[index]!, finding, options).then(
        (published) => settle(index, published),
        (error) => settleWithFault(index, error),
      );
    } else settle(index, finding);
  };
  const run = (check: Check, index: number): void => {
    try {
      const running = check.run(context);
      if (running instanceof Promise)
        running.then(
          (finding) => accept(index, finding),
          (error) => findings[index] ?? settleWithFault(index, error),
        );
      else accept(index, running);
    } catch (error) {
      settleWithFault(index, error);
    }
  };
  // One callback for all: a race for each check costs more than most checks.
  void deadline.passed.then(() => {
    for (const [index, check] of checks.entries()) accept(index, timedOut(check));
  });
  if (openCount === 0) resolve(findings);
  checks.forEach(run);
  return promise;
}

function fault(check: Check, error: unknown, { subject, onFault }: RunCheckOptions): Finding {
  onFault?.(check.id, error);
  return unknown(
    `Could not check ${check.label}.`,
    `This is a bug in this service, not a problem with your ${subject} (${errorMessage(error).slice(0, 80)}).`,
  );
}

/**
 * Every fix is one that the sender can carry out, and every proposed record one that they can publish, at a name that
 * can have it, whatever the check.
 */
async function withPossibleFix(
  check: Check,
  found: Finding,
  { context, subject }: RunCheckOptions,
): Promise<Finding> {
  const finding = subject === 'message' ? await withSender(check, found, context) : found;
  if (!finding.fix) return finding;
  const aliased = await withAlias(publishableFix(finding.fix, context), context);
  return { ...finding, fix: await withExistingDomain(aliased, context) };
}

/** The finding, adapted to who really sent the message. If a setup is the cause, its own fix says what to change. */
async function withSender(check: Check, finding: Finding, context: Context): Promise<Finding> {
  const setup = await context.fact(senderSetup);
  const ofSetup = setup ? withSetup(check.id, finding, setup) : finding;
  return ofSetup === finding ? withoutForeignAdvice(check, finding, context) : ofSetup;
}

/** Without the record, if its domain does not exist. The name of an address is in no domain of the sender. */
async function withExistingDomain(fix: Fix, { resolver, offline }: Context): Promise<Fix> {
  if (!fix.record || fix.record.type === 'PTR' || offline) return fix;
  const broken = await brokenName(ownerOf(fix.record.name), resolver);
  return broken?.kind === 'missing' || broken?.kind === 'dangling'
    ? { text: `${broken.title} ${broken.fix}` }
    : fix;
}

function timedOut({ label }: Check): Finding {
  return unknown(
    `The ${label} check timed out.`,
    'Some network requests got no response before the analysis ended. This does not affect your score.',
  );
}

// A check that depends on a failed one is skipped, so that one cause produces only one finding.

type Dependent = Pick<Check, 'id' | 'dependsOn'>;

const NONE: string[] = [];

/**
 * For each check, the ids of the failed checks that cause it to be skipped. Only root causes count,
 * including those behind checks that did not fail themselves. Several checks may share an id. Ids that
 * are not among the checks are ignored.
 */
export function causesOf(checks: Dependent[], findings: Finding[]): string[][] {
  // From the check in question to the one that is looked at.
  const path: number[] = [];
  const causes = (index: number): string[] => {
    let roots = NONE;
    path.push(index);
    for (const id of dependenciesOf(checks[index]!, findings[index]!))
      for (let parent = 0; parent < checks.length; parent++) {
        // Two checks may depend on each other, each for its own kind of failure.
        if (checks[parent]!.id !== id || path.includes(parent)) continue;
        const parentCauses = causes(parent);
        if (parentCauses.length > 0) roots = roots.concat(parentCauses);
        else if (findings[parent]!.status === 'fail') roots = roots.concat(id);
      }
    path.pop();
    return roots.length > 1 ? [...new Set(roots)] : roots;
  };
  return checks.map((_, index) => causes(index));
}

function dependenciesOf({ dependsOn = NONE }: Dependent, finding: Finding): string[] {
  return finding.dependsOn ? [...dependsOn, ...finding.dependsOn] : dependsOn;
}

/** Replaces the finding of a check that is skipped because of `causes`, ids of failed `checks`. */
export function dependentFinding(
  { label }: Check,
  finding: Finding,
  causes: string[],
  checks: Check[],
): Finding {
  const labels = causes.map((id) => checks.find((check) => check.id === id)?.label ?? id);
  return {
    ...finding,
    status: 'skipped',
    title: `${label}: not checked because ${LIST.format(labels)} failed.`,
    detail: dependencyDetail(labels),
    fix: undefined,
  };
}

const LIST = new Intl.ListFormat('en-GB');

// Limits what a hostile message can put into a result.

const MAX_TEXT = 2000;
const MAX_ITEMS = 100;
const MAX_DEPTH = 8;

/** Control characters and bidirectional controls, which can move or hide the text around them. */
const CONTROL = /[\0-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const CONTROLS = new RegExp(CONTROL.source, 'g');

/** Truncates text to 2,000 characters, marks that with `…`, and replaces control characters. */
export function trimText(text: string): string {
  const cut = text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
  return CONTROL.test(cut) ? cut.replace(CONTROLS, '·') : cut;
}

/** Truncates the text of a fix and drops a record that is too long to publish. */
export function trimFix({ text, record, caution, guide }: Fix): Fix {
  const trimmed = { text: trimText(text), ...(guide && { guide }) };
  if (!record || Math.max(record.name.length, record.value.length) > MAX_TEXT) return trimmed;
  const { type, name, value } = record;
  return {
    ...trimmed,
    record: { type, name: trimText(name), value: trimText(value) },
    ...(caution && { caution: trimText(caution) }),
  };
}

/** Truncates long texts and deep nesting, and long lists with a count of the omitted items. */
export function trimEvidence(evidence: { [key: string]: Json }): { [key: string]: Json } {
  // One search in the whole text is much faster than one in each part.
  const isClean = fits(evidence, 0) && !CONTROL_IN_JSON.test(JSON.stringify(evidence));
  return isClean ? evidence : (trimValue(evidence, 0) as typeof evidence);
}

/** Matches whatever CONTROL matches, in JSON, and some harmless backslashes. */
const CONTROL_IN_JSON = /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]|\\(?:u00|[bf])/;

/** Whether the value is within all limits on lengths, as for any ordinary message. */
function fits(value: Json, depth: number): boolean {
  if (typeof value === 'string') return value.length <= MAX_TEXT;
  if (typeof value !== 'object' || value === null) return true;
  if (depth >= MAX_DEPTH) return false;
  if (Array.isArray(value)) {
    if (value.length > MAX_ITEMS) return false;
    for (const item of value) if (!fits(item, depth + 1)) return false;
    return true;
  }
  let items = 0;
  for (const key in value) {
    items += 1;
    if (items > MAX_ITEMS || key.length > MAX_TEXT) return false;
    if (!fits(value[key]!, depth + 1)) return false;
  }
  return true;
}

function trimValue(value: Json, depth: number): Json {
  if (typeof value === 'string') return trimText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '…';
  if (Array.isArray(value)) {
    const kept = value.slice(0, MAX_ITEMS).map((item) => trimValue(item, depth + 1));
    return value.length > MAX_ITEMS ? [...kept, `… and ${value.length - MAX_ITEMS} more`] : kept;
  }
  const entries = Object.entries(value).slice(0, MAX_ITEMS);
  return Object.fromEntries(
    entries.map(([key, item]) => [trimText(key), trimValue(item, depth + 1)]),
  );
}
