/** The settings of a name server with dynamic updates that are signed with a shared key. */

import { isIP } from 'node:net';
import * as v from 'valibot';
import { normalizeDomain } from '../../lib/domain-names.ts';
import { TSIG_ALGORITHMS } from '../../net/dns-update/tsig.ts';
import type { ServerField } from '../server.ts';

const MAX_ZONES = 100;

export const splitNames = (text: string): string[] =>
  text.split(/[\s,]+/).filter((name) => name !== '');

export const ZONES_FIELD: ServerField = {
  name: 'zones',
  kind: 'text',
  isSecret: false,
  isRequired: false,
  label: 'Zones',
  hint: 'The zones that the key can change, separated by commas. If empty, the service asks the server for the zone of each name.',
  placeholder: 'example.com, example.org',
  documentation:
    'The zones that the server may change, separated by commas. If omitted, the service asks the server for the zone of each name.',
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
    name: 'server',
    kind: 'text',
    isSecret: false,
    isRequired: true,
    label: 'Server',
    hint: 'The host name or IP address of the primary server, with `:port` if it is not 53.',
    placeholder: 'ns1.example.com',
    documentation:
      'The host name or IP address of the primary name server, with `:port` if it is not 53. Put an IPv6 address with a port in brackets.',
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
    name: 'key_name',
    kind: 'text',
    isSecret: false,
    isRequired: true,
    label: 'Key name',
    hint: 'The name of the TSIG key, exactly as on the server.',
    placeholder: 'deliverability-key',
    documentation: 'The name of the TSIG key, exactly as on the name server.',
    example: 'deliverability-key',
    schema: v.pipe(
      v.string('must be a string'),
      v.transform((text) => normalizeDomain(text) ?? ''),
      v.minLength(1, 'must be the name of a TSIG key, as in deliverability-key'),
    ),
  },
  {
    name: 'key_algorithm',
    kind: 'choice',
    isSecret: false,
    isRequired: true,
    choices: [...TSIG_ALGORITHMS],
    label: 'Algorithm',
    hint: 'The algorithm of the TSIG key.',
    documentation: 'The algorithm of the TSIG key.',
    example: 'hmac-sha256',
    schema: v.picklist(TSIG_ALGORITHMS, `must be one of ${TSIG_ALGORITHMS.join(', ')}`),
  },
  {
    name: 'key_secret',
    kind: 'text',
    isSecret: true,
    isRequired: true,
    label: 'Key secret',
    hint: 'The secret of the TSIG key in Base64. It is not shown again.',
    documentation: 'The secret of the TSIG key, in Base64. Responses never include it.',
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
