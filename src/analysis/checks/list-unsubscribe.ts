/** `list_unsubscribe`: mail programs can show a reader of marketing mail a way out. */

import { addressDomain } from '../../lib/domain-names.ts';
import {
  absentField,
  type Check,
  type Context,
  type Finding,
  fail,
  pass,
  rfc,
  warn,
} from '../check.ts';
import { fromDomain, fullHostName } from '../dns/names.ts';
import { unlessMarketing } from '../kind.ts';
import { fields } from '../mime/message.ts';

/**
 * What is usable but not well formed warns: most programs read it, not all. The fix always names
 * both fields, so that with it `one_click` is cured as well. Nothing is ever called.
 */
export const listUnsubscribeCheck: Check = {
  id: 'list_unsubscribe',
  category: 'compliance',
  points: 4,
  label: 'List-Unsubscribe',
  issueTitle: 'The List-Unsubscribe field is missing or faulty',
  reference: rfc(2369, '3.2'),
  publicEvidence: {
    values: 'unquoted',
    https: 'host',
    mailto: 'host',
    http: 'host',
    problem: 'shown',
  },
  run(context) {
    const other = unlessMarketing(context, 'List-Unsubscribe was not looked for.');
    if (other) return other;
    const found = context.fact(listUnsubscribeField);
    if (found.values.length === 0)
      return absentField(context.message, 'List-Unsubscribe', {
        ...ABSENT,
        fix: oneClickFix(context, 'Add these two fields'),
      });
    return { ...judge(context, found), evidence: evidenceOf(found) };
  },
};

const ABSENT = {
  title: 'Your message has no List-Unsubscribe field.',
  detail:
    'Gmail, Yahoo and others show an unsubscribe button from it. Readers who find none press the spam button instead, which harms all of your mail.',
};

/** The two fields that RFC 8058 asks for, written out for the sender's own domain. */
export function oneClickFix(context: Context, lead: string): string {
  const domain = fromDomain(context) ?? 'example.com';
  return `${lead}, with an address of your own that tells the reader and the list apart, and have the DKIM signer sign both: "List-Unsubscribe: <https://${domain}/unsubscribe/TOKEN>, <mailto:unsubscribe@${domain}?subject=TOKEN>" and "List-Unsubscribe-Post: List-Unsubscribe=One-Click".`;
}

function evidenceOf({ values, https, http, mailto, problem }: ListUnsubscribe) {
  const shown = (list: string[]) => list.slice(0, 5).map((text) => text.slice(0, 500));
  return {
    values: shown(values),
    https: shown(https),
    mailto: shown(mailto),
    http: shown(http),
    ...(problem && { problem: `It ${problem}.` }),
  };
}

function judge(context: Context, found: ListUnsubscribe): Finding {
  const { values, https, http, mailto, problem } = found;
  const rewrite = oneClickFix(context, 'Write the two fields like this');
  if (https.length + http.length + mailto.length === 0)
    return fail({
      title: 'Your List-Unsubscribe field cannot be used.',
      detail: `It ${problem ?? 'holds no web or mail address that can be opened'}. Mail programs show no unsubscribe button then.`,
      fix: rewrite,
    });
  if (values.length > 1)
    return warn({
      title: `Your message has ${values.length.toLocaleString('en')} List-Unsubscribe fields.`,
      detail:
        'Only one is allowed, and programs differ in which they take. Several addresses belong into one field, with commas between.',
      fix: 'Remove all List-Unsubscribe fields but one; look for a service that adds its own to the one you set.',
      reference: rfc(2369, '2'),
    });
  if (problem !== null)
    return warn({
      title: 'Your List-Unsubscribe field is not well formed.',
      detail: `It ${problem}. Some programs read what comes before that, others ignore the field.`,
      fix: rewrite,
    });
  if (https.length + mailto.length === 0)
    return fail({
      title: 'Your List-Unsubscribe field has only an unencrypted address.',
      detail:
        'Its address begins with http. Mail programs use https and mailto addresses alone, so most show no unsubscribe button.',
      fix: rewrite,
    });
  return pass(
    `Your message has a List-Unsubscribe field with ${waysOut(found)}.`,
    'Mail programs can offer the reader to unsubscribe. The address was not called.',
  );
}

function waysOut({ https, mailto }: ListUnsubscribe): string {
  if (https.length === 0) return 'a mail address';
  return mailto.length === 0 ? 'a web address' : 'a web and a mail address';
}

// Reads the List-Unsubscribe field (RFC 2369 §2, §3.2) and its companion List-Unsubscribe-Post (RFC 8058).

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
