/** API schemas of complaints and bounces. */

import * as v from 'valibot';
import {
  described,
  exampleId,
  idOf,
  meaningsOf,
  named,
  oneOf,
  PAGE_QUERY,
  Text,
  Time,
  typeField,
} from '../../http/schemas.ts';
import { BOUNCE_CLASSES, CLASSES } from '../reading/report.ts';
import { Day, DOMAIN_ID } from './period.ts';

// Complaints and bounces.

const MESSAGE = {
  domain_id: Text,
  report_id: v.string(),
  received_at: described(Time, 'When the report arrived.'),
  from_domain: Text,
  recipient_domain: described(Text, 'The domain of the recipient, whose address is not kept.'),
  message_id: described(Text, 'The Message-ID of the message, without angle brackets.'),
};

const COMPLAINT = {
  received_at: '2026-11-22T01:00:00.000Z',
  message_id: 'news-1@example.com',
  kind: 'abuse',
  provider: 'example.net',
  arrived_at: '2026-11-21T10:00:00.000Z',
  subject: 'November news',
  list_id: '<news.example.com>',
  feedback_id: 'c1:news:example',
  dkim_domain: 'example.com',
} as const;

export const Complaint = named(
  'Complaint',
  v.object({
    id: idOf('cpl'),
    object: typeField('complaint'),
    ...MESSAGE,
    kind: described(
      v.string(),
      '`abuse`: a recipient marked the message as spam. `not-spam` is the opposite. Also `fraud`, `virus`, or what the report says.',
    ),
    provider: described(v.string(), 'The domain of the mailbox provider.'),
    arrived_at: described(v.nullable(Time), 'When the message arrived at the provider.'),
    address: described(Text, 'The IP address that sent the message.'),
    subject: described(Text, 'The first 100 characters of its subject.'),
    list_id: described(Text, 'Its List-Id.'),
    feedback_id: described(Text, 'Its Feedback-ID.'),
    dkim_domain: described(Text, 'The domain of its first DKIM signature.'),
  }),
  'A complaint report about one message.',
  COMPLAINT,
);

export type Complaint = v.InferOutput<typeof Complaint>;

const EXPLANATION = {
  provider: 'Gmail',
  text: 'Gmail rejects mail without a passing SPF or DKIM result.',
  reference: 'https://support.google.com/a/answer/3726730',
};

const BounceExplanation = named(
  'BounceExplanation',
  v.object({
    provider: described(Text, 'The provider or gateway that replied, if it is known.'),
    text: described(v.string(), 'What the reply means, in a sentence or two.'),
    reference: described(Text, 'Where the provider, or the standard, describes its codes.'),
  }),
  'What the reply of a server means.',
  EXPLANATION,
);

const BOUNCE = {
  received_at: '2026-11-22T01:00:00.000Z',
  message_id: 'news-1@example.com',
  class: 'policy',
  action: 'failed',
  status_code: '5.7.26',
  diagnostic: '550-5.7.26 This message is unauthenticated',
  remote_server: 'mx.example.net',
  reporting_server: 'mail.example.com',
  provider: 'example.net',
  authenticated: false,
} as const;

export const Bounce = named(
  'Bounce',
  v.object({
    id: idOf('bnc'),
    object: typeField('bounce'),
    ...MESSAGE,
    class: described(v.picklist(BOUNCE_CLASSES), meaningsOf(CLASSES)),
    action: described(v.picklist(['failed', 'delayed']), '`delayed`: the server keeps trying.'),
    status_code: described(Text, 'The enhanced status code (RFC 3463).'),
    diagnostic: described(Text, 'The reply of the server, without mailbox names.'),
    remote_server: described(Text, 'The server that rejected the message.'),
    reporting_server: described(Text, 'The server that reports it.'),
    provider: described(v.string(), 'The domain of the mailbox provider.'),
    authenticated: described(
      v.nullable(v.boolean()),
      'Whether SPF or DKIM shows who sent the bounce. Servers rarely sign bounces. Null if it did not arrive in a message.',
    ),
    explanation: described(
      v.nullable(BounceExplanation),
      'What the reply means. null if it has no code and no text that is known.',
    ),
  }),
  'A message that could not be delivered to a recipient.',
  BOUNCE,
);

export type Bounce = v.InferOutput<typeof Bounce>;

// In lists, with what other parts of the service know about them.

const MessageSource = named(
  'MessageSource',
  v.object({
    id: described(
      Text,
      'The ID of the source; null for a sending service that no DMARC report has named yet.',
      exampleId('src'),
    ),
    name: described(v.string(), 'Its name, or what your team calls it.', 'Mailchimp'),
  }),
  'The source that sent a message.',
);

const BounceFinding = named(
  'BounceFinding',
  v.object({
    test_id: v.string(),
    completed_at: Time,
    check_id: described(v.string(), 'The ID of the check.', 'dkim'),
    title: described(v.string(), 'What the check found.', 'The message is not signed with DKIM'),
    fix: described(Text, 'How to fix it.', 'Turn on DKIM at the service that sends your mail.'),
  }),
  'The finding of a test that explains a bounce.',
);

const SENDER = {
  reporter: described(Text, 'Who reported it.', 'receiver.example'),
  source: described(v.nullable(MessageSource), 'Who sent the message; null if it is unknown.'),
};

const SENDER_EXAMPLE = {
  reporter: 'example.net',
  source: { id: exampleId('src'), name: 'Mailchimp' },
};

export const ListedComplaint = named(
  'ListedComplaint',
  v.object({ ...Complaint.entries, ...SENDER }),
  'A complaint with the source of the message.',
  { ...COMPLAINT, ...SENDER_EXAMPLE },
);

export type ListedComplaint = v.InferOutput<typeof ListedComplaint>;

export const ListedBounce = named(
  'ListedBounce',
  v.object({
    ...Bounce.entries,
    subject: described(Text, 'The first 100 characters of the subject.', 'November news'),
    ...SENDER,
    finding: described(
      v.nullable(BounceFinding),
      'The newest unfixed finding with the same cause, from the last 20 tests; null if there is none.',
    ),
  }),
  'A bounce with the source of the message, and the finding that explains it.',
  {
    ...BOUNCE,
    ...SENDER_EXAMPLE,
    finding: {
      test_id: exampleId('test'),
      completed_at: '2026-11-21T12:00:00.000Z',
      check_id: 'dkim',
      title: 'Your message has no DKIM signature',
      fix: 'Turn on DKIM signing for example.com in your mail server or email service.',
    },
  },
);

export type ListedBounce = v.InferOutput<typeof ListedBounce>;

const MESSAGE_FILTERS = {
  domain_id: DOMAIN_ID,
  from: described(v.optional(Day), 'Only those whose report arrived on this day or later.'),
  to: described(v.optional(Day), 'Only those whose report arrived on this day or earlier.'),
};

export const ComplaintListQuery = v.strictObject({ ...PAGE_QUERY, ...MESSAGE_FILTERS });

export const ComplaintExportQuery = v.strictObject(MESSAGE_FILTERS);

export const BounceExportQuery = v.strictObject({
  ...MESSAGE_FILTERS,
  class: described(v.optional(oneOf(BOUNCE_CLASSES)), 'Only bounces of this class.'),
});

export const BounceListQuery = v.strictObject({ ...PAGE_QUERY, ...BounceExportQuery.entries });
