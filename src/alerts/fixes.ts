/** What to do about an incident: the fixes of the report, or how a listing is taken away. */

import { LISTS } from '../analysis/reputation/lists.ts';
import { removalAdvice } from '../analysis/reputation/outcomes.ts';
import type { CheckResult } from '../analysis/result.ts';
import { toFix } from '../analysis/summary.ts';
import type { Finding } from '../monitors/findings.ts';
import type { AlertIncidentRow, AlertRow } from '../store/watching-tables.ts';
import type { Listing } from './conditions.ts';
import { DOMAIN_CHECK, LIST_CHECKS } from './facts.ts';
import type { Occasion } from './occasion.ts';

export interface Step {
  /** What is wrong, in a sentence; empty where the heading has said it. */
  title: string;
  /** What to do about it. */
  text: string;
  /** What to publish in the DNS, where it is known. */
  record: { type: string; name: string; value: string } | null;
}

const MOST_STEPS = 3;
/** A longer record belongs into the report, from which it can be copied. */
const RECORD_MAX = 450;

export function stepsOf(
  alert: AlertRow,
  incident: AlertIncidentRow,
  { test, run }: Pick<Occasion, 'test' | 'run'>,
): Step[] {
  if (test?.checks) return stepsOfChecks(alert, JSON.parse(test.checks));
  return run ? stepsOfListing(incident, JSON.parse(run.findings)) : [];
}

/** Of what the condition is about, the greatest gain first. */
function stepsOfChecks({ condition }: AlertRow, checks: CheckResult[]): Step[] {
  return toFix(checks)
    .filter(({ id, category }) => {
      if (condition === 'blocklist_hit') return LIST_CHECKS.includes(id);
      return condition === 'score_below' || category === 'authentication';
    })
    .slice(0, MOST_STEPS)
    .map(({ title, fix }) => {
      return { title, text: fix?.text ?? '', record: copied(fix?.record) };
    });
}

/** A key that only the signer knows leaves a gap like this: such a record cannot be copied. */
const GAP = /<[^<>]+>/;

const copied = (record: NonNullable<CheckResult['fix']>['record']): Step['record'] =>
  record && record.value.length <= RECORD_MAX && !GAP.test(record.value) ? record : null;

const STOP =
  'First find and stop what caused it: a hijacked account or web form, an infected machine, or mail to people who did not ask for it.';

/** Of the lists that the program knows; an operator's own are looked up by their names. */
function stepsOfListing({ subject, value }: AlertIncidentRow, findings: Finding[]): Step[] {
  const listings: Listing[] = JSON.parse(value).lists ?? [];
  if (listings.some(({ zone }) => zone === DOMAIN_CHECK))
    return [{ title: '', text: `${STOP} The checks of the domain say where.`, record: null }];
  const known = listings.flatMap(({ zone }) => {
    const list = LISTS.find((one) => one.zone === zone);
    const found = findings.find(
      (one) => 'list' in one && one.list === zone && one.target === subject,
    );
    const codes = found && 'list' in found && found.codes.length > 0 ? found.codes : [''];
    return list ? [{ list, codes }] : [];
  });
  const text = known.length > 0 ? removalAdvice(known, STOP) : STOP;
  return [{ title: '', text, record: null }];
}
