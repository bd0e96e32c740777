/** Schemas that the findings about a domain and about a message share. */

import * as v from 'valibot';
import { described, named, Url } from '../http/schemas.ts';

export const Reference = named(
  'Reference',
  v.object({
    name: described(v.string(), 'The name of the document, with its section.'),
    url: described(Url, 'The address of the document.'),
  }),
  'The standard or the published requirement behind a rule.',
  { name: 'RFC 9989 §4.7', url: 'https://www.rfc-editor.org/rfc/rfc9989#section-4.7' },
);

/** Also of the record that verifies a domain. */
export const RECORD = {
  type: described(v.string(), 'The type of the record, such as `TXT`.', 'TXT'),
  name: described(v.string(), 'The full name of the record.', '_dmarc.example.com'),
  value: described(
    v.string(),
    'The value of the record.',
    'v=DMARC1; p=quarantine; rua=mailto:dmarc@example.com',
  ),
};

const DnsRecord = named('DnsRecord', v.object(RECORD), 'A DNS record.');

export const Fix = named(
  'Fix',
  v.object({
    text: described(v.string(), 'What to change, in one or two sentences.'),
    record: v.optional(described(DnsRecord, 'A DNS record to publish.')),
    caution: v.optional(
      described(
        v.string(),
        'What must be true before you publish the record. A plan includes it only if you choose it.',
        'Is 192.0.2.25 your server? If not, there is nothing to publish.',
      ),
    ),
    guide: v.optional(
      described(Reference, 'Instructions of the sending service that was used, if it is known.'),
    ),
  }),
  'The change that resolves a finding.',
  {
    text: 'Change the DMARC policy to p=quarantine.',
    record: {
      type: 'TXT',
      name: '_dmarc.example.com',
      value: 'v=DMARC1; p=quarantine; rua=mailto:dmarc@example.com',
    },
  },
);

/** The fields that both kinds of findings share, in the order of the response. */
export const FINDING_FIELDS = {
  title: v.string(),
  detail: described(v.string(), 'Why the finding matters, or why the check did not run.'),
  evidence: described(
    v.record(v.string(), v.unknown()),
    'The facts behind the finding. The keys depend on the check.',
    { domain: 'example.com', policy: 'none' },
  ),
  points: described(v.number(), 'Points that the check can earn.'),
};
