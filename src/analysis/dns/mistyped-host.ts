/** Host names in MX records that hold more than a name: what a form or a person put there, and the name that was meant. */

import { normalizeAddress } from '../../lib/addresses.ts';
import { normalizeDomain } from '../../lib/domain-names.ts';
import { withoutZone } from './appended-zone.ts';

/** What stands in the name; `invalid`: other characters that no host name has. */
export type HostMistake =
  | 'literal'
  | 'url'
  | 'mailbox'
  | 'priority'
  | 'port'
  | 'quoted'
  | 'invalid';

/** The first that matches names the mistake. */
const SIGNS: [HostMistake, RegExp][] = [
  ['url', /^\W*[a-z]+:\/\//i],
  ['mailbox', /@|^\W*mailto:/i],
  ['priority', /^\W*\d+\s/],
  ['port', /:\d/],
  ['quoted', /["'`\u2018-\u201f]/],
];

/** Null for a name that DNS can look up. `domain`: the one with the MX record, which a form may have appended. */
export function mistypedHost(
  name: string,
  domain: string,
): { mistake: HostMistake; meant: string | null } | null {
  const bare = name.endsWith(`.${domain}`) ? name.slice(0, -(domain.length + 1)) : name;
  if ([name, bare].some((text) => normalizeAddress(text) !== null))
    return { mistake: 'literal', meant: null };
  if (normalizeDomain(name) !== null) return null;
  const mistake = SIGNS.find(([, sign]) => sign.test(name))?.[0] ?? 'invalid';
  return { mistake, meant: mistake === 'invalid' ? null : meantHost(name, domain) };
}

/** Null if it is not certain. */
function meantHost(name: string, domain: string): string | null {
  if (name.includes('@')) return null;
  const text = name
    .replace(/["'`\\<>\u2018-\u201f]/g, '')
    .trim()
    .replace(/^(?:[a-z]+:\/\/|mailto:)/i, '')
    .replace(/^\d+\s+/, '')
    .replace(/\/.*$/, '')
    .replace(/:\d+/, '')
    .replace(/(?<![,;.\s])[,;.\s]+$/, '');
  const host = normalizeDomain(text);
  if (!host?.includes('.') || normalizeAddress(host) !== null) return null;
  return withoutZone(host, domain) ?? host;
}
