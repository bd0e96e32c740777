/** Schemas of the history of a test. */

import * as v from 'valibot';
import {
  described,
  exampleId,
  named,
  PAGE_QUERY,
  Text,
  Time,
  typeField,
  Url,
} from '../../http/schemas.ts';

const HistoryFinding = named(
  'HistoryFinding',
  v.object({
    id: described(v.string(), 'The ID of the check.', 'dmarc_policy'),
    label: described(v.string(), 'The name of the check.', 'DMARC policy'),
    title: described(
      v.string(),
      'The problem in one sentence.',
      'DMARC policy is p=none: failing mail is still delivered',
    ),
    status: described(v.picklist(['fail', 'warn']), 'How serious the problem is.', 'warn'),
  }),
  'A problem that appeared or disappeared between two tests.',
);
export type HistoryFinding = v.InferOutput<typeof HistoryFinding>;

export const HistoryEntry = named(
  'TestHistoryEntry',
  v.object({
    id: described(v.string(), 'The ID of the test.', exampleId('test')),
    object: typeField('test_history_entry'),
    report_url: described(Url, 'The page of the test.'),
    name: described(Text, 'The name of the test.', 'Spring newsletter'),
    subject: Text,
    from_address: described(Text, 'The From address of the message.'),
    matched_by: described(
      v.picklist(['name', 'sender']),
      'What the tests of this history have in common: their name, or their From address.',
    ),
    received_at: described(v.nullable(Time), 'When the message arrived.'),
    completed_at: described(v.nullable(Time), 'When the result was known.'),
    score: described(v.nullable(v.number()), 'The score from 0 to 100. Null without one.', 92),
    grade: described(Text, 'The grade. Null without a score.', 'A'),
    ruleset: described(
      Text,
      'Version of the rules. Different versions can give the same message different results.',
      '1',
    ),
    previous_id: described(Text, 'The ID of the previous test. Null for the first one.'),
    change: described(
      v.nullable(v.number()),
      'The change of the score since the previous test. Null for the first test, and if one of the two has no score.',
      6,
    ),
    new_findings: described(
      v.array(HistoryFinding),
      'Problems that the previous test did not have, or had only as a warning. The most important come first.',
    ),
    resolved_findings: described(
      v.array(HistoryFinding),
      'Problems of the previous test that the checks no longer find. A check that did not run resolves nothing.',
    ),
  }),
  'A completed test, and what changed since the previous one with the same name or sender.',
  {
    report_url: `https://mail.example.com/tests/${exampleId('test')}`,
    from_address: 'news@example.com',
    matched_by: 'name',
    previous_id: 'test_01kacz7m8q4x2c9n6t3r1w5y0a',
    new_findings: [],
    resolved_findings: [
      {
        id: 'dmarc_policy',
        label: 'DMARC policy',
        title: 'DMARC policy is p=none: failing mail is still delivered',
        status: 'warn',
      },
    ],
  },
);
export type HistoryEntry = v.InferOutput<typeof HistoryEntry>;

export const HistoryQuery = v.strictObject(PAGE_QUERY);
