/** The event types of feedback. */

import * as v from 'valibot';
import { FeedbackState } from '../domains/schema.ts';
import { asText, labeled, quoted } from '../events/line.ts';
import type { EventDeclaration } from '../http/openapi/webhooks.ts';
import { described, named, Time, typeField } from '../http/schemas.ts';
import { ANNOUNCED_CLASSES, CLASSES } from './reading/report.ts';
import { Bounce, Complaint } from './schemas/message.ts';

export const DomainFeedbackState = named(
  'DomainFeedbackState',
  v.object({
    object: typeField('domain_feedback'),
    domain_id: v.string(),
    name: described(v.string(), 'The domain name.', 'example.com'),
    address: described(v.string(), 'Its feedback address.'),
    state: FeedbackState,
    last_report_at: described(Time, 'When the last report that counts arrived by email.'),
  }),
  'Whether reports about a domain arrive.',
  {
    address: 'fb-q3v9k2m7x5t1w8b4@inbox.example.org',
    state: 'stopped',
    last_report_at: '2026-11-22T01:00:00.000Z',
  },
);

/** A sentence for each class. */
const ANNOUNCED = ANNOUNCED_CLASSES.map((one) => `\`${one}\`: ${CLASSES[one].meaning}.`).join(' ');

/** The event types of this feature. */
export const FEEDBACK_EVENTS: EventDeclaration[] = [
  {
    type: 'feedback.stopped',
    summary: 'Reports about a domain no longer arrive',
    description:
      'No DMARC or TLS report that counts has arrived by email for 3 days, after at least 7 days of reports. Sent once each time that reports stop.',
    data: DomainFeedbackState,
    object: 'the state of the feedback of the domain',
    line: (data) => [asText(data.name), labeled('last report', data.last_report_at)],
  },
  {
    type: 'complaint.received',
    summary: 'A complaint report arrived',
    description:
      'A known or confirmed feedback loop sent a complaint report. `kind` says what the recipient reported.',
    data: Complaint,
    object: 'the complaint',
    line: (data) => [asText(data.kind), quoted(data.subject), labeled('at', data.provider)],
  },
  {
    type: 'bounce.received',
    summary: 'A message bounced because of a policy, or for an unknown reason',
    description: `A message bounced with one of these classes. ${ANNOUNCED} Other bounces have no event. If \`authenticated\` is false, anyone may have sent it. No bounce opens an incident by itself.`,
    data: Bounce,
    object: 'the bounce',
    line: (data) => [
      asText(data.class),
      asText(data.status_code),
      labeled('at', data.provider),
      quoted(data.diagnostic),
    ],
  },
];
