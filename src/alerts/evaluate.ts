/** Holds each result against the rules, in the transaction that stores it. */

import { sql } from 'kysely';
import type { App } from '../app.ts';
import type { Result, ResultSubscriber } from '../events/results.ts';
import type { Tx } from '../store/open.ts';
import type { AlertIncidentRow, AlertRow } from '../store/watching-tables.ts';
import { endOf, judge, type Listing, type Value } from './conditions.ts';
import { DOMAIN_CHECK, factsOf, type SubjectFacts } from './facts.ts';
import { endIncident, openIncident } from './incidents.ts';
import { createTeller } from './tell.ts';

export function evaluateRules(app: App): ResultSubscriber {
  return async (tx, result) => {
    // Sandbox tests say nothing of the team's mail.
    if (result.kind === 'test' && result.test.livemode === 0) return;
    const rules = await rulesFor(tx, result);
    if (rules.length === 0) return;
    const all = await factsOf(tx, result);
    if (all.length === 0) return;
    const open = await openIncidents(tx, rules, all);
    const tell = createTeller(tx, app);
    const isInUse = inUseOf(app);
    for (const { subject, facts } of all)
      for (const rule of rules) {
        const verdict = judge(rule, facts);
        const incident = open.get(keyOf(rule.id, subject));
        if (verdict.answer === 'yes') {
          // While it is open nothing more is said.
          if (incident) continue;
          const { value } = verdict;
          await openIncident(tx, app, tell, rule, { subject, value, result });
        } else if (incident) {
          const { answer } = verdict;
          const end = endOf(incident, openedWith(incident), { answer, facts }, isInUse);
          if (end) await endIncident(tx, app, tell, rule, incident, { resolution: end, result });
        }
      }
  };
}

/** What was told for the check as a whole counts as a list for as long as there is any. */
function inUseOf({ blocklists }: Pick<App, 'blocklists'>): (zone: string) => boolean {
  const zones = new Set(blocklists.known().map(({ list }) => list.zone));
  return (zone) => zones.has(zone) || (zone === DOMAIN_CHECK && zones.size > 0);
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

const keyOf = (alertId: string, subject: string): string => `${alertId} ${subject}`;

/** Of these rules about these subjects, at most one each. */
async function openIncidents(
  tx: Tx,
  rules: AlertRow[],
  all: SubjectFacts[],
): Promise<Map<string, AlertIncidentRow>> {
  const rows = await tx
    .selectFrom('alert_incidents')
    .selectAll()
    // Written out, so that the index of those that are open is used.
    .where('status', '=', sql.lit('open' as const))
    .where('closing_id', 'is', null)
    .where(
      'alert_id',
      'in',
      rules.map(({ id }) => id),
    )
    .where(
      'subject',
      'in',
      all.map(({ subject }) => subject),
    )
    .execute();
  return new Map(rows.map((row) => [keyOf(row.alert_id, row.subject), row]));
}

/** What a run listed was its subject, also before that was written down. */
function openedWith({ value, run_id, subject }: AlertIncidentRow): Value {
  const opened: Value = JSON.parse(value);
  if (run_id === null || !('lists' in opened)) return opened;
  const lists = opened.lists as Listing[];
  return { ...opened, lists: lists.map((one) => ({ ...one, listed: one.listed ?? [subject] })) };
}
