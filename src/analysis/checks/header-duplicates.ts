/** `header_duplicates`: fields that must be unique are not repeated. */

import { type Check, fail, pass, rfc } from '../check.ts';

// RFC 5322 §3.6 and RFC 2045 §3–§8. From and Message-ID are left to their own checks, so that a
// repetition is reported once. `date`, `subject` and `recipients` leave repetition to this check.
const UNIQUE_FIELDS = new Map(
  [
    'Date',
    'Sender',
    'Reply-To',
    'To',
    'Cc',
    'Bcc',
    'In-Reply-To',
    'References',
    'Subject',
    'MIME-Version',
    'Content-Type',
    'Content-Transfer-Encoding',
    'Content-ID',
    'Content-Description',
    'Content-Disposition',
  ].map((name) => [name.toLowerCase(), name]),
);

export const headerDuplicates: Check = {
  id: 'header_duplicates',
  category: 'compliance',
  points: 2,
  label: 'Duplicate header fields',
  issueTitle: 'Header fields that must be unique are repeated',
  reference: rfc(5322, '3.6'),
  publicEvidence: { counts: { '*': 'shown' } },
  run({ message }) {
    const counts = new Map<string, number>();
    for (const { key } of message.headers)
      if (UNIQUE_FIELDS.has(key)) counts.set(key, (counts.get(key) ?? 0) + 1);
    const repeated = [...counts].filter(([, count]) => count > 1);
    if (repeated.length === 0)
      return pass(
        'No header field that must be unique is repeated.',
        'All mail servers and email clients read the header in the same way.',
      );
    const names = repeated.map(([key]) => UNIQUE_FIELDS.get(key)!);
    return fail({
      title: `Your message has more than one ${names.join(', ')} field.`,
      detail:
        'Each is allowed only once. Mailbox providers do not know which one the recipient sees: Gmail rejects such mail (550 5.7.1), and others treat it as forged.',
      fix: `Keep only one of each: ${names.join(', ')}. Check whether a program adds its own to the one you set.`,
      evidence: { counts: Object.fromEntries(repeated) },
    });
  },
};
