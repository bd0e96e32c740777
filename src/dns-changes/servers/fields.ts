/** The settings of name servers. Fields of the same name have the same rules. */

import { isIP } from 'node:net';
import * as v from 'valibot';
import { normalizeDomain } from '../../lib/domain-names.ts';
import { TSIG_ALGORITHMS } from '../../net/dns-update/tsig.ts';
import type { ServerField } from '../server.ts';

const TOKEN = v.pipe(
  v.string('must be a string'),
  v.trim(),
  v.regex(/^[\x21-\x7e]{8,400}$/, 'must be a token or key, 8 to 400 characters without spaces'),
);

const BASE_URL = v.pipe(
  v.string('must be a string'),
  v.trim(),
  v.regex(
    /^https?:\/\/[\w.:[\]-]+(?:\/[\w./-]*)?$/,
    'must be a URL without a user name and a query, as in https://ns1.example.com:8081',
  ),
  v.check((text) => URL.canParse(text), 'must be a URL'),
  v.transform((text) => text.replace(/\/+$/, '')),
);

export const TEXT = { kind: 'text', isSecret: false, isRequired: true } as const;

export const tokenField = (hint: string, name = 'api_token', label = 'API token'): ServerField => ({
  ...TEXT,
  name,
  label,
  isSecret: true,
  hint,
  example: 'token-0123456789abcdefghijklmnopqrstuvwxyz',
  schema: TOKEN,
});

export const urlField = (hint: string, placeholder: string): ServerField => ({
  ...TEXT,
  name: 'url',
  label: 'URL',
  hint: `${hint} Without https, it must be in a private network that your administrator allows.`,
  placeholder,
  example: 'https://ns1.example.com:8081',
  schema: BASE_URL,
});

const MAX_ZONES = 100;

export const splitNames = (text: string): string[] =>
  text.split(/[\s,]+/).filter((name) => name !== '');

export const ZONES_FIELD: ServerField = {
  ...TEXT,
  name: 'zones',
  isRequired: false,
  label: 'Zones',
  hint: 'The zones that the key can change, separated by commas. If empty, the service asks the server for the zone of each name.',
  placeholder: 'example.com, example.org',
  example: 'example.com, example.org',
  schema: v.pipe(
    v.string('must be a string'),
    v.check(
      (text) => splitNames(text).every((name) => normalizeDomain(name) !== null),
      'must be domain names separated by commas, as in example.com, example.org',
    ),
    v.transform((text) =>
      [...new Set(splitNames(text).map((name) => normalizeDomain(name)!))].join(', '),
    ),
    v.check((text) => splitNames(text).length <= MAX_ZONES, `must have at most ${MAX_ZONES} zones`),
  ),
};

export const RFC2136_FIELDS: ServerField[] = [
  {
    ...TEXT,
    name: 'server',
    label: 'Server',
    hint: 'The host name or IP address of the primary server, with `:port` if it is not 53. Put an IPv6 address with a port in brackets.',
    placeholder: 'ns1.example.com',
    example: 'ns1.example.com',
    schema: v.pipe(
      v.string('must be a string'),
      v.trim(),
      v.check(
        (text) => parseServer(text) !== null,
        'must be a host name or an IP address, as in ns1.example.com or [2001:db8::53]:5353',
      ),
    ),
  },
  {
    ...TEXT,
    name: 'key_name',
    label: 'Key name',
    hint: 'The name of the TSIG key, exactly as on the server.',
    placeholder: 'deliverability-key',
    example: 'deliverability-key',
    schema: v.pipe(
      v.string('must be a string'),
      v.transform((text) => normalizeDomain(text) ?? ''),
      v.minLength(1, 'must be the name of a TSIG key, as in deliverability-key'),
    ),
  },
  {
    ...TEXT,
    name: 'key_algorithm',
    kind: 'choice',
    choices: [...TSIG_ALGORITHMS],
    label: 'Algorithm',
    hint: 'The algorithm of the TSIG key.',
    example: 'hmac-sha256',
    schema: v.picklist(TSIG_ALGORITHMS, `must be one of ${TSIG_ALGORITHMS.join(', ')}`),
  },
  {
    ...TEXT,
    name: 'key_secret',
    isSecret: true,
    label: 'Key secret',
    hint: 'The secret of the TSIG key in Base64.',
    example: 'bm90IGEgcmVhbCBzZWNyZXQsIGJ1dCAzMiBieXRlcy4=',
    schema: v.pipe(
      v.string('must be a string'),
      v.trim(),
      v.regex(
        /^(?:[A-Za-z0-9+/]{4}){4,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
        'must be Base64 of at least 12 bytes, as `tsig-keygen` prints it',
      ),
      v.maxLength(1024, 'must have at most 1024 characters'),
    ),
  },
  ZONES_FIELD,
];

/** Null if it is neither a host name nor an IP address, with or without a port. */
export function parseServer(text: string): { host: string; port: number } | null {
  if (isIP(text) !== 0) return { host: text, port: 53 };
  const [, bracketed, plain, digits] =
    /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const port = digits === undefined ? 53 : Number(digits);
  if (port < 1 || port > 65535) return null;
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? { host: bracketed, port } : null;
  if (plain === undefined) return null;
  const host = isIP(plain) === 0 ? normalizeDomain(plain) : plain;
  return host === null ? null : { host, port };
}
