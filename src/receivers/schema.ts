/** API schemas of what receivers publish. */

import * as v from 'valibot';
import { RECEIVER_IDS } from '../config/receivers.ts';
import { asText, labeled } from '../events/line.ts';
import { PERIOD_QUERY, SummaryQuery } from '../feedback/schemas/period.ts';
import { valuesOf } from '../figures/figure.ts';
import { GMAIL_FIGURES, SPAM_RATE } from '../figures/gmail.ts';
import type { EventDeclaration } from '../http/openapi/webhooks.ts';
import { Count, described, named, Text, Time, typeField } from '../http/schemas.ts';
import { AGGREGATIONS } from '../net/google-postmaster/metrics.ts';
import { ACCOUNT_STATES } from './account-state.ts';
import { NO_DATA_CODES } from './no-data.ts';
import { FILTER_RESULTS } from './observations.ts';

const Rate = v.nullable(v.number());

const RECEIVER_ID = described(
  v.string(),
  'The name of the account in `DELIVERABILITY_RECEIVERS`.',
  'google_postmaster',
);

// Accounts.

const ReceiverProblem = named(
  'ReceiverProblem',
  v.object({
    code: described(v.string(), 'A code such as `sign_in_expired`, `refused` or `throttled`.'),
    message: described(v.string(), 'What is wrong, and what to do.'),
  }),
  'Why an account or a domain can’t be read.',
  { code: 'throttled', message: 'Google allows no more requests for now.' },
);

const ReceiverDomain = named(
  'ReceiverDomain',
  v.object({
    name: described(v.string(), 'The domain, in A-labels.'),
    domain_id: described(
      Text,
      'The ID of the domain. Null if your team does not have it; then no figures are fetched.',
    ),
    permission: described(v.string(), 'What the account may do, such as `OWNER` or `READER`.'),
    verification: described(Text, 'Whether the domain is verified at Google, such as `VERIFIED`.'),
    last_fetch_at: described(
      v.nullable(Time),
      'When its figures were last fetched. Null if never.',
    ),
    problem: described(
      v.nullable(ReceiverProblem),
      'Why its figures could not be fetched the last time.',
    ),
  }),
  'A domain of an account at Google Postmaster Tools.',
  {
    name: 'example.com',
    permission: 'OWNER',
    verification: 'VERIFIED',
    last_fetch_at: '2026-11-22T03:00:00.000Z',
    problem: null,
  },
);

export const Receiver = named(
  'Receiver',
  v.object({
    id: RECEIVER_ID,
    object: typeField('receiver'),
    receiver: described(v.picklist(RECEIVER_IDS), 'Who publishes the figures.'),
    state: described(
      v.picklist(ACCOUNT_STATES),
      '`waiting`: it was never fetched. `working`: the last fetch succeeded. `expiring`: it did, but Microsoft will soon end the access, as `problem` says. `failing`: it did not. `not_signed_in`: nobody is signed in, or the sign-in has expired.',
    ),
    fetching: described(v.boolean(), 'Whether a fetch is due or in progress.'),
    last_fetch_at: described(
      v.nullable(Time),
      'When the last fetch without a problem began. Null if there was none.',
    ),
    last_attempt_at: described(v.nullable(Time), 'When the last fetch began. Null if never.'),
    next_fetch_at: described(v.nullable(Time), 'When it is next fetched. Null: now.'),
    failing_since: described(
      v.nullable(Time),
      'When the first of the failed fetches began. Null if the last fetch succeeded.',
      '2026-11-21T03:00:00.000Z',
    ),
    access_confirmed_at: described(
      v.nullable(Time),
      'For `microsoft_snds`, when somebody last signed in, or when the key was first used. Microsoft ends access that is not confirmed about every ten months, and keys after 30 days.',
    ),
    problem: described(
      v.nullable(ReceiverProblem),
      'Why the last fetch failed, or what will soon make fetches fail.',
    ),
    domains: described(
      v.nullable(v.array(ReceiverDomain)),
      'For `google_postmaster`, the domains of the account. Otherwise null.',
    ),
  }),
  'An account at a receiver that publishes figures about senders.',
  {
    receiver: 'google_postmaster',
    state: 'working',
    fetching: false,
    last_fetch_at: '2026-11-22T03:00:00.000Z',
    last_attempt_at: '2026-11-22T03:00:00.000Z',
    failing_since: null,
    next_fetch_at: '2026-11-23T03:00:00.000Z',
    access_confirmed_at: null,
    problem: null,
  },
);
export type Receiver = v.InferOutput<typeof Receiver>;

export const ReceiverList = named(
  'ReceiverList',
  v.object({
    object: typeField('list'),
    data: described(v.array(Receiver), 'All accounts, in the order of the configuration.'),
  }),
  'The configured accounts.',
);

// Figures of a domain at Google.

