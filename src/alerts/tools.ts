/** The tools about alert rules and their incidents. */

import * as v from 'valibot';
import { DOMAIN_INPUT, domainIdOf } from '../domains/tools.ts';
import { described, oneOf, PAGE_QUERY, wholeNumber } from '../http/schemas.ts';
import { linkTo, resourceTemplate, tool } from '../http/tool.ts';
import { answerText, clean, kept, NEXT_PAGE, quoted, shortened } from '../http/tool-text.ts';
import { formatCount } from '../lib/format/numbers.ts';
import { printableJson } from '../lib/log.ts';
import { CONDITIONS } from './conditions/index.ts';
import { alertOperations } from './routes.ts';
import { type Alert, type AlertIncident, NewAlert } from './schema.ts';

const { list, listAllIncidents, getIncident, create } = alertOperations;

export const listAlerts = tool({
  name: 'list_alerts',
  title: 'List alerts',
  description:
    'Lists the alert rules of the team and their open incidents: what is wrong, since when, and which test or monitor run shows it. With status resolved, it lists past incidents instead.',
  uses: [list, listAllIncidents],
  resources: [getIncident],
  input: v.strictObject({
    status: v.optional(
      described(
        v.picklist(['open', 'resolved'], 'must be one of open, resolved'),
        'Open or resolved incidents.',
      ),
      'open',
    ),
    starting_after: PAGE_QUERY.starting_after,
    limit: v.optional(described(wholeNumber(1, 50), 'How many incidents.', 20), 20),
  }),
  async run({ limit, ...query }, call) {
    const [incidents, rules] = await Promise.all([
      call.invoke(listAllIncidents, { query: { ...query, limit: String(limit) } }),
      call.invoke(list, { query: { limit: '100' } }),
    ]);
    const { data, has_more } = incidents;
    const names = new Map(rules.data.map(({ id, name }) => [id, name]));
    const more = has_more ? `, and more: ${NEXT_PAGE}` : '';
    return {
      text: answerText(
        [
          kept(`${formatCount(data.length, `${query.status} incident`)}${more}.`),
          ...data.map((incident) => incidentText(incident, names.get(incident.alert_id) ?? null)),
          `\n${formatCount(rules.data.length, 'alert rule')}${rules.has_more ? ', and more' : ''}`,
          ...rules.data.map(ruleText),
        ],
        `use a lower limit, or read ${resourceTemplate(getIncident)}`,
      ),
      links: data
        .slice(0, MAX_LINKS)
        .map(({ id }) => linkTo(getIncident, { id }, `Incident ${id} as JSON`)),
    };
  },
});

const MAX_LINKS = 5;
const MAX_VALUE = 300;

const shortTextOf = (id: string): string =>
  CONDITIONS.find((condition) => condition.id === id)?.shortText ?? id;

function incidentText(incident: AlertIncident, rule: string | null): string {
  const { id, condition, subject, opened_at, resolved_at, test_id, run_id, value } = incident;
  const failed = incident.notifications.filter(({ status }) => status === 'failed');
  const byChannel = [...Map.groupBy(failed, ({ channel }) => channel)];
  return [
    `- ${id} ${quoted(subject)}: ${shortTextOf(condition)}, since ${opened_at}${resolved_at === null ? '' : ` until ${resolved_at}`}`,
    `  rule ${rule === null ? 'deleted' : quoted(rule, 80)}; measured ${shortened(clean(printableJson(value)), MAX_VALUE)}`,
    test_id === null ? '' : `  next: get_test with id ${test_id}`,
    run_id === null ? '' : `  found by monitor run ${run_id}`,
    ...byChannel.map(
      ([channel, all]) =>
        `  not sent by ${channel}${all.length > 1 ? ` (${all.length} times)` : ''}: ${quoted(all.at(-1)!.error)}`,
    ),
  ]
    .filter(Boolean)
    .join('\n');
}

function ruleText({ id, name, condition, threshold, channels, enabled, state }: Alert): string {
  const limit = threshold === null ? '' : ` (threshold ${threshold})`;
  return `- ${id} ${quoted(name, 80)}: ${shortTextOf(condition)}${limit}, by ${channels.join(', ')}; ${enabled ? state : 'off'}`;
}

/** Models get no secrets, so rules with a channel that needs one are made in the web application. */
const WITHOUT_SECRETS = ['email', 'webhook', 'slack'] as const;

export const createAlert = tool({
  name: 'create_alert',
  title: 'Create an alert rule',
  description:
    'Creates a rule that notifies the team when a condition is met. Channels that need their own URL or token must be added in the web application, because secrets do not belong in a conversation.',
  effect: 'writes',
  uses: [create],
  answers: create,
  input: v.strictObject({
    name: NewAlert.entries.name,
    condition: NewAlert.entries.condition,
    threshold: NewAlert.entries.threshold,
    channels: described(
      v.pipe(v.array(oneOf(WITHOUT_SECRETS)), v.minLength(1, 'must contain at least one channel')),
      'How to notify the team. `slack` uses the default Slack URL of the server.',
    ),
    domain: v.optional(DOMAIN_INPUT),
  }),
  async run({ domain, ...rule }, call) {
    const domain_id = domain === undefined ? null : await domainIdOf(domain, call);
    const alert = await call.invoke(create, { body: { ...rule, domain_id } });
    const missing = alert.unconfigured_channels;
    return {
      text: [
        `Created: ${ruleText(alert)}`,
        missing.length > 0 ? `Not set up yet, so nothing is sent by: ${missing.join(', ')}` : '',
      ].join('\n'),
      data: alert,
    };
  },
});

export const alertTools = [listAlerts, createAlert];
