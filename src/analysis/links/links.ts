/** All links of a message, from its HTML and its text part, with their hosts. */

import { organizationalDomain } from '../../lib/domain-names.ts';
import type { Context, Json } from '../check.ts';
import { type HtmlFacts, htmlFacts, wholeHtmlFacts } from '../html/facts.ts';
import { MAX_LINKS, MAX_URL_LENGTH } from '../html/links.ts';
import type { PublicEvidence } from '../public-evidence.ts';
import { senderPart } from '../quotes/sender-part.ts';
import { hasStandIn } from '../templates/fill.ts';
import { isTaggedUrl, type Template } from '../templates/template.ts';
import { maskTokens } from './tokens.ts';

export interface MessageLink {
  /** As written, entities decoded. */
  href: string;
  /** The parsed http or https URL; null for mailto, tel, and invalid URLs. */
  url: URL | null;
  /**
   * The scheme in lower case without its colon; `''` for a relative URL. A bare `www.…` in the text
   * part has `http`, as in email clients that turn it into a link.
   */
  scheme: string;
  /**
   * The host name in A-labels without a final dot, or an IP address as the URL standard normalizes it
   * (octal and hex notation too), IPv6 without brackets.
   */
  host: string | null;
  /** The URL is or has a merge tag of a template, so that it is not complete. */
  isTagged: boolean;
  /** The organizational domain of the host; null for an IP address or a public suffix. */
  domain: string | null;
  /** The visible text; null in the text part. */
  text: string | null;
  source: 'html' | 'text';
  /** Other labels of the link: `title`, `aria-label`, and the alt text and file names of its images. */
  label: string;
  /**
   * The text before and after the link. In HTML, at most 120 and 60 characters on one line; in the
   * text part, at most 400 each, including line breaks.
   */
  before: string;
  after: string;
}

const MAX_SURROUNDING_TEXT = 400;
/** Enough for a user name and the longest host name. */
const MAX_AUTHORITY = 400;

/**
 * A fact: call `context.fact(messageLinks)`. The sender's links, without those in quoted messages. In the
 * order of the message, HTML first; at most 1,000.
 */
export const messageLinks = (context: Context): MessageLink[] =>
  linksIn(context.fact(senderPart).text, context.fact(htmlFacts), context.template);

/** A fact: the same with the links in quoted messages, which filters read too. */
export const allLinks = (context: Context): MessageLink[] =>
  context.fact(senderPart).hasQuotes
    ? linksIn(context.message.text, context.fact(wholeHtmlFacts), context.template)
    : context.fact(messageLinks);

function linksIn(
  textPart: string | null,
  facts: HtmlFacts | null,
  template: Template | null,
): MessageLink[] {
  const text = textPart ?? '';
  const addressOf = cachedAddresses(template);
  const links = facts ? linksOfHtml(facts, addressOf) : [];
  for (const { href, index } of findBareUrls(text, MAX_LINKS - links.length)) {
    const end = index + href.length;
    const before = text.slice(Math.max(0, index - MAX_SURROUNDING_TEXT), index);
    const after = text.slice(end, end + MAX_SURROUNDING_TEXT);
    const address = { ...addressOf(/^www\./i.test(href) ? `http://${href}` : href) };
    address.href = template?.restore(href) ?? href;
    links.push({ ...address, text: null, source: 'text', label: '', before, after });
  }
  return links;
}

function linksOfHtml({ links, images }: HtmlFacts, addressOf: AddressReader): MessageLink[] {
  const fileNames = new Map(images.map(({ link, src }) => [link, fileName(src)]));
  return links.map((link) => {
    const { href, text, before, after } = link;
    const label = `${link.label} ${fileNames.get(link) ?? ''}`.trim();
    return { ...addressOf(href), text, source: 'html', label, before, after };
  });
}