export const NoData = named(
  'ReceiverNoData',
  v.object({
    code: described(
      v.picklist(NO_DATA_CODES),
      '`not_set_up`: no account is configured. `not_signed_in`: nobody is signed in to it. `failing`: fetches fail. `not_fetched`: the first fetch is still to come. `not_in_account`: the account does not have the domain. `not_verified`: the domain is not verified at the receiver. `no_permission`: the account may not read the domain. `not_yet`: the days are too recent. `too_little_mail`: the receiver published nothing.',
    ),
    message: described(v.string(), 'The reason in words, with what to do.'),
  }),
  'Why there are no figures.',
  { code: 'not_fetched', message: 'The figures of example.com have not been fetched yet.' },
);

const DeliveryErrors = named(
  'ReceiverDeliveryErrors',
  v.object({
    type: described(
      v.picklist(['reject', 'temp_fail']),
      '`reject`: rejected. `temp_fail`: deferred.',
    ),
    reason: described(v.string(), 'The reason as Google names it.'),
    rate: described(Rate, 'The share of all messages, from 0 to 1.', 0.02),
    count: described(v.nullable(Count), 'The number of messages.', 14),
  }),
  'Messages that Google did not accept, for one reason.',
  { type: 'reject', reason: 'low_ip_reputation' },
);

const ReceiverFeedbackLoop = named(
  'ReceiverFeedbackLoop',
  v.object({
    id: described(v.string(), 'The identifier in the Feedback-ID header.'),
    aggregation_key_type: described(
      v.picklist(AGGREGATIONS),
      '`FROM_HEADER`: of mail with the domain in From. `ALL_DKIM`: of all mail that is signed with DKIM as the domain.',
    ),
    [SPAM_RATE.name]: described(Rate, 'Its user-reported spam rate, from 0 to 1.', 0.004),
  }),
  'The spam rate of messages with the same identifier.',
  { id: 'campaign-7', aggregation_key_type: 'FROM_HEADER' },
);

const GMAIL_DAY = valuesOf(GMAIL_FIGURES, 'name', ({ unit, description, example }) =>
  unit === 'share'
    ? described(Rate, `${description}, from 0 to 1. Null if it was not published.`, example)
    : described(
        v.nullable(Count),
        `${description}. Null if their number was not published.`,
        example,
      ),
);

const ReceiverDay = named(
  'ReceiverDay',
  v.object({
    date: described(v.string(), 'The day, as Google counts it.'),
    receiver_id: RECEIVER_ID,
    ...GMAIL_DAY,
    errors: described(
      v.nullable(v.array(DeliveryErrors)),
      'Messages that Google did not accept, by reason. Null if that was not published.',
    ),
    feedback_loops: described(
      v.nullable(v.array(ReceiverFeedbackLoop)),
      'Spam rates of the identifiers in Feedback-ID headers. Null if none were published.',
    ),
    fetched_at: described(Time, 'When the day was last fetched.'),
  }),
  'What Google published about a domain and a day.',
  {
    date: '2026-11-20',
    fetched_at: '2026-11-22T03:00:00.000Z',
  },
);
export type ReceiverDay = v.InferOutput<typeof ReceiverDay>;

const PERIOD = {
  from: v.string(),
  to: v.string(),
};

export const StatsQuery = SummaryQuery;

export const ReceiverStats = named(
  'ReceiverStats',
  v.object({
    object: typeField('receiver_stats'),
    domain_id: v.string(),
    ...PERIOD,
    days: described(
      v.array(ReceiverDay),
      'The days for which there are figures, oldest first. A missing day has no data, which is not zero.',
    ),
    no_data: described(v.nullable(NoData), 'Why there are no figures. Null if there are.'),
  }),
  'What Google publishes about a domain.',
);

// Addresses at Microsoft.

const AddressDay = named(
  'ReceiverAddressDay',
  v.object({
    date: described(v.string(), 'The day of the activity.'),
    receiver_id: RECEIVER_ID,
    started_at: described(Time, 'When the activity began.'),
    ended_at: described(Time, 'When the activity ended.'),
    rcpt_commands: described(Count, 'RCPT commands.'),
    data_commands: described(Count, 'DATA commands.'),
    recipients: described(Count, 'Recipients of messages.'),
    filter_result: described(
      v.nullable(v.picklist(FILTER_RESULTS)),
      '`GREEN`: less than 10% of the messages are spam. `YELLOW`: 10% to 90%. `RED`: more than 90%. Null if it was not published.',
    ),
    complaint_rate: described(
      Rate,
      'The share of messages that users reported as junk, from 0 to 1. Null if it was not published.',
      0.001,
    ),
    complaint_rate_is_below: described(
      v.boolean(),
      'Whether the real rate is below `complaint_rate`: Microsoft publishes “< 0.1%”.',
    ),
    trap_hits: described(
      v.nullable(Count),
      'Messages to spam traps. Null if their number was not published, as since June 2026.',
      0,
    ),
    sample_helo: described(
      Text,
      'A HELO name of that day. Not published since June 2026.',
      'mail.example.com',
    ),
    sample_mail_from: described(
      Text,
      'An envelope sender of that day. Not published since June 2026.',
      'news@example.com',
    ),
    comments: described(Text, 'What else Microsoft says.', 'Compromised account suspected'),
  }),
  'The activity of an address on a day.',
  {
    date: '2026-11-20',
    receiver_id: 'microsoft_snds',
    rcpt_commands: 1200,
    started_at: '2026-11-20T08:00:00.000Z',
    ended_at: '2026-11-21T03:00:00.000Z',
    data_commands: 1180,
    recipients: 1190,
    filter_result: 'GREEN',
    complaint_rate_is_below: true,
    comments: null,
  },
);

