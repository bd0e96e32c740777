/** What to do about an incident, as in its notification. */

import type { App } from '../app.ts';
import type { AlertIncidentRow, AlertRow } from '../store/tables.generated.ts';
import { composeNotification } from './alert-text.ts';
import type { Step } from './conditions/condition.ts';
import { findIncidentEvent } from './incident-event.ts';
import { incidentOr404 } from './queries.ts';

/** Empty for a resolved incident, and if nothing is known to help. Throws `not_found`. */
export async function findIncidentSteps(
  { db, config }: Pick<App, 'db' | 'config'>,
  incidentId: string,
): Promise<Step[]> {
  const incident = await incidentOr404(db, incidentId);
  if (incident.status !== 'open') return [];
  const event = await findIncidentEvent(db, 'triggered', ruleOf(incident), incident);
  return composeNotification(config, event).steps;
}

/** The rule as it was when the incident was opened, as far as the texts need it. */
const ruleOf = ({ alert_id, condition, threshold, opened_at }: AlertIncidentRow): AlertRow => ({
  id: alert_id,
  name: '',
  condition,
  threshold,
  channels: '[]',
  enabled: 1,
  domain_id: null,
  tags: null,
  recipients: null,
  slack_webhook_url: null,
  last_triggered_at: opened_at,
  reminder_hours: null,
  created_at: opened_at,
});
