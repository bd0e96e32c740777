/** `list_unsubscribe`: email clients can show an unsubscribe button for marketing mail. */

import { addressDomain } from '../../lib/domain-names.ts';
import {
  type Check,
  type Context,
  type Finding,
  fail,
  missingField,
  pass,
  rfc,
  warn,
} from '../check.ts';
import { fromDomain, fullHostName } from '../dns/names.ts';
import { skipForwarded } from '../forwarding/explain.ts';
import { skipUnlessMarketing } from '../kind.ts';
import { fields, type Message } from '../mime/message.ts';
import { ownDomainFix } from '../sending-services/ownership.ts';
import { tagsInUrl } from './merge-tags.ts';

/**
 * A usable but malformed field warns: most email clients read it, but not all. The fix always names
 * both fields, so that it also resolves `one_click`. The addresses are never requested.
 */
export const listUnsubscribeCheck: Check = {
  id: 'list_unsubscribe',
  category: 'compliance',
  points: 4,
  label: 'List-Unsubscribe',
  issueTitle: 'List-Unsubscribe is missing or invalid',
  reference: rfc(2369, '3.2'),
  dependsOnKind: true,
  publicEvidence: {
    values: 'unquoted',
    https: 'host',
    mailto: 'host',
    http: 'host',
    problem: 'shown',
  },
  run(context) {
    const title = 'List-Unsubscribe was not checked.';
    const skipFinding = skipForwarded(context, title) ?? skipUnlessMarketing(context, title);
    if (skipFinding) return skipFinding;
    const found = context.fact(listUnsubscribeField);
    if (found.values.length === 0)
      return missingField(context.message, 'List-Unsubscribe', {
        ...ABSENT,
        fix: oneClickFix(context, 'Add these two fields'),
      });
    return { ...evaluateField(context, found), evidence: evidenceOf(found) };
  },
};

const ABSENT = {
  title: 'Your message has no List-Unsubscribe field.',
  detail:
    'Gmail, Yahoo and others use it to show an unsubscribe button. Recipients who see no button report spam instead, which harms your sender reputation.',
};

/** Tells the sender to set the two fields of RFC 8058, written out for their domain, after `lead`. */
export function oneClickFix(context: Context, lead: string): string {
  const from = fromDomain(context);
  // Nobody can receive unsubscribe requests at gmail.com or at the domain of a service.
  const own = from === null ? null : ownDomainFix(from);
  const domain = from === null || own !== null ? 'your-domain.example' : from;
  return `${own ? `${own.text} ` : ''}${lead}: "List-Unsubscribe: <https://${domain}/unsubscribe/TOKEN>, <mailto:unsubscribe@${domain}?subject=TOKEN>" and "List-Unsubscribe-Post: List-Unsubscribe=One-Click". Use your own addresses, with a token that identifies the recipient and the list. Sign both fields with DKIM.`;
}

function evidenceOf({ values, https, http, mailto, problem }: ListUnsubscribe) {
  const truncated = (list: string[]) => list.slice(0, 5).map((text) => text.slice(0, 500));
  return {
    values: truncated(values),
    https: truncated(https),
    mailto: truncated(mailto),
    http: truncated(http),
    ...(problem && { problem: `It ${problem}.` }),
  };
}

function evaluateField(context: Context, found: ListUnsubscribe): Finding {
  const { values, https, http, mailto, problem } = found;
  const rewrite = oneClickFix(context, 'Write the two fields like this');
  if (problem === ENCODED)
    return fail({
      title: 'Your List-Unsubscribe field is encoded, so email clients cannot read it.',
      detail: `It ${problem}, which are allowed only in text and names. PHPMailer, Python’s email package and several plugins encode long URLs like this. Email clients show no unsubscribe button.`,
      fix: `Turn the encoding off for this field. In Python, use a policy with a max_line_length of 998; elsewhere, use a URL that fits into a line of 76 characters. ${rewrite}`,
      reference: rfc(2047, '5'),
    });
  const tag = found.unfilled[0];
  if (tag !== undefined)
    return fail({
      title: `Your List-Unsubscribe field contains an unfilled merge tag: ${tag.slice(0, 60)}.`,
      detail: 'Its address unsubscribes nobody, so recipients report spam instead.',
      fix: `Check the name of the field in your template. ${rewrite}`,
    });
  if (https.length + http.length + mailto.length === 0)
    return fail({
      title: 'Your List-Unsubscribe field cannot be used.',
      detail: `It ${problem ?? 'has no usable web or email address'}. Email clients show no unsubscribe button.`,
      fix: rewrite,
    });
  if (values.length > 1)
    return warn({
      title: `Your message has ${values.length.toLocaleString('en')} List-Unsubscribe fields.`,
      detail:
        'Only one is allowed, and email clients differ in which one they use. Put several addresses into one field, separated by commas.',
      fix: 'Keep only one List-Unsubscribe field. Check whether your email service adds its own to the one you set.',
      reference: rfc(2369, '2'),
    });
  if (problem === FOLDED)
    return warn({
      title: 'A URL in your List-Unsubscribe field is broken by a space or a line break.',
      detail:
        'A folded line continues with a space, and email clients differ in whether they remove it from the URL.',
      fix: `Write each URL without a break. Lines may have up to 998 characters, and can be folded after a comma. ${rewrite}`,
      reference: rfc(5322, '2.2.3'),
    });
  if (problem !== null)
    return warn({
      title: 'Your List-Unsubscribe field is malformed.',
      detail: `It ${problem}. Some email clients read the part before the error; others ignore the field.`,
      fix: rewrite,
    });
  if (https.length + mailto.length === 0)
    return fail({
      title: 'Your List-Unsubscribe field has only an unencrypted http address.',
      detail:
        'Email clients use only https and mailto addresses, so most show no unsubscribe button.',
      fix: rewrite,
    });
  return pass(
    `Your message has a List-Unsubscribe field with ${addressKinds(found)}.`,
    'Email clients can show an unsubscribe button. This service did not test the address.',
  );
}

