/** Reads the List-Unsubscribe field (RFC 2369 §2, §3.2) and its companion List-Unsubscribe-Post (RFC 8058). */

import { addressDomain } from '../../lib/domain-names.ts';
import type { Context } from '../check.ts';
import { fullHostName } from '../infrastructure/host-names.ts';
import { fields } from '../message.ts';

export interface ListUnsubscribe {
  /** The values of all fields of that name; more than one is one too many. */
  values: string[];
  /** The addresses between angle brackets in the first field, white space within them taken out. */
  uris: string[];
  /** Those of them that anybody can open: with a public host name, and without a user name before it. */
  https: string[];
  http: string[];
  mailto: string[];
  /** What in the first field is not as the standard has it, as the end of "It …"; null for nothing. */
  problem: string | null;
  /** The values of all List-Unsubscribe-Post fields. */
  post: string[];
}

// More than any program offers; the rest of a hostile field is not looked at.
const MAX_URIS = 50;
const MAX_LENGTH = 64 * 1024;

/** A fact: ask for it by `context.fact(listUnsubscribeField)`. */
export function listUnsubscribeField({ message }: Context): ListUnsubscribe {
  const values = fields(message, 'list-unsubscribe').map(({ value }) => value);
  const { uris, problem } = parseUris((values[0] ?? '').slice(0, MAX_LENGTH));
  const opens = (protocol: string) => uris.filter((uri) => schemeOf(uri) === protocol);
  return {
    values,
    uris,
    https: opens('https:'),
    http: opens('http:'),
    mailto: opens('mailto:'),
    problem,
    post: fields(message, 'list-unsubscribe-post').map(({ value }) => value),
  };
}

/** `<…>, <…>` with comments between; ends at the first thing that is neither. */
function parseUris(text: string): { uris: string[]; problem: string | null } {
  const uris: string[] = [];
  let at = skipComments(text, 0);
  if (at >= text.length) return { uris, problem: 'is empty' };
  while (uris.length < MAX_URIS) {
    if (text[at] !== '<')
      return { uris, problem: 'has an address that does not stand in angle brackets' };
    const end = text.indexOf('>', at);
    if (end < 0) return { uris, problem: 'has an angle bracket that is never closed' };
    uris.push(text.slice(at + 1, end).replace(/\s+/g, ''));
    at = skipComments(text, end + 1);
    if (at >= text.length) break;
    if (text[at] !== ',') return { uris, problem: 'has no comma between its addresses' };
    at = skipComments(text, at + 1);
    // A comma at the end is common, and harmless.
    if (at >= text.length) break;
  }
  return { uris, problem: null };
}

/** The place of the next character that is neither white space nor in a comment. */
function skipComments(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const char = text[at]!;
    if (char === '(') depth++;
    else if (char === ')' && depth > 0) depth--;
    else if (depth === 0 && !/\s/.test(char)) return at;
  }
  return text.length;
}

/**
 * `https:`, `http:` or `mailto:` of an address that anybody on the Internet can open; null for any
 * other. Programs refuse a user name before the host.
 */
function schemeOf(uri: string): string | null {
  if (/^mailto:/i.test(uri)) return isMailto(uri) ? 'mailto:' : null;
  // Without a host after the slashes the parser would take the path for one.
  if (!/^https?:\/\/[^/?#]/i.test(uri) || !URL.canParse(uri)) return null;
  const { protocol, hostname, username, password } = new URL(uri);
  const secret = username !== '' || password !== '';
  return fullHostName(hostname) !== null && !secret ? protocol : null;
}

function isMailto(uri: string): boolean {
  const address = uri.slice('mailto:'.length).split('?', 1)[0] ?? '';
  const domain = addressDomain(address.replace(/%40/i, '@').slice(0, 1000));
  return domain !== null && fullHostName(domain) !== null;
}
