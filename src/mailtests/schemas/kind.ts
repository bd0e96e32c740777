/** API schemas of the kind of mail whose rules were applied. */

import * as v from 'valibot';
import { KIND_CONFIDENCES } from '../../analysis/check.ts';
import { described, named } from '../../http/schemas.ts';

export const KINDS = ['auto', 'marketing', 'transactional'] as const;

export const CONFIDENCE_TEXT =
  '`certain`: you declared the kind, or fields that only campaigns have show it. `uncertain`: see `alternative`.';

const MailKind = v.picklist(['marketing', 'transactional']);

export const Alternative = named(
  'AlternativeScore',
  v.object({
    kind: described(MailKind, 'The other kind of mail.'),
    score: described(v.nullable(v.number()), 'The score as that kind of mail, from 0 to 100.'),
    grade: described(
      v.nullable(v.picklist(['A', 'B', 'C', 'D', 'F'])),
      'The grade as that kind of mail.',
    ),
  }),
  'The score and grade of a message if it is of the other kind.',
  { kind: 'marketing', score: 75, grade: 'C' },
);

export const JudgedKind = named(
  'DetectedKind',
  v.object({
    kind: described(MailKind, 'The kind of mail whose rules were applied.'),
    by: described(
      v.picklist(['sender', 'message']),
      '`sender`: you declared the kind. `message`: the service detected it.',
    ),
    confidence: described(v.picklist(KIND_CONFIDENCES), CONFIDENCE_TEXT),
    reasons: described(v.array(v.string()), 'What shows the kind, as sentences.'),
  }),
  'The kind of mail whose rules were applied, and the reason.',
  {
    kind: 'marketing',
    by: 'message',
    confidence: 'likely',
    reasons: ['The message has a List-Unsubscribe header field.'],
  },
);
