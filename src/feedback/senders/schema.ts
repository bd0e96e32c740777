/** API schemas of reporters. */

import * as v from 'valibot';
import {
  Count,
  described,
  idOf,
  named,
  PAGE_QUERY,
  Text,
  Time,
  typeField,
} from '../../http/schemas.ts';
import { REPORTER_KINDS } from './reporter.ts';

const REPORTER = {
  name: described(
    v.string(),
    'The domain that signs its messages, or its address where many people share the domain. For `file` and `earlier`, the name in its reports.',
    'receiver.example',
  ),
  label: described(
    Text,
    'What its first report calls it, in lower case. Anyone can write this name.',
    'receiver ltd',
  ),
  kind: described(
    v.picklist(REPORTER_KINDS),
    'What shows who it is. `known`: a receiver or feedback loop that the service knows. `dkim`: a signature. `spf`: SPF alone, which is weaker. `file`: a file that a person uploaded. `earlier`: unknown, because the message is no longer stored.',
    'dkim',
  ),
};

export const FeedbackReporter = named(
  'FeedbackReporter',
  v.object({
    id: idOf('rep'),
    object: typeField('feedback_reporter'),
    ...REPORTER,
    status: described(
      v.picklist(['known', 'confirmed', 'unconfirmed']),
      'Reports of known and confirmed reporters count.',
    ),
    first_at: described(Time, 'When its first report arrived.'),
    last_at: described(Time, 'When its last report arrived.'),
    reports: described(Count, 'The number of its reports with any status.'),
    counted: described(Count, 'The number of those that count.'),
  }),
  'Who sends reports.',
  {
    status: 'confirmed',
    first_at: '2026-10-01T01:00:00.000Z',
    reports: 54,
    counted: 53,
  },
);
export type FeedbackReporter = v.InferOutput<typeof FeedbackReporter>;

export const ReporterPatch = named(
  'UpdateFeedbackReporter',
  v.strictObject({
    confirmed: described(
      v.boolean('must be true or false'),
      'If true, all its reports count, also those that have arrived. If false, they are taken out of all sums.',
    ),
  }),
  'The changes to a reporter.',
  { confirmed: true },
);

export const ReporterListQuery = v.strictObject({ ...PAGE_QUERY });

export const UnconfirmedQuery = v.strictObject({
  domain_id: v.string('is required'),
});

const UnconfirmedReporter = named(
  'UnconfirmedReporter',
  v.object({
    id: idOf('rep'),
    ...REPORTER,
    reports: described(Count, 'The number of its reports about the domain.', 12),
    days: described(Count, 'The days on which the periods of these reports begin.', 12),
    messages: described(Count, 'The messages in its DMARC reports.', 480),
    passed: described(Count, 'Those that pass DMARC, as it says.', 470),
    failed: described(Count, 'Those that fail DMARC, as it says.', 10),
    sessions: described(Count, 'The sessions in its TLS reports.', 0),
    complaints: described(Count, 'Its complaints.', 0),
    last_at: described(Time, 'When the newest of its reports arrived.'),
    agrees: described(
      v.boolean(),
      'Whether it has reported on 10 days over two weeks, and mostly agrees with the reporters that count. The service never confirms it by itself.',
      true,
    ),
  }),
  'A reporter whose reports do not count.',
);

export const UnconfirmedReporters = named(
  'UnconfirmedReporters',
  v.object({
    object: typeField('unconfirmed_reporters'),
    domain_id: v.string(),
    reporter_count: described(Count, 'How many there are.', 1),
    reporters: described(
      v.array(UnconfirmedReporter),
      'Those with the most reports first; at most 100.',
      [],
    ),
  }),
  'The reporters of a domain that nobody has confirmed.',
);
export type UnconfirmedReporters = v.InferOutput<typeof UnconfirmedReporters>;
