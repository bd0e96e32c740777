/** API schemas of what DMARC reports say about a domain. */

import * as v from 'valibot';
import { FeedbackState } from '../../domains/schema.ts';
import { DMARC_COUNTS, STOPPED } from '../../figures/dmarc.ts';
import { valuesOf } from '../../figures/figure.ts';
import { Count, described, idOf, named, Text, Time, typeField } from '../../http/schemas.ts';
import { RefusedReport } from '../refused.ts';
import { MailShares } from './mail-shares.ts';
import { DAYS } from './period.ts';

const TOTALS = valuesOf(DMARC_COUNTS, 'name', ({ description }) =>
  described(Count, `${description}.`),
);

const TOTALS_EXAMPLE = valuesOf(DMARC_COUNTS, 'name', ({ example }) => example);

const DmarcTotals = named(
  'DmarcTotals',
  v.object(TOTALS),
  'What happened to messages, as the reporters say.',
  TOTALS_EXAMPLE,
);

const DmarcDay = named(
  'DmarcDay',
  v.object({ date: v.string(), ...TOTALS }),
  'The messages of one day.',
  TOTALS_EXAMPLE,
);

const ReporterShare = named(
  'DmarcReporter',
  v.object({
    id: idOf('rep'),
    name: v.string(),
    reports: Count,
    messages: described(Count, 'The messages in its reports.'),
  }),
  'What one reporter counted.',
  { name: 'receiver ltd', reports: 30, messages: 1200 },
);

const PolicySeen = named(
  'DmarcPolicySeen',
  v.object({
    policy_domain: Text,
    p: described(Text, 'The policy that the reporters saw.'),
    sp: described(Text, 'The policy for subdomains.'),
    np: described(Text, 'The policy for subdomains that do not exist.'),
    reports: Count,
    last_at: described(Time, 'When the last of them arrived.'),
  }),
  'A policy that reporters saw.',
  {
    p: 'reject',
    sp: 'none',
    np: 'reject',
    reports: 30,
  },
);

const Folded = named(
  'DmarcFolded',
  v.object({
    reports: described(Count, 'Reports with more rows than are kept.', 1),
    rows: described(Count, 'Rows that are summed up.', 20_000),
    messages: described(Count, 'Messages in these rows.', 75_000),
  }),
  'Rows that are summed up by source, because their report has more than are kept.',
);

export const DmarcFeedback = named(
  'DmarcFeedback',
  v.object({
    object: typeField('dmarc_feedback'),
    ...DAYS,
    state: FeedbackState,
    totals: described(DmarcTotals, 'The sums of all days.', TOTALS_EXAMPLE),
    shares: described(MailShares, 'Whose mail it is.'),
    shares_text: described(
      v.nullable(v.string()),
      'The shares in words. Null without messages.',
      'Your own mail: 100% passes DMARC; 86.4% of all mail with your name is forged; 2.9% is from sources you have not judged yet.',
    ),
    days: described(v.array(DmarcDay), 'The days for which there are reports, oldest first.', [
      { date: '2026-11-21', ...TOTALS_EXAMPLE },
    ]),
    reporter_count: described(Count, 'How many reporters sent reports that count.', 3),
    reporters: described(
      v.array(ReporterShare),
      'Who reported, those with the most messages first; at most 100.',
      [],
    ),
    policies_seen: described(
      v.array(PolicySeen),
      'The policies that the reporters saw, the latest first.',
      [],
    ),
    folded: described(
      Folded,
      'Rows beyond the 5,000 largest of a report. They are summed up by sending service, or by network and signing domain.',
    ),
    refused: described(
      v.array(RefusedReport),
      'Refused DMARC and TLS reports of known and confirmed reporters in the last 30 days, newest first, at most 20. A report is listed until its reporter sends another one for the same day, or later one for a later day.',
      [],
    ),
  }),
  'What DMARC reports say about a domain.',
);

export type DmarcFeedback = v.InferOutput<typeof DmarcFeedback>;

const ReporterSums = named(
  'DmarcReporterSums',
  v.object({
    id: idOf('rep'),
    name: described(v.string(), 'Its name.', 'receiver ltd'),
    reports: described(Count, 'The number of its reports.', 30),
    messages: described(Count, 'The messages in its reports.', 1200),
    passed: described(Count, 'Messages that pass DMARC.', 1180),
    failed: described(Count, 'Messages that fail DMARC.', 20),
    ...valuesOf(STOPPED, 'name', ({ name, example }) =>
      described(
        v.nullable(Count),
        `Messages that it ${name} because of the policy. Null if rows of the reports have expired.`,
        example,
      ),
    ),
    last_at: Time,
  }),
  'How one reporter counts the messages of a domain.',
);

export const DmarcReporters = named(
  'DmarcReporters',
  v.object({
    object: typeField('dmarc_reporters'),
    ...DAYS,
    reporters: described(
      v.array(ReporterSums),
      'Those with the most messages first; at most 100. Reports that are only partly in the period are counted in full.',
      [],
    ),
  }),
  'How each reporter counts the messages of a domain.',
);