function addressKinds({ https, mailto }: ListUnsubscribe): string {
  if (https.length === 0) return 'an email address';
  return mailto.length === 0 ? 'a web address' : 'a web and an email address';
}

// Reads the List-Unsubscribe field (RFC 2369 §2, §3.2) and its companion List-Unsubscribe-Post (RFC 8058).

export interface ListUnsubscribe {
  /** The values of all fields of that name; only one is allowed. */
  values: string[];
  /** The usable addresses in the first field: with a public host name and without a user name. */
  https: string[];
  http: string[];
  mailto: string[];
  /** Merge tags that were not filled in. */
  unfilled: string[];
  /** What is malformed in the first field, to complete "It …"; null if it is well formed. */
  problem: string | null;
  /** The values of all List-Unsubscribe-Post fields. */
  post: string[];
}

/** RFC 2047 §5 allows encoded words only in text, comments and names, so clients do not decode them here. */
const ENCODED_WORD = /=\?[^?\s]{1,40}\?[bq]\?/i;
const ENCODED = 'consists of encoded words (=?utf-8?Q?…?=)';
const FOLDED = 'has an address with a space or a line break in it';

// Bounds the work on a hostile field.
const MAX_URIS = 50;
const MAX_LENGTH = 64 * 1024;

/** A fact: call `context.fact(listUnsubscribeField)`. */
export const listUnsubscribeField = ({ message }: Context): ListUnsubscribe =>
  readListUnsubscribe(message);

export function readListUnsubscribe(message: Pick<Message, 'headers'>): ListUnsubscribe {
  const values = fields(message, 'list-unsubscribe').map(({ value }) => value);
  const { uris, problem } = parseUris((values[0] ?? '').slice(0, MAX_LENGTH));
  const withProtocol = (protocol: string) => uris.filter((uri) => schemeOf(uri) === protocol);
  return {
    values,
    https: withProtocol('https:'),
    http: withProtocol('http:'),
    mailto: withProtocol('mailto:'),
    unfilled: uris.flatMap(tagsInUrl),
    problem,
    post: fields(message, 'list-unsubscribe-post').map(({ value }) => value),
  };
}

/** Reads `<…>, <…>` with comments between, up to the first syntax error. */
function parseUris(text: string): { uris: string[]; problem: string | null } {
  const uris: string[] = [];
  let problem: string | null = null;
  let at = skipComments(text, 0);
  if (at >= text.length) return { uris, problem: 'is empty' };
  if (ENCODED_WORD.test(text)) return { uris, problem: ENCODED };
  while (uris.length < MAX_URIS) {
    if (text[at] !== '<') return { uris, problem: 'has an address that is not in angle brackets' };
    const end = text.indexOf('>', at);
    if (end < 0) return { uris, problem: 'has an angle bracket that is not closed' };
    const uri = text.slice(at + 1, end).trim();
    if (/\s/.test(uri)) problem ??= FOLDED;
    uris.push(uri.replace(/\s+/g, ''));
    at = skipComments(text, end + 1);
    if (at >= text.length) break;
    if (text[at] !== ',') return { uris, problem: 'has no comma between its addresses' };
    at = skipComments(text, at + 1);
    // A final comma is common and harmless.
    if (at >= text.length) break;
  }
  return { uris, problem };
}

/** The index of the next character that is neither white space nor in a comment. */
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
 * `https:`, `http:` or `mailto:` for a usable address; null for any other. Email clients refuse URLs
 * with a user name.
 */
function schemeOf(uri: string): string | null {
  if (/^mailto:/i.test(uri)) return isMailto(uri) ? 'mailto:' : null;
  // Without a host after the slashes, the parser would read the path as the host.
  if (!/^https?:\/\/[^/?#]/i.test(uri) || !URL.canParse(uri)) return null;
  const { protocol, hostname, username, password } = new URL(uri);
  const hasCredentials = username !== '' || password !== '';
  return fullHostName(hostname) !== null && !hasCredentials ? protocol : null;
}

function isMailto(uri: string): boolean {
  const address = uri.slice('mailto:'.length).split('?', 1)[0] ?? '';
  const domain = addressDomain(address.replace(/%40/i, '@').slice(0, 1000));
  return domain !== null && fullHostName(domain) !== null;
}
