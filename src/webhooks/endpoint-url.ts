/** Which addresses events and alerts may be sent to: https, and public unless the operator has opened a network. */

import { isIP } from 'node:net';
import * as v from 'valibot';
import type { Network } from '../lib/addresses.ts';
import { normalizeDomain } from '../lib/domain-names.ts';
import { AppError } from '../lib/errors.ts';
import { mayConnect } from '../net/address-guard.ts';
import { readHttpTarget } from '../net/http/web.ts';

const URL_MAX = 2048;
const EXAMPLE = 'https://example.com/hooks';

/**
 * What can be told from the text alone; the rest is up to `requireOpen`. Gives the address as the
 * parser writes it, so that people are shown the one that is called: `https://2130706433` is
 * `https://127.0.0.1/`.
 */
export const EndpointUrl = v.pipe(
  v.string('must be text'),
  v.check(
    (text) => textFault(text) === null,
    ({ input }) => textFault(input)!,
  ),
  v.transform((text) => new URL(text).href),
  v.metadata({
    jsonSchema: { type: 'string', pattern: '^https://', maxLength: URL_MAX },
  }),
);

function textFault(text: string): string | null {
  if (text.length > URL_MAX) return `must have at most ${URL_MAX} characters`;
  if (!/^https:\/\//i.test(text))
    return `must begin with https://, as in ${EXAMPLE}: nothing is sent without TLS`;
  // What a parser would take out or turn round in silence, and what nobody sees.
  if (/[\s\\\p{Cc}\p{Cf}\p{Cs}]/u.test(text))
    return 'must have no spaces, backslashes, control or invisible characters: encode what belongs in it (%20)';
  const [beforePath] = /(?<=^https:\/\/)[^/?#]*/i.exec(text)!;
  if (beforePath.includes('@')) return 'must have no user name or password: none is sent';
  // A parser skips the slashes before a host, and takes what comes next for one.
  if (beforePath === '' || !URL.canParse(text))
    return `must be an address that can be read, such as ${EXAMPLE}`;
  if (new URL(text).href.length > URL_MAX)
    return `must have at most ${URL_MAX} characters once it is encoded`;
  if (text.includes('#')) return 'must have no # part: it never reaches a server';
  const goal = readHttpTarget(text);
  if (typeof goal === 'string')
    return 'must have a port of the web: leave it out, or take one from 1024 on that no other protocol has';
  return nameFault(goal.host);
}

function nameFault(host: string): string | null {
  if (isIP(host) !== 0) return null;
  if (normalizeDomain(host) === null)
    return `must have a host name that can exist, as in ${EXAMPLE}`;
  if (/(?:^|\.)localhost$/.test(host))
    return 'must not lead to localhost: give a name or an address by which others reach the receiver';
  return null;
}

/**
 * Throws `validation_failed` for a host that is known not to be public, unless it has been opened.
 * `param`: the field that has the address.
 */
export function requireOpen(url: string, opened: Network[], param = 'url'): void {
  const message = openFault(url, opened);
  if (message === null) return;
  throw new AppError('validation_failed', `Wrong: ${param} ${message}.`, [
    { param, code: 'invalid', message },
  ]);
}

/** Half a sentence on why nothing is sent there; null where something may be. */
export function openFault(url: string, opened: Network[]): string | null {
  const goal = readHttpTarget(url);
  return typeof goal === 'string' ? goal : closedFault(goal.host, opened);
}

function closedFault(host: string, opened: Network[]): string | null {
  if (isIP(host) !== 0)
    return mayConnect(host, opened)
      ? null
      : `must not lead to ${host}, which is not a public address: give a public one, or have the operator open its network (WEBHOOK_ALLOW_NETWORKS)`;
  // Such a name means something on the operator's network alone.
  return host.includes('.') || opened.length > 0
    ? null
    : `must have a full host name, as in ${EXAMPLE}: ${host} means something on a network of one's own alone, and the operator has opened none (WEBHOOK_ALLOW_NETWORKS)`;
}
