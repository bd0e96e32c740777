/** API schemas of the files that are served for a domain. */

import * as v from 'valibot';
import { MAX_MAX_AGE, STS_MODES } from '../analysis/checks/mta-sts.ts';
import { RECORD } from '../domains/finding.ts';
import {
  described,
  idOf,
  maxCharacters,
  named,
  oneOf,
  Time,
  typeField,
  wholeNumber,
} from '../http/schemas.ts';

/** In seconds. */
export const DAY_S = 86_400;
/** Far more than a logo, and a chain of certificates with that logo, have. */
const MAX_FILE_LENGTH = 128 * 1024;

const POLICY = { mode: 'testing' as const, mx: ['mx.example.com'], max_age: 7 * DAY_S };

const MODE = described(
  oneOf(STS_MODES),
  '`testing`: senders deliver anyway, and report failures. `enforce`: they don’t deliver without verified TLS. `none`: they forget the policy.',
  POLICY.mode,
);

const MX = described(
  v.pipe(
    v.array(
      v.pipe(
        v.string('must be a string'),
        maxCharacters(255, 'is too long'),
        v.trim(),
        v.toLowerCase(),
        // Each is a line of the policy.
        v.regex(/^[\w*.-]+$/, 'must be a host name'),
      ),
      'must be a list of host names',
    ),
    v.maxLength(100, 'must have at most 100 mail servers'),
  ),
  'The mail servers that senders may deliver to. `*.example.com` stands for any one label. By default, those of the MX records.',
  POLICY.mx,
);

const MAX_AGE = described(
  wholeNumber(DAY_S, MAX_MAX_AGE),
  'For how many seconds senders remember the policy.',
  POLICY.max_age,
);

const File = (text: string, example: string) =>
  described(
    v.pipe(
      v.string('must be a string'),
      maxCharacters(MAX_FILE_LENGTH, `must have at most ${MAX_FILE_LENGTH} characters`),
    ),
    text,
    example,
  );

const NewPolicy = named(
  'UpdateMtaStsPolicy',
  v.strictObject({
    mode: MODE,
    mx: v.optional(MX),
    max_age: v.optional(MAX_AGE, POLICY.max_age),
  }),
  'An MTA-STS policy.',
  POLICY,
);

const NewLogo = named(
  'UpdateBimiLogo',
  v.strictObject({
    logo: v.optional(
      File(
        'The logo as SVG Tiny PS. By default, that of a new certificate, or the current one.',
        '<svg …',
      ),
    ),
    certificate: v.optional(
      v.nullable(
        File(
          'The mark certificate in PEM, followed by those of its authorities. Null for none.',
          '-----BEGIN CERTIFICATE-----…',
        ),
      ),
    ),
  }),
  'A BIMI logo and its certificate. Omitted files keep their content.',
  {},
);

export const HostedFilesPatch = named(
  'UpdateHostedFiles',
  v.strictObject({
    mta_sts: described(
      v.optional(v.nullable(NewPolicy)),
      'The MTA-STS policy. Null removes it, which is refused while senders enforce it, unless its mode is `none`.',
    ),
    bimi: described(v.optional(v.nullable(NewLogo)), 'The BIMI logo. Null removes it.'),
  }),
  'The changes to the files of a domain.',
  { mta_sts: POLICY },
);
export type HostedFilesPatch = v.InferOutput<typeof HostedFilesPatch>;

const STORED = { ...POLICY, id: 'k3v9k2m7x5t1w8b4q3v9', changed_at: '2026-11-20T09:00:00.000Z' };

export const HostedFiles = named(
  'HostedFiles',
  v.object({
    object: typeField('hosted_files'),
    domain_id: idOf('dom', 'The ID of the domain.'),
    mta_sts: described(
      v.nullable(
        named(
          'MtaStsPolicy',
          v.object({
            mode: MODE,
            mx: MX,
            max_age: MAX_AGE,
            id: described(
              v.string(),
              'The id in the DNS record. It changes with the policy.',
              STORED.id,
            ),
            changed_at: described(Time, 'When the policy was last changed.'),
          }),
          'An MTA-STS policy that is served.',
          STORED,
        ),
      ),
      'The MTA-STS policy. Null if none is served.',
    ),
    mail_servers: described(
      v.nullable(v.array(v.string())),
      'The hosts of the MX records. Null if the lookup failed.',
      POLICY.mx,
    ),
    advice: described(
      v.string(),
      'Which mode MX records and TLS reports allow.',
      'Start with testing: senders deliver anyway, and report what would fail.',
    ),
    records: described(
      v.array(
        named(
          'HostedFileRecord',
          v.object({
            ...RECORD,
            purpose: described(v.string(), 'What the record is for.', 'Points to this service.'),
          }),
          'A DNS record that leads to a file.',
        ),
      ),
      'The DNS records to publish. A DNS plan for the checks `mta_sts` and `bimi` has them, too.',
    ),
  }),
  'The hosted files of a domain.',
);
export type HostedFiles = v.InferOutput<typeof HostedFiles>;
