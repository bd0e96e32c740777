/** Incidents whose subject became part of another: one incident follows it, and nobody is notified again. */

import type { App } from '../app.ts';
import type { Move, Observation } from '../events/observations.ts';
import { lockIn, type Tx } from '../store/open.ts';
import type { Subscriber } from '../store/subscribers.ts';
import type { AlertIncidentRow, AlertRow } from '../store/tables.generated.ts';
import { CONDITIONS, conditionOf } from './conditions/index.ts';
import { evaluateCondition } from './evaluate.ts';
import { openIncidents, resolveAndNotify } from './incidents.ts';
import { createNotifier } from './notify.ts';

/** The incident follows if the other subject meets the condition and has no incident yet. Otherwise, it is resolved. */
export function moveIncidents(app: App): Subscriber<[move: Move]> {
  return async (tx, { from, to }) => {
    const rules = await lockRules(tx, from);
    if (rules.length === 0) return;
    const open = await openIncidents(tx, rules, [from, to]);
    const notifier = createNotifier(tx, app);
    for (const rule of rules) {
      const incident = open.get(rule.id, from.subject);
      // What is left of the subject may still meet it.
      if (!incident || evaluateCondition(rule, from).answer !== 'no') continue;
      const isFollowing =
        evaluateCondition(rule, to).answer !== 'no' && !open.get(rule.id, to.subject);
      const moved = await setSubject(tx, incident, to, isFollowing);
      if (!isFollowing)
        await resolveAndNotify(tx, app, notifier, rule, moved, {
          resolution: 'no_longer_watched',
          observation: null,
        });
    }
  };
}

async function setSubject(
  tx: Tx,
  incident: AlertIncidentRow,
  to: Observation,
  isFollowing: boolean,
): Promise<AlertIncidentRow> {
  const before: unknown = JSON.parse(incident.value);
  const value = conditionOf(incident).movedValue?.(before, to, isFollowing) ?? before;
  const change = {
    subject: isFollowing ? to.subject : incident.subject,
    value: JSON.stringify(value),
  };
  await tx.updateTable('alert_incidents').set(change).where('id', '=', incident.id).execute();
  return { ...incident, ...change };
}

/** The rules with an open incident about the subject. */
function lockRules(tx: Tx, { kind, subject }: Observation): Promise<AlertRow[]> {
  const conditions = CONDITIONS.filter(({ observes }) => observes.includes(kind));
  const rules = tx
    .selectFrom('alerts')
    .selectAll()
    .where(
      'condition',
      'in',
      conditions.map(({ id }) => id),
    )
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('alert_incidents')
        .select('alert_id')
        .where('status', '=', 'open')
        .where('subject', '=', subject),
    )
    .orderBy('id');
  return lockIn(tx, rules).execute();
}
