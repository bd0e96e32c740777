/** PagerDuty: an incident triggers an alert there, and its end resolves it (Events API v2). */

import * as v from 'valibot';
import type { AlertRow } from '../../store/tables.generated.ts';
import type { Notification } from '../alert-text.ts';
import type { Channel, ChannelContext, ChannelField } from './channel.ts';
import { settingOf } from './settings.ts';
import { clip, referenceOf, stepTexts } from './text.ts';

const KEY: ChannelField = {
  name: 'pagerduty_routing_key',
  kind: 'text',
  isSecret: true,
  sentTo: 'pagerduty_server_url',
  label: 'PagerDuty integration key',
  hint: 'From an “Events API v2” integration of a PagerDuty service. It is a secret and is not shown again.',
  format: {
    pattern: /^[0-9A-Za-z]{32}$/,
    message: 'must be the integration key of a service, which has 32 letters and digits',
  },
  example: 'R0000000000000000000000000000000',
};
const SERVER: ChannelField = {
  name: 'pagerduty_server_url',
  kind: 'url',
  isSecret: false,
  label: 'PagerDuty API server',
  hint: 'For the EU service region: https://events.eu.pagerduty.com. If empty, the US server is used.',
  placeholder: 'https://events.pagerduty.com',
  example: 'https://events.eu.pagerduty.com/',
};

export const pagerduty: Channel = {
  name: 'PagerDuty',
  hints: {
    configured: 'Triggers and resolves alerts in PagerDuty.',
    unconfigured: 'Enter the integration key of a PagerDuty service below.',
  },
  fields: [KEY, SERVER],
  post: {
    url: urlOf,
    message(notification, app, rule) {
      const key = settingOf(app, rule, KEY)!;
      const body = eventOf(notification, key, rule);
      if (notification.kind !== 'Sample') return { body };
      // Nothing else would end it.
      const end = eventOf({ ...notification, kind: 'Resolved' }, key, rule);
      const url = urlOf(app, rule)!;
      return { body, next: { method: 'POST', url, body: end, isRequired: true } };
    },
    tracksIncidents: true,
    answers: {
      accepted: v.pipe(
        v.object({ status: v.literal('success') }),
        v.transform(() => null),
      ),
      refusals: {
        400: 'PagerDuty rejected the event; check the integration key',
        403: 'PagerDuty rejected the integration key; copy it again from the service',
        404: 'this is not the Events API; check the address of the server',
        413: 'the event is too long for PagerDuty',
      },
      problem: v.pipe(
        v.object({ message: v.string(), errors: v.optional(v.array(v.string()), []) }),
        v.transform(({ message, errors }) => ({ text: [message, ...errors].join(': ') })),
      ),
    },
  },
};

function urlOf(app: ChannelContext, rule: AlertRow): string | null {
  if (settingOf(app, rule, KEY) == null) return null;
  const server = settingOf(app, rule, SERVER) ?? 'https://events.pagerduty.com';
  return new URL('v2/enqueue', server.replace(/\/?$/, '/')).href;
}

const SEVERITIES = { Alert: 'error', Reminder: 'error', Resolved: 'info', Sample: 'info' };

function eventOf(notification: Notification, key: string, rule: AlertRow): object {
  const { kind, title, lead, facts, steps, followUp, link, incident } = notification;
  const event = {
    routing_key: key,
    // A reminder of the same incident joins its alert. Samples of a rule share one.
    dedup_key: incident ?? `sample of ${rule.id}`,
    event_action: kind === 'Resolved' ? 'resolve' : 'trigger',
  };
  if (kind === 'Resolved') return event;
  return {
    ...event,
    client: 'Deliverability',
    ...(link && {
      client_url: new URL(link.url).href,
      links: [{ href: new URL(link.url).href, text: link.label }],
    }),
    payload: {
      summary: clip(`${kind}: ${title}`, 'heading'),
      source: clip(facts[0]?.[1] ?? rule.name, 'value') || '–',
      severity: SEVERITIES[kind],
      component: 'email',
      custom_details: {
        Summary: clip(lead, 'lead'),
        ...Object.fromEntries(
          facts.map(([label, value]) => [clip(label, 'label'), clip(value, 'value')]),
        ),
        ...(steps.length > 0 && { 'What to do': steps.map(stepText) }),
        ...(followUp && { 'What happens next': clip(followUp, 'lead') }),
        Reference: clip(referenceOf(notification), 'value'),
      },
    },
  };
}

function stepText(step: Notification['steps'][0], index: number, { length }: object[]): string {
  const { text, record } = stepTexts(step, index, length);
  return [text, ...(record ?? [])].join('\n');
}
