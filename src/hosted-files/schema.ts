/** API schemas of the files that are served for a domain. */

import * as v from 'valibot';
import { MAX_MAX_AGE, STS_MODES } from '../analysis/checks/mta-sts.ts';
import { RECORD } from '../domains/finding.ts';
import { described, idOf, maxCharacters, named, Time, typeField, Url } from '../http/schemas.ts';
import { normalizeDomain } from '../lib/domain-names.ts';

/** In seconds. */
const DAY = 86_400;
const MAX_MX = 100;
/** Four times the limit of a logo, and far more than a chain of certificates has. */
const MAX_FILE_LENGTH = 128 * 1024;

/** RFC 8461 §3.2: a host name, or `*.` and a host name. */
const MailServer = v.pipe(
  v.string('must be a string'),
  maxCharacters(260, 'is too long for a host name'),
  v.transform((text) => text.trim().replace(/\.$/, '')),
  v.check(
    (text) => normalizeDomain(text.replace(/^\*\./, '')) !== null,
    ({ input }) => `cannot list “${input.slice(0, 60)}”, which is not a host name`,
  ),
  v.metadata({ jsonSchema: { type: 'string', minLength: 1, maxLength: 260 } }),
  v.transform((text) =>
    text.replace(/^((?:\*\.)?)(.+)$/, (_, star, name) => star + normalizeDomain(name)),
  ),
);

const MODE = described(
  v.picklist(STS_MODES, `must have one of the modes ${STS_MODES.join(', ')}`),
  '`testing`: senders report failures, and still deliver. `enforce`: they don’t deliver without verified TLS. `none`: they forget the policy.',
  'testing',
);
const MX_TEXT =
  'The mail servers that senders may deliver to. `*.example.com` stands for any one label.';
const MAX_AGE_TEXT = 'For how many seconds senders remember the policy.';
const LOGO_TEXT = 'The logo as SVG Tiny PS. Its bytes are served as they are.';
const CERTIFICATE_TEXT =
  'The mark certificate (VMC or CMC) in PEM, followed by the certificates of its authorities.';

const File = (text: string) =>
  described(
    v.pipe(
      v.string('must be a string'),
      v.minLength(1, 'must not be empty'),
      maxCharacters(MAX_FILE_LENGTH, `must have at most ${MAX_FILE_LENGTH} characters`),
    ),
    text,
  );

export const HostedFilesPatch = named(
  'UpdateHostedFiles',
  v.strictObject({
    mta_sts: described(
      v.optional(
        v.nullable(
          v.strictObject({
            mode: MODE,
            mx: described(
              v.optional(
                v.pipe(
                  v.array(MailServer, 'must have a list of mail servers'),
                  v.maxLength(MAX_MX, `must list at most ${MAX_MX} mail servers`),
                  v.transform((hosts) => [...new Set(hosts)]),
                ),
              ),
              `${MX_TEXT} By default, those of the MX records.`,
              ['mx.example.com'],
            ),
            max_age: described(
              v.optional(
                v.pipe(
                  v.number('must have a number of seconds'),
                  v.integer('must have a whole number of seconds'),
                  v.minValue(DAY, `must be remembered for at least ${DAY} seconds`),
                  v.maxValue(MAX_MAX_AGE, `must be remembered for at most ${MAX_MAX_AGE} seconds`),
                ),
                7 * DAY,
              ),
              MAX_AGE_TEXT,
              7 * DAY,
            ),
          }),
        ),
      ),
      'The MTA-STS policy. Null removes it, which is refused in enforce mode.',
    ),
    bimi: described(
      v.optional(
        v.nullable(
          v.strictObject({
            logo: v.optional(File(`${LOGO_TEXT} By default, that of a new certificate.`)),
            certificate: v.optional(v.nullable(File(`${CERTIFICATE_TEXT} Null removes it.`))),
          }),
        ),
      ),
      'The BIMI logo. Omitted files keep their content. Null removes both.',
    ),
  }),
  'The changes to the files of a domain. Omitted ones stay.',
  { mta_sts: { mode: 'testing', mx: ['mx.example.com'], max_age: 7 * DAY } },
);
export type HostedFilesPatch = v.InferOutput<typeof HostedFilesPatch>;

const EXAMPLE = {
  mta_sts: {
    mode: 'testing',
    mx: ['mx.example.com'],
    max_age: 7 * DAY,
    id: 'k3v9k2m7x5t1w8b4q3v9',
    url: 'https://mta-sts.example.com/.well-known/mta-sts.txt',
    changed_at: '2026-11-20T09:00:00.000Z',
  },
  bimi: null,
  mail_servers: ['mx.example.com'],
} as const;

export const HostedFiles = named(
  'HostedFiles',
  v.object({
    object: typeField('hosted_files'),
    domain_id: idOf('dom', 'The ID of the domain.'),
    mta_sts: described(
      v.nullable(
        v.object({
          mode: MODE,
          mx: described(v.array(v.string()), MX_TEXT),
          max_age: described(v.number(), MAX_AGE_TEXT),
          id: described(v.string(), 'The id in the DNS record. It changes with the policy.'),
          url: described(Url, 'Where senders fetch the policy.'),
          changed_at: described(Time, 'When the policy was last changed.'),
        }),
      ),
      'The MTA-STS policy. Null if none is served.',
      EXAMPLE.mta_sts as never,
    ),
    bimi: described(
      v.nullable(
        v.object({
          logo_url: described(Url, 'Where receivers fetch the logo. It changes with the logo.'),
          certificate_url: described(
            v.nullable(Url),
            'Where receivers fetch its certificate. Null if there is none.',
          ),
          certificate_expires_at: v.nullable(Time),
        }),
      ),
      'The BIMI logo. Null if none is served.',
    ),
    mail_servers: described(
      v.nullable(v.array(v.string())),
      'The hosts of the MX records. Null if the lookup failed.',
      ['mx.example.com'],
    ),
    unlisted: described(
      v.array(v.string()),
      'Those of them that the policy doesn’t list. In enforce mode, senders don’t deliver to them.',
      [],
    ),
    advice: described(
      v.object({
        mode: described(v.nullable(v.picklist(STS_MODES)), 'The mode to set. Null for no change.'),
        text: described(v.string(), 'Why, in sentences.'),
      }),
      'Which mode TLS reports allow.',
      { mode: null, text: 'Stay in testing until TLS reports of 7 days show no failure.' },
    ),
    records: described(
      v.array(v.object({ ...RECORD, purpose: described(v.string(), 'What the record is for.') })),
      'The DNS records to publish, after the files were saved. A DNS plan for the checks `mta_sts` and `bimi` has them, too.',
    ),
  }),
  'The files that the service serves for a domain.',
  EXAMPLE as never,
);
export type HostedFiles = v.InferOutput<typeof HostedFiles>;
