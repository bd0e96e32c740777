/** `header_duplicates`: fields that may be there once are there once. */

import { type Check, fail, pass, rfc } from '../check.ts';

// RFC 5322 §3.6 and RFC 2045 §3–§8. From and Message-ID are left to the checks of their own, so
// that one doubled field is one finding; `date`, `subject` and `recipients` leave it to this one.
const ONCE = new Map(
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
  label: 'Header duplicates',
  issueTitle: 'Header fields that may be there once are repeated',
  reference: rfc(5322, '3.6'),
  publicEvidence: { counts: { '*': 'shown' } },
  run({ message }) {
    const counts = new Map<string, number>();
    for (const { key } of message.headers)
      if (ONCE.has(key)) counts.set(key, (counts.get(key) ?? 0) + 1);
    const doubled = [...counts].filter(([, count]) => count > 1);
    if (doubled.length === 0)
      return pass(
        'No field that may be there only once is doubled.',
        'Every receiver reads the same header.',
      );
    const names = doubled.map(([key]) => ONCE.get(key)!);
    return fail({
      title: `Your message has more than one ${names.join(', ')} field.`,
      detail:
        'Each may be there only once. Receivers cannot tell which one a reader will see: Gmail rejects such mail, and others take it for forged.',
      fix: `Remove all but one of each: ${names.join(', ')}. Often a program adds its own to the one that you set.`,
      evidence: { counts: Object.fromEntries(doubled) },
    });
  },
};
