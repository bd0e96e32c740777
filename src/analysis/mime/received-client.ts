/** Reads the client that a mail server recorded in its Received field (RFC 5321 §4.4). */

import { normalizeAddress } from '../../lib/addresses.ts';

/** The client as the field names it. Whether it could have used TLS is unknown unless it did. */
export interface RecordedClient {
  address: string;
  helo: string | null;
  /** The host name that the server itself found for the address; null if the field has none. */
  name: string | null;
  tls: { used: true; version: string | null; cipher: string | null } | null;
  /** The server that wrote the field. */
  by: string | null;
}

/** In characters. Servers write a few hundred. */
const MAX_FIELD_LENGTH = 4000;

type Token = { kind: 'word' | 'comment'; text: string };

/**
 * Null unless the field names exactly one client in a known form. A client chooses its HELO name, and some servers
 * record it unchanged: a name that could be read as another clause or address makes the field unreadable.
 */
export function readRecordedClient(value: string): RecordedClient | null {
  const tokens = value.length > MAX_FIELD_LENGTH ? null : tokenize(value);
  if (!tokens) return null;
  const at = (keyword: string) =>
    tokens.flatMap(({ kind, text }, index) =>
      kind === 'word' && text.toLowerCase() === keyword ? [index] : [],
    );
  const [by, ...furtherBy] = at('by');
  if (at('from').join() !== '0' || by === undefined || by < 2 || furtherBy.length > 0) return null;
  const [host, ...rest] = tokens.slice(1, by);
  if (host?.kind !== 'word' || rest.some(({ kind }) => kind === 'word')) return null;
  const [comment = '', ...furtherComments] = rest.map(({ text }) => text);
  const client =
    readGreetedClient(host.text, comment, furtherComments) ?? readClient(host.text, comment);
  // A second comment describes TLS or the login. With another address, part of the first may be the HELO name.
  const isOther = (text: string) => {
    const address = normalizeAddress(text);
    return addressesIn(text).length > 0 || (address !== null && address !== client?.address);
  };
  if (!client || furtherComments.some(isOther)) return null;
  const [before] = at('with');
  const protocol = before === undefined ? undefined : tokens[before + 1];
  const next = tokens[by + 1];
  return {
    ...client,
    tls: protocol
      ? tlsOf(tokens.slice(tokens.indexOf(protocol) + 1), rest.slice(1), next, protocol.text)
      : null,
    by: next?.kind === 'word' ? next.text : null,
  };
}

/** Words and comments up to the semicolon before the date; null if the parentheses don't match. */
function tokenize(value: string): Token[] | null {
  const tokens: Token[] = [];
  let depth = 0;
  let text = '';
  const end = (kind: Token['kind']) => {
    if (text !== '' || kind === 'comment') tokens.push({ kind, text });
    text = '';
  };
  for (const character of value) {
    if (character === '(' && depth === 0) end('word');
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (depth < 0) return null;
    if (depth === 0 && character === ')') end('comment');
    else if (depth === 0 && /\s/.test(character)) end('word');
    else if (depth !== 1 || character !== '(') text += character;
  }
  if (depth > 0) return null;
  end('word');
  const date = tokens.findLastIndex((token) => token.kind === 'word' && token.text.includes(';'));
  return date < 0 ? tokens : tokens.slice(0, date + 1);
}

const LITERAL = /\[([^\][]*)\]/g;

/** The addresses in brackets. */
const addressesIn = (text: string): string[] =>
  [...text.matchAll(LITERAL)].flatMap(([literal]) => normalizeAddress(literal) ?? []);

const NAME = /^[^\s()[\]<>@,;]+$/;

type Client = Pick<RecordedClient, 'address' | 'helo' | 'name'>;

/**
 * `host` and the comment behind it. Postfix, Sendmail, Haraka and OpenSMTPD write `helo (name [address])`; Exim writes
 * `name ([address] helo=helo)`, or `[address] (helo=helo)` without a name; Exchange writes `helo (address)`.
 */
