/** API schemas of the score and the findings of a test. */

import * as v from 'valibot';
import { CATEGORIES, CHECK_STATUSES } from '../../analysis/check.ts';
import { FINDING_FIELDS, Fix, Reference } from '../../domains/finding.ts';
import { described, named, Text, Time } from '../../http/schemas.ts';

export const CategoryScore = named(
  'CategoryScore',
  v.object({
    name: described(v.picklist(CATEGORIES), 'The category of checks.'),
    score: described(
      v.nullable(v.number()),
      'Score of the category, from 0 to 100. Null if none of its checks ran.',
    ),
    weight: described(v.number(), 'Weight of the category in the overall score.'),
    earned: described(v.number(), 'Points that the checks of the category earned.'),
    points: described(v.number(), 'Points that the checks of the category could earn.'),
  }),
  'The score of one category of checks.',
  { name: 'authentication', score: 90, weight: 40, earned: 36, points: 40 },
);

const EXAMPLE_CHECK = {
  id: 'dmarc_policy',
  category: 'authentication',
  label: 'DMARC policy',
  status: 'warn',
  title: 'DMARC policy is p=none: failing mail is still delivered',
  detail: 'Anyone can send mail that claims to be from example.com, and most of it is delivered.',
  points: 4,
  earned: 2,
  gain: 2,
  goes_with: null,
} as const;

export const CheckItem = named(
  'Check',
  v.object({
    id: described(v.string(), 'The ID of the check, which never changes.'),
    category: described(v.picklist(CATEGORIES), 'The category that the points count in.'),
    label: v.string(),
    status: described(
      v.picklist(CHECK_STATUSES),
      '`info` earns no points. `error`: the check could not be completed. `skipped`: it does not apply. Neither `error` nor `skipped` counts.',
    ),
    ...FINDING_FIELDS,
    earned: described(
      v.nullable(v.number()),
      'Points that the check earned. Null if it did not run or is informational.',
    ),
    gain: described(v.number(), 'How much the overall score would rise if only this check passed.'),
    goes_with: described(
      Text,
      'The ID of the check whose fix also solves this problem, because both have the same cause. Null if there is none.',
      'dkim',
    ),
    reference: described(Reference, 'The rule that the check applies.'),
    fix: described(v.nullable(Fix), 'What to change. Null if there is nothing to fix.'),
  }),
  'The finding of one check.',
  EXAMPLE_CHECK,
);

export const PreviousResult = named(
  'PreviousResult',
  v.object({
    score: described(v.nullable(v.number()), 'The score, from 0 to 100.'),
    grade: described(Text, 'The grade.'),
    ruleset: described(Text, 'Version of the rules that produced the result.'),
    completed_at: described(Time, 'When the analysis completed.'),
  }),
  'The result of a test before its last reanalysis.',
  { score: 88, grade: 'B', ruleset: '1', completed_at: '2026-11-20T10:00:04.000Z' },
);

export const Cap = named(
  'ScoreCap',
  v.object({
    limit: described(v.number(), 'The highest possible score.'),
    reason: described(v.string(), 'Why the score is capped.'),
    reference: described(v.string(), 'The rule behind the cap.'),
  }),
  'The highest score possible while certain findings remain.',
  {
    limit: 40,
    reason: 'SPF and DKIM fail, so mailbox providers reject the message.',
    reference: 'https://support.google.com/mail/answer/81126',
  },
);
