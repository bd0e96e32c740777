/** API schemas of sources and of the advice on the policy. */

import * as v from 'valibot';
import { asText, type EventData, labeled } from '../../events/line.ts';
import {
  FAILING_SHARE_TEXT,
  MIN_FAILING_MESSAGES,
  STOPPED,
  STOPPED_TEXT,
} from '../../figures/dmarc.ts';
import { valuesOf } from '../../figures/figure.ts';
import type { EventDeclaration } from '../../http/openapi/webhooks.ts';
import {
  Count,
  described,
  exampleId,
  idOf,
  lineOfText,
  meaningsOf,
  named,
  oneOf,
  PAGE_QUERY,
  queryInteger,
  Text,
  Time,
  typeField,
} from '../../http/schemas.ts';
import { SummaryQuery } from '../schemas/period.ts';
import { ADVICE_STATES } from './advice.ts';
import { KINDS, SOURCE_KINDS, SOURCE_MARKS } from './kind.ts';
import { POLICIES, POLICY_TAGS } from './policy-step.ts';

const Day = v.string();

const STOPPED_COUNTS = valuesOf(STOPPED, 'name', ({ description }) =>
  described(Count, `${description}.`, 0),
);

const SOURCE = {
  id: idOf('src'),
  object: typeField('feedback_source'),
  domain_id: v.string(),
  name: described(v.string(), 'The sending service, host name or network.', 'Mailchimp'),
  label: described(Text, 'What your team calls it.', 'Newsletter'),
  kind: described(
    v.picklist(SOURCE_KINDS),
    `${meaningsOf(KINDS)} Anyone can be a customer of a service. If none of its messages pass, it is yours only if SPF, a DKIM selector, a return path or a test shows it.`,
    'service',
  ),
  mark: described(
    v.nullable(v.picklist(SOURCE_MARKS)),
    'How your team classified it: `own`, `forwarder` or `foreign`. It decides the kind.',
  ),
  evidence: described(
    v.string(),
    'How the source was identified.',
    'The confirmed host name is mail1.mcsv.net.',
  ),
  addresses: described(Count, 'The number of its IP addresses.', 4),
  messages: described(Count, 'Messages in the period.', 1200),
  passed: described(Count, 'Messages that pass DMARC.', 1198),
  failed: described(Count, 'Messages that fail.', 2),
  dkim: described(Count, 'Messages that pass with an aligned signature.', 1198),
  spf: described(Count, 'Messages that pass with aligned SPF.', 0),
  ...STOPPED_COUNTS,
  forwarded: described(Count, 'Messages that a receiver identified as forwarded.', 2),
  first_day: described(Day, 'The first day on which it was seen, in UTC.'),
  last_day: Day,
};

export const FeedbackSource = named(
  'FeedbackSource',
  v.object(SOURCE),
  'Who sends with a domain in From, with its messages in a period.',
);
export type FeedbackSource = v.InferOutput<typeof FeedbackSource>;

const SourceAddress = named(
  'FeedbackSourceAddress',
  v.object({
    address: described(
      v.string(),
      'An IP address. For the summed-up rows of large reports: a network, or `others`, followed by the authenticated domain.',
      '198.51.100.2',
    ),
    host: described(
      Text,
      'Its host name. Null if it has none that resolves back to the address.',
      'mail1.mcsv.net',
    ),
    messages: described(Count, 'All messages since the address was first seen.', 1200),
    passed: described(Count, 'Messages that pass DMARC.', 1198),
    first_day: Day,
    last_day: Day,
  }),
  'An address of a source.',
);

const SourceSignature = named(
  'FeedbackSourceSignature',
  v.object({
    domain: described(Text, 'The signing domain. Null for messages without a signature.'),
    selector: described(Text, 'The selector.', 'k1'),
    result: described(Text, 'The DKIM result, regardless of alignment.', 'pass'),
    messages: described(Count, 'Messages with it in the period.', 1198),
  }),
  'A DKIM signature on messages of a source.',
);

const SourceDay = named(
  'FeedbackSourceDay',
  v.object({
    date: Day,
    messages: described(Count, 'Messages.', 40),
    passed: described(Count, 'Messages that pass DMARC.', 40),
    failed: described(Count, 'Messages that fail.', 0),
    ...STOPPED_COUNTS,
  }),
  'The messages of a source on one day.',
);

const SourceReporter = named(
  'FeedbackSourceReporter',
  v.object({
    id: idOf('rep'),
    name: described(v.string(), 'Its name.', 'receiver ltd'),
    messages: described(Count, 'Messages that it counted.', 1200),
  }),
  'What one reporter counted of a source.',
);

const SourceTest = named(
  'FeedbackSourceTest',
  v.object({
    id: idOf('test'),
    completed_at: Time,
    score: described(v.nullable(v.number()), 'Its score.', 87),
    grade: described(Text, 'Its grade.', 'B'),
    finding: described(
      Text,
      'The finding that explains why messages fail.',
      'DKIM is not aligned.',
    ),
    fix: described(Text, 'What to do about it.', 'Set up DKIM for your domain.'),
  }),
  'The newest test of the team that came from a source.',
);