function readClient(host: string, comment: string): Client | null {
  const [, given] = /(?:^|\s)helo=(\S+)/i.exec(comment) ?? [];
  // HELO can be an address literal.
  const peer = comment.replace(/(?:^|\s)helo=\S+/i, '').trim();
  const helo = given === undefined ? null : wordOrNull(given);
  const [literal] = /^\[[^\][]+\](?::\d{1,5})?$/.test(host) ? addressesIn(host) : [];
  if (literal === undefined && !NAME.test(host)) return null;
  const [address, ...others] = addressesIn(peer);
  // Exim writes the name first, and the others the HELO name.
  const isForged = /may be forged/i.test(peer);
  const [name] = isForged
    ? []
    : given === undefined
      ? (/^[^\s[\]]+(?=\s*\[)/.exec(peer) ?? [])
      : [host];
  const named = { helo: given === undefined ? host : helo, name: verifiedName(name) };
  if (address !== undefined) return others.length > 0 ? null : { address, ...named };
  const bare = normalizeAddress(peer);
  if (bare !== null) return { address: bare, ...named };
  // Without these words, the literal could be the HELO name, which the client chooses.
  const isExim = given !== undefined && /^(?:port=\d+)?(?:\s*ident=\S+)?$/i.test(peer);
  return isExim && literal !== undefined ? { address: literal, helo, name: null } : null;
}

/** qmail writes `name (HELO helo) (address)`, and Yahoo `address (EHLO helo)`. */
function readGreetedClient(host: string, comment: string, [next = '']: string[]): Client | null {
  const [, helo] = /^[EH][EH]LO (\S+)$/i.exec(comment) ?? [];
  if (helo === undefined || !NAME.test(host)) return null;
  const [address, own] = [next.replace(/^\S*@/, ''), host].map(normalizeAddress);
  if (!address) return own ? { address: own, helo, name: null } : null;
  // With two addresses, one of them is part of the HELO name.
  return own && own !== address ? null : { address, helo, name: verifiedName(host) };
}

/** `unknown` is what servers write for an address without a name. A final dot is the form of Gmail. */
function verifiedName(text: string | undefined): string | null {
  const name = text?.replace(/\.$/, '').toLowerCase() ?? '';
  return NAME.test(name) && name.includes('.') && normalizeAddress(name) === null ? name : null;
}

const wordOrNull = (text: string | undefined): string | null =>
  text !== undefined && /^[^\s()]+$/.test(text) ? text : null;

// TLS: `with ESMTPS` (RFC 3848), and its version and cipher where the server writes them.

const TLS_PROTOCOL = /^(?:utf8)?e?smtps|^(?:utf8)?lmtps/i;
/** `with Microsoft SMTP Server (version=TLS1_3, cipher=…)`, in older versions `(TLS)`. */
const EXCHANGE_TLS = /^(?:TLS$|version=TLS)/;
const VERSION = /\b(TLS|SSL)[ _]?v?(\d)(?:[._](\d))?\b/i;
const CIPHER =
  /\b((?:TLS|ECDHE|DHE|AES|ADH|RSA|PSK|CAMELLIA|EDH|AECDH|DES|RC4)[-_][A-Z0-9_-]{3,}|RC4-[A-Z0-9-]+)\b/;

function tlsOf(
  after: Token[],
  before: Token[],
  next: Token | undefined,
  protocol: string,
): RecordedClient['tls'] {
  const isExchange = protocol === 'Microsoft' && after.some(({ text }) => EXCHANGE_TLS.test(text));
  if (!TLS_PROTOCOL.test(protocol) && !isExchange) return null;
  const texts = [...before, ...after.filter((token) => token !== next)]
    // Not the envelope: its addresses are the sender's choice.
    .filter(({ text }) => !text.includes('@') && (VERSION.test(text) || CIPHER.test(text)))
    .map(({ text }) => text);
  const details = texts.find((text) => VERSION.test(text)) ?? '';
  const version = VERSION.exec(details);
  const cipher = texts.map((text) => CIPHER.exec(text.replace(VERSION, ' '))?.[1]).find(Boolean);
  return {
    used: true,
    version: version
      ? `${version[1]!.toUpperCase()}v${version[2]}${version[3] ? `.${version[3]}` : ''}`
      : null,
    cipher: cipher ?? null,
  };
}
