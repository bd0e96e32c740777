/** Runs one check within the deadline; what goes wrong in it is a finding. */

import { errorMessage } from '../lib/errors.ts';
import { type Deadline, LATE } from './bounds.ts';
import { type Check, type Context, type Finding, unknown } from './check.ts';

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
