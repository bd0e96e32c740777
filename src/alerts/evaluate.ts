/** Holds each result against the rules, in the transaction that stores it. */

import type { App } from '../app.ts';
import type { Result, ResultSubscriber } from '../events/results.ts';
import type { Tx } from '../store/open.ts';
import type { AlertIncidentRow, AlertRow } from '../store/watching-tables.ts';
import { answersTo, judge } from './conditions.ts';
import { factsOf, type SubjectFacts } from './facts.ts';
import { endIncident, openIncident } from './incidents.ts';

export function evaluateRules(app: App): ResultSubscriber {
  return async (tx, result) => {
    // Sandbox tests say nothing of the team's mail.
    if (result.kind === 'test' && result.test.livemode === 0) return;
    const rules = await rulesFor(tx, result);
    if (rules.length === 0) return;
    for (const one of await factsOf(tx, result))
      for (const rule of rules) await evaluate(tx, app, rule, one, result);
  };
}

function rulesFor(tx: Tx, result: Result): Promise<AlertRow[]> {
  const { domain_id } = result.kind === 'test' ? result.test : result.monitor;
  return tx
    .selectFrom('alerts')
    .selectAll()
    .where('enabled', '=', 1)
    .where(({ eb, or }) => or([eb('domain_id', 'is', null), eb('domain_id', '=', domain_id)]))
    .orderBy('id')
    .execute();
}

async function evaluate(
  tx: Tx,
  app: App,
  rule: AlertRow,
  { subject, facts }: SubjectFacts,
  result: Result,
): Promise<void> {
  const verdict = judge(rule, facts);
  if (verdict.answer === 'yes')
    return openIncident(tx, app, rule, { subject, value: verdict.value, result });
  if (verdict.answer === 'unknown') return;
  const open = await openOf(tx, rule, subject);
  if (!open || !isOfSameKind(open, result)) return;
  if (answersTo(rule, JSON.parse(open.value), facts))
    await endIncident(tx, app, rule, open, result);
}

const openOf = (tx: Tx, { id }: AlertRow, subject: string): Promise<AlertIncidentRow | undefined> =>
  tx
    .selectFrom('alert_incidents')
    .selectAll()
    .where('alert_id', '=', id)
    .where('subject', '=', subject)
    .where('status', '=', 'open')
    .executeTakeFirst();

/** A run does not look at what tests show, and the other way round: its no would be one to another question. */
const isOfSameKind = ({ test_id }: AlertIncidentRow, { kind }: Result): boolean =>
  (test_id !== null) === (kind === 'test');
