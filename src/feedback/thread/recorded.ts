/**
 * The signer of a message according to the Authentication-Results field (RFC 8601) of its mailbox's server. Old messages can't be
 * verified otherwise, because their DKIM keys are no longer published. Only the topmost field counts, if a trusted server wrote it.
 */

import { parseColonList, parseTagList } from '../../analysis/dns/tag-list.ts';
import { withoutComments } from '../../analysis/mime/mail-date.ts';
import type { Message } from '../../analysis/mime/message.ts';
import { authservId } from '../../analysis/receipt/results.ts';
import { addressDomain, normalizeDomain, organizationalDomain } from '../../lib/domain-names.ts';
import { isSpfOfHelo } from '../../lib/mail.ts';
import type { Signer } from '../senders/reporter.ts';

/**
 * The authserv-ids of trusted servers. A leading dot includes all names below it. An empty string stands for Microsoft, whose
 * fields have no authserv-id: the next Received field must be one of Microsoft.
 */
export type TrustedServers = string[];

const MAX_LENGTH = 4000;
const RESULT = /^(dkim|spf|dmarc)(?:\s*\/\s*\d+)?\s*=\s*([a-z]{1,20})\b/i;
const MICROSOFT = /\bby\s+[\w.-]{1,200}\.outlook\.com\b/i;

interface Options {
  /** The From address, in lower case. */
  from: string;
  servers: TrustedServers;
  /** Whether the body begins with the delimiter of its parts: otherwise, Content-Type must be signed. */
  startsAtBoundary: boolean;
}

/** Null if no result is aligned and passes; undefined if no trusted server has recorded results. */
export function recordedSigner(
  { headers }: Pick<Message, 'headers'>,
  { from, servers, startsAtBoundary }: Options,
): Signer | null | undefined {
  const index = headers.findIndex(({ key }) => key === 'authentication-results');
  const value = headers[index]?.value;
  if (value === undefined || !isTrusted(headers, index, servers)) return undefined;
  const results = readResults(value);
  const fromDomain = addressDomain(from);
  if (results === null || fromDomain === null) return null;
  if (results.some(({ method, result }) => method === 'dmarc' && result === 'fail')) return null;
  const passing = (method: string) =>
    results.flatMap((each) => (each.method === method && each.result === 'pass' ? each.text : []));
  for (const text of passing('dkim')) {
    const claimed = alignedIn(text, /(?:^|\s)header\.[di]=(\S*)/gi, fromDomain);
    const domain = claimed && signingDomain(headers, claimed, startsAtBoundary);
    if (domain && isAligned(domain, fromDomain)) return { from, domain, method: 'dkim' };
  }
  for (const text of passing('spf')) {
    const domain = isSpfOfHelo(text)
      ? null
      : alignedIn(text, /(?:^|\s)smtp\.mail(?:from)?=(\S*)/gi, fromDomain);
    if (domain) return { from, domain, method: 'spf' };
  }
  return null;
}

type Headers = Message['headers'];

function isTrusted(headers: Headers, index: number, servers: TrustedServers): boolean {
  const id = authservId(headers[index]!.value);
  return servers.some((server) => {
    if (server !== '') return server.startsWith('.') ? `.${id}`.endsWith(server) : id === server;
    const next = headers.slice(index).find(({ key }) => key === 'received');
    return id === '' && next !== undefined && MICROSOFT.test(next.value);
  });
}

/** A comment that begins or ends within a word, as in `smtp.mailfrom=a@google.com(.evil.example`. */
const COMMENT_IN_WORD = /[^\s;(]\(|\)[^\s;)]/;

/**
 * Null if it is ambiguous where quoted strings and comments end. Both can contain text of the sender, and servers escape it in
 * different ways. For the same reason, a result with a word that is no property is ignored.
 */
function readResults(value: string): { method: string; result: string; text: string }[] | null {
  const plain = value.slice(0, MAX_LENGTH).replace(/"[^"\\();]*"/g, '');
  const isBalanced = plain.split('(').length === plain.split(')').length;
  if (/["\\]/.test(plain) || !isBalanced || COMMENT_IN_WORD.test(plain)) return null;
  return withoutComments(plain)
    .split(';')
    .flatMap((part) => {
      const text = part.replace(/\s*([=/])\s*/g, '$1').trim();
      const [, method, result] = RESULT.exec(text) ?? [];
      if (!method || !result || text.split(/\s+/).some((word) => !word.includes('='))) return [];
      return [{ method: method.toLowerCase(), result: result.toLowerCase(), text }];
    });
}

/** The first domain that is named; null unless all of them are aligned. */
function alignedIn(text: string, pattern: RegExp, fromDomain: string): string | null {
  const domains = Array.from(text.matchAll(pattern), ([, written = '']) =>
    normalizeDomain(written.slice(written.lastIndexOf('@') + 1)),
  );
  const areAligned = domains.every((domain) => domain !== null && isAligned(domain, fromDomain));
  return areAligned ? (domains[0] ?? null) : null;
}

const isAligned = (domain: string, fromDomain: string): boolean =>
  (organizationalDomain(domain) ?? domain) === (organizationalDomain(fromDomain) ?? fromDomain);

/**
 * The `d=` of the signature that passed; null unless it covers what is read, as with mail over SMTP. `claimed` can be a subdomain
 * from `i=`. Anyone can add a signature with the same `d=`, so all signatures with it must cover what is read.
 */
function signingDomain(
  headers: Headers,
  claimed: string,
  startsAtBoundary: boolean,
): string | null {
  const signatures = headers.flatMap(({ key, value }) => {
    if (key !== 'dkim-signature') return [];
    const tags = parseTagList(value);
    const domain = normalizeDomain(tags.get('d') ?? '');
    return domain !== null && `.${claimed}`.endsWith(`.${domain}`) ? [{ domain, tags }] : [];
  });
  const domain = signatures.reduce(
    (longest, each) => (each.domain.length > longest.length ? each.domain : longest),
    '',
  );
  const covers = ({ tags }: (typeof signatures)[0]) => {
    const signed = parseColonList(tags.get('h'));
    return (
      !tags.has('l') &&
      signed.includes('from') &&
      (startsAtBoundary || signed.includes('content-type'))
    );
  };
  const candidates = signatures.filter((each) => each.domain === domain);
  return candidates.length > 0 && candidates.every(covers) ? domain : null;
}