/** The last part of the path, as in `https://example.com/images/unsubscribe.png?v=2`. */
function fileName(src: string): string {
  if (/^(?:data|cid):/i.test(src)) return '';
  return src
    .slice(0, 2000)
    .replace(/[?#].*$/s, '')
    .replace(/^.*\//s, '')
    .slice(0, 200);
}

type Address = Pick<MessageLink, 'href' | 'url' | 'scheme' | 'host' | 'domain' | 'isTagged'>;
type AddressReader = (address: string) => Address;

/** Messages repeat the same addresses, and most of them have the same host. */
function cachedAddresses(template: Template | null): AddressReader {
  const addresses = new Map<string, Address>();
  const domains = new Map<string, string | null>();
  return (text) => {
    let address = addresses.get(text);
    if (address) return address;
    const scheme = schemeOf(text);
    const parsed = /^https?$/.test(scheme) ? parse(text) : null;
    const isTagged = template !== null && (hasStandIn(text) || isTaggedUrl(text));
    // The host of a template can be a merge tag.
    const url = isTagged && !isHostKnown(parsed) ? null : parsed;
    const host = url ? url.hostname.replace(/^\[|\]$|\.$/g, '') : null;
    if (host !== null && !domains.has(host)) domains.set(host, organizationalDomain(host));
    const domain = host === null ? null : domains.get(host)!;
    const href = template?.restore(text) ?? text;
    address = { href, url, scheme, host, isTagged, domain };
    addresses.set(text, address);
    return address;
  };
}

const isHostKnown = (url: URL | null): boolean =>
  url !== null && !hasStandIn(url.hostname) && /^[\w.:-]+$/.test(url.hostname);

/** Returns null for overlong URLs too: parsing a host name of thousands of characters is slow. */
function parse(address: string): URL | null {
  const authority = /^[^/\\]*[/\\]*([^/\\?#]*)/.exec(address)![1]!;
  if (address.length > MAX_URL_LENGTH || authority.length > MAX_AUTHORITY) return null;
  return URL.parse(address);
}

/** As in the URL standard (§4.4): ignores control characters at the start, tabs and newlines. */
function schemeOf(address: string): string {
  const start = address.slice(0, 200).replace(/^[\0- ]+|[\t\n\r]/g, '');
  return /^([a-z][a-z0-9+.-]*):/i.exec(start)?.[1]?.toLowerCase() ?? '';
}

// URLs in plain text that email clients turn into links.

/** Only this many characters of a text are searched. */
const MAX_TEXT = 5_000_000;

// No nested quantifiers, so that hostile input cannot cause backtracking.
const URL_START =
  /(?<![\w@.-])(?:https?:\/\/|www\.)[^\s<>"\u0000-\u001f\u3000-\u303f\uff01-\uff0f\uff1a\uff1b\uff1f]{1,4000}/giu;

interface BareUrl {
  /** As written, without the punctuation of the surrounding sentence. */
  href: string;
  /** The index in the text. */
  index: number;
}

function findBareUrls(text: string, limit: number): BareUrl[] {
  const found: BareUrl[] = [];
  if (limit <= 0) return found;
  for (const { 0: url, index } of text.slice(0, MAX_TEXT).matchAll(URL_START)) {
    const trimmed = trimTrailingPunctuation(url);
    // `http://` or `www.` alone is not a URL.
    if (!/[\p{L}\p{N}[]/u.test(trimmed.replace(/^https?:\/\/|^www\./i, ''))) continue;
    found.push({ href: trimmed, index });
    if (found.length >= limit) break;
  }
  return found;
}

const OPENING_BRACKETS: Record<string, string> = { ')': '(', ']': '[', '}': '{' };

/** Removes final punctuation, and a closing bracket that was opened before the URL. */
function trimTrailingPunctuation(url: string): string {
  const counts = new Map<string, number>();
  for (const character of url)
    if ('()[]{}'.includes(character)) counts.set(character, (counts.get(character) ?? 0) + 1);
  let end = url.length;
  for (; end > 0; end -= 1) {
    const last = url[end - 1]!;
    if (".,;:!?'*_~|»”’…".includes(last)) continue;
    const opening = OPENING_BRACKETS[last];
    if (!opening || (counts.get(last) ?? 0) <= (counts.get(opening) ?? 0)) break;
    counts.set(last, counts.get(last)! - 1);
  }
  return url.slice(0, end);
}

// Shared by the link checks: unread links, and evidence.

const MAX_SHOWN = 20;
const MAX_SHOWN_URL = 300;

/** A link with a problem, described in a few words. */
export interface LinkProblem {
  link: MessageLink;
  status: 'warn' | 'fail';
  problem: string;
}

/** Why there may be more links than were read, as a sentence; null if all were read. */
export function describeUnreadLinks(context: Context, links: MessageLink[]): string | null {
  const { exceededLimits } = context.message;
  if (exceededLimits.length > 0)
    return `Your message has ${exceededLimits.join('; ')}. The rest may contain more links.`;
  if (context.fact(htmlFacts)?.truncated)
    return 'Your HTML is too long to read in full. The rest may contain more links.';
  return links.length >= MAX_LINKS ? 'Only the first 1,000 links are checked.' : null;
}

/** A URL for evidence: of limited length, and without secrets, because reports are shared. */
export function displayUrl(href: string): string {
  const masked = maskTokens(href.slice(0, 2 * MAX_SHOWN_URL));
  return masked.length <= MAX_SHOWN_URL ? masked : `${masked.slice(0, MAX_SHOWN_URL)}…`;
}

/** Counts of links and problems, and the first links with a problem, each URL once. */
export function problemEvidence(links: MessageLink[], problems: LinkProblem[]) {
  const distinct = new Map<string, Json>();
  for (const { link, problem } of problems) {
    if (distinct.size >= MAX_SHOWN) break;
    distinct.set(link.href, { href: displayUrl(link.href), text: textOf(link), problem });
  }
  return { links: links.length, problems: problems.length, found: [...distinct.values()] };
}

/** The public part of `problemEvidence`. Link text is message content, so it is not public. */
export const PUBLIC_LINK_PROBLEMS: PublicEvidence = {
  links: 'shown',
  problems: 'shown',
  found: { href: 'host', text: 'unquoted', problem: 'shown' },
};

/** `fail` if any problem has that status. */
export function worstStatus(problems: LinkProblem[]): 'warn' | 'fail' {
  return problems.some(({ status }) => status === 'fail') ? 'fail' : 'warn';
}

/** `A link` or `3 links`. */
export const linkCount = (count: number): string =>
  count === 1 ? 'A link' : `${count.toLocaleString('en')} links`;

const textOf = ({ text }: MessageLink): string | null => text?.slice(0, 100) ?? null;