const SetupStep = named(
  'FeedbackSourceSetupStep',
  v.object({
    method: described(
      v.picklist(['dkim', 'return_path']),
      'What it sets up. DMARC needs only one of the two.',
      'dkim',
    ),
    text: described(v.string(), 'What to do.', 'In Mailchimp, set up DKIM for example.com.'),
    guide: described(v.string(), 'The instructions of the service.', 'https://mailchimp.com/help/'),
  }),
  'How to set up a sending service for the domain.',
);

const ReportOfAddress = named(
  'FeedbackSourceReport',
  v.object({
    id: idOf('fbr'),
    reporter: described(Text, 'Who sent it.', 'receiver ltd'),
    date: described(Day, 'Its first day, in UTC.'),
    messages: described(Count, 'The messages from the address that it counts.', 40),
  }),
  'A report that names an address of a source.',
);

const SourceOverride = named(
  'SourceOverride',
  v.object({
    type: described(
      v.string(),
      'The reason, such as `mailing_list`, or `trusted_arc` if its comment names an ARC chain that passes.',
      'trusted_arc',
    ),
    name: described(v.string(), 'The reason in words.', 'Trusted ARC chain'),
    meaning: described(
      v.string(),
      'What it means.',
      'A forwarder that the receiver trusts confirmed with ARC that the mail passed before it was forwarded.',
    ),
    fix: described(v.string(), 'What to do about it.', 'Nothing to fix.'),
    messages: described(Count, 'The number of messages. A message can have several reasons.', 12),
  }),
  'Why receivers did not apply the policy to messages of a source.',
);
export type SourceOverride = v.InferOutput<typeof SourceOverride>;

export const FeedbackSourceDetails = named(
  'FeedbackSourceDetails',
  v.object({
    ...SOURCE,
    from: described(Day, 'The first day of the period.'),
    to: described(Day, 'The last day of the period.'),
    address_list: described(
      v.array(SourceAddress),
      'Its addresses, those with the most messages first; at most 100.',
      [],
    ),
    signatures: described(v.array(SourceSignature), 'Its signatures in the period.', []),
    overrides: described(
      v.array(SourceOverride),
      'Why receivers did not apply the policy in the period, the most frequent first.',
      [],
    ),
    days: described(v.array(SourceDay), 'Its days in the period, oldest first.', []),
    reporters: described(v.array(SourceReporter), 'Who reported it in the period.', []),
    test: described(v.nullable(SourceTest), 'The newest test that came from it.', null),
    setup_steps: described(
      v.array(SetupStep),
      'How to set up DKIM and the return path there. Empty if the source is no known service, or none of its messages fail.',
      [],
    ),
    reports: described(
      v.array(ReportOfAddress),
      'The last 10 reports of the period that name the `address`. Empty without it.',
      [],
    ),
  }),
  'A source with its addresses, signatures, days and reporters.',
);
export type FeedbackSourceDetails = v.InferOutput<typeof FeedbackSourceDetails>;

const Flag = v.optional(v.picklist(['true', 'false'], 'must be true or false'));

const FILTERS = {
  kind: described(v.optional(oneOf(SOURCE_KINDS)), 'Only sources of this kind.'),
  failing: described(
    Flag,
    'If true, only sources with messages that fail DMARC. Without sources of kind `spoof`, whose messages are meant to fail.',
  ),
  new: described(
    Flag,
    'If true, only sources seen in the 30 days that end with `to`, after at least 60 days without messages. At least 14 of the 60 days must have reports.',
  ),
  reporter: described(
    v.optional(v.string()),
    'Only what the reporter with this name counted. The period can then have at most 30 days. The kind of a source is what all reports show.',
  ),
};
export type SourceFilters = v.InferOutput<v.StrictObjectSchema<typeof FILTERS, undefined>>;

export const SourceExportQuery = v.strictObject({ ...SummaryQuery.entries, ...FILTERS });

const MAX_LISTED = 500;

export const SourceListQuery = v.strictObject({
  ...SourceExportQuery.entries,
  ...PAGE_QUERY,
  limit: described(
    v.optional(queryInteger(1, MAX_LISTED), String(MAX_LISTED)),
    'The maximum number of sources to return.',
  ),
});
export type SourceListQuery = Omit<
  v.InferOutput<typeof SourceListQuery>,
  'domain_id' | 'from' | 'to'
>;

export const SourcePatch = named(
  'UpdateFeedbackSource',
  v.strictObject({
    mark: v.optional(
      described(v.nullable(oneOf(SOURCE_MARKS)), 'What it is. Null: what the reports show.'),
    ),
    label: v.optional(
      described(
        v.nullable(v.pipe(lineOfText(100), v.trim())),
        'What you call it. Null: its name.',
        'Newsletter',
      ),
    ),
  }),
  'The changes to a source.',
  { mark: 'own', label: 'Newsletter' },
);