const BLOCK = {
  blocked: described(
    v.nullable(v.boolean()),
    'Whether Microsoft blocks it. Null if that is not known.',
  ),
  details: described(Text, 'What Microsoft says about it.', 'Blocked due to user complaints'),
  since: described(v.nullable(Time), 'When this state was first seen.', '2026-11-20T03:00:00.000Z'),
};

const SendingAddress = named(
  'SendingAddress',
  v.object({
    address: described(v.string(), 'The IP address.', '192.0.2.25'),
    ...BLOCK,
    days: described(
      v.array(AddressDay),
      'Its days, newest first. A day with fewer than 100 messages is missing.',
    ),
  }),
  'What Microsoft publishes about an IP address.',
);

const AddressRange = named(
  'SendingAddressRange',
  v.object({
    first_address: described(v.string(), 'The first address.', '192.0.2.0'),
    last_address: described(v.string(), 'The last address.', '192.0.2.255'),
    receiver_id: described(RECEIVER_ID, 'The account that has it.', 'microsoft_snds'),
    ...BLOCK,
    checked_at: described(Time, 'When it was last checked.'),
  }),
  'Whether Microsoft blocks a range of addresses.',
);

export const AddressesQuery = v.strictObject({
  ...PERIOD_QUERY,
  address: described(v.optional(v.string()), 'Only this IP address.', '192.0.2.25'),
});
export type AddressesQuery = v.InferOutput<typeof AddressesQuery>;

export const SendingAddresses = named(
  'SendingAddresses',
  v.object({
    object: typeField('sending_addresses'),
    ...PERIOD,
    addresses: described(
      v.array(SendingAddress),
      'The addresses with activity, those with the most recipients first; at most 100. `address` is here without activity, too, if it is blocked.',
    ),
    address_count: described(Count, 'The number of addresses with activity.', 1),
    ranges: described(
      v.array(AddressRange),
      'The ranges of addresses in the account, the blocked ones first; at most 100.',
    ),
    range_count: described(Count, 'The number of ranges.', 1),
    no_data: described(v.nullable(NoData), 'Why there is no activity. Null if there is.'),
  }),
  'What Microsoft publishes about the addresses that you send from.',
);
export type SendingAddresses = v.InferOutput<typeof SendingAddresses>;

// Events.

const ReceiverStatus = named(
  'ReceiverStatus',
  v.object({
    object: typeField('receiver_status'),
    receiver: described(v.picklist(RECEIVER_IDS), 'Who says it.'),
    receiver_id: RECEIVER_ID,
    domain: described(Text, 'The domain, for a requirement.'),
    domain_id: described(Text, 'Its ID.'),
    requirement: described(
      Text,
      'The requirement as Google names it. Null for accounts and addresses.',
    ),
    address: described(
      Text,
      'The IP address, or the first and the last of a range. Null for accounts and requirements.',
      '192.0.2.25',
    ),
    status: described(
      v.string(),
      'For an account, its state. For a requirement, `COMPLIANT` or `NEEDS_WORK`. For an address, `GREEN`, `YELLOW`, `RED`, `BLOCKED` or `NOT_BLOCKED`.',
    ),
    previous_status: described(Text, 'The status before. Null if there was none.'),
    detail: described(
      Text,
      'What the receiver says about it, or why the account can’t be read.',
      'Add a DKIM signature.',
    ),
    at: described(Time, 'When the change was seen.'),
  }),
  'What a receiver says about an account, a requirement or an address.',
  {
    receiver: 'google_postmaster',
    requirement: 'DKIM',
    address: null,
    status: 'NEEDS_WORK',
    previous_status: 'COMPLIANT',
    detail: null,
    at: '2026-11-22T03:00:00.000Z',
  },
);
export type ReceiverStatus = v.InferOutput<typeof ReceiverStatus>;

export const RECEIVER_EVENTS: EventDeclaration[] = [
  {
    type: 'receiver.status_changed',
    summary: 'A receiver changed its verdict',
    description:
      'The state of an account, a Google requirement or an address at Microsoft has changed. The first state is sent only if it is bad.',
    data: ReceiverStatus,
    object: 'the status',
    line: (data) => [
      asText(data.requirement ?? data.address ?? data.receiver_id),
      labeled('of', data.domain),
      asText(data.status),
    ],
  },
];