const RecordOfAdvice = named(
  'DmarcRecordToPublish',
  v.object({
    type: described(v.literal('TXT'), 'The type of the record.'),
    name: described(v.string(), 'Its full name.', '_dmarc.example.com'),
    value: described(v.string(), 'Its value.', 'v=DMARC1; p=quarantine'),
  }),
  'The DMARC record for the next step.',
);

export const DmarcAdvice = named(
  'DmarcAdvice',
  v.object({
    object: typeField('dmarc_advice'),
    domain_id: v.string(),
    state: described(
      v.picklist(ADVICE_STATES),
      '`not_published`: there is no DMARC record. `not_enough_data`: there is not enough report data yet. `not_ready`: your mail would be rejected or quarantined. `ready`: the service recommends the next step. `done`: there is no next step.',
      'ready',
    ),
    summary: described(
      v.string(),
      'The advice in words.',
      'You can change the policy to p=quarantine. All your sources pass DMARC.',
    ),
    current: described(v.nullable(v.picklist(POLICIES)), 'The policy that is published.', 'none'),
    next: described(
      v.nullable(v.picklist(POLICIES)),
      'The next policy, one step stricter. If the current one is limited by `t=y` or `pct`, the next step is the same policy without these tags. For a domain that sends no mail, it is `reject` at once. Null if there is none.',
      'quarantine',
    ),
    tag: described(
      v.nullable(v.picklist(POLICY_TAGS)),
      'The tag that the next step changes. Once `p` is `reject`, a weaker `sp` and then a weaker `np` follow, because `p` does not apply to the mail that they cover. Null if there is no next step.',
      'p',
    ),
    ready: described(v.boolean(), 'Whether the service recommends the next step.', true),
    since: described(
      v.nullable(Day),
      'The first day with reports in the last 30 days.',
      '2026-11-01',
    ),
    covered_days: described(
      Count,
      'Days with reports in the last 30 days, without the current one.',
      29,
    ),
    reporters: described(Count, 'Reporters in this time.', 5),
    messages: described(Count, 'Messages in this time.', 4200),
    would_be_rejected: described(
      v.array(FeedbackSource),
      'Sources whose failing messages the policy would affect, without those of kind `spoof`. If the step applies only to the domain itself or only to subdomains, the sums include only that mail.',
      [],
    ),
    missing: described(v.array(v.string()), 'What has to happen first.', []),
    record: described(v.nullable(RecordOfAdvice), 'The record to publish for the next step.', {
      type: 'TXT',
      name: '_dmarc.example.com',
      value: 'v=DMARC1; p=quarantine; rua=mailto:fb-q3v9k2m7x5t1w8b4@inbox.example.org',
    }),
  }),
  'Whether the domain can move to a stricter DMARC policy.',
);

/** For examples of IDs in paths. */
export const SOURCE_ID = described(v.string(), 'The ID of the source.', exampleId('src'));

const SourceEvent = named(
  'FeedbackSourceEvent',
  v.object({
    ...SOURCE,
    domain: v.string(),
  }),
  'A source, with its messages of the last 30 days.',
);

const RecoveredSourceEvent = named(
  'RecoveredFeedbackSourceEvent',
  v.object({
    ...SourceEvent.entries,
    reason: described(
      v.picklist(['passes', 'silent', 'not_ours']),
      'Its latest messages pass, it has sent nothing for 14 days, or someone classified it as not yours.',
      'passes',
    ),
  }),
  'A source that no longer counts as failing, with its messages of the last 30 days.',
);

const sourceLine = (data: EventData): (string | null)[] => [
  asText(data.name),
  labeled('domain', data.domain),
  labeled('failed', data.failed),
];

const SOURCE_OBJECT = 'the source, with its `domain` and the sums of the last 30 days';

export const SOURCE_EVENTS: EventDeclaration[] = [
  {
    type: 'feedback.new_source',
    summary: 'A new source sends mail as your domain',
    description: `A source not seen for 60 days sends at least ${MIN_FAILING_MESSAGES} messages in one day that are not ${STOPPED_TEXT}. At least 14 of the 60 days must have reports.`,
    data: SourceEvent,
    object: SOURCE_OBJECT,
    line: sourceLine,
  },
  {
    type: 'feedback.source_failing',
    summary: 'Mail from one of your sources fails DMARC',
    description: `Messages of one of your servers or sending services passed before. Now more than ${FAILING_SHARE_TEXT} of them in a day, and at least ${MIN_FAILING_MESSAGES}, fail.`,
    data: SourceEvent,
    object: SOURCE_OBJECT,
    line: sourceLine,
  },
  {
    type: 'feedback.source_recovered',
    summary: 'Messages of a source no longer fail',
    description:
      'A source no longer counts as failing; `reason` says why. If its addresses have moved to another source, the event names that source.',
    data: RecoveredSourceEvent,
    object: `${SOURCE_OBJECT}, and the \`reason\``,
    line: sourceLine,
  },
];
