/** Every link of the message, from its HTML and its text, with the host that it leads to. */

import { organizationalDomain } from '../../lib/domain-names.ts';
import type { Context } from '../check.ts';
import { type HtmlFacts, htmlFacts } from './html-facts.ts';
import { MAX_LINKS, MAX_URL } from './link-limits.ts';
import { bareUrls } from './text-urls.ts';

export interface MessageLink {
  /** As written, entities decoded. */
  href: string;
  /** Parsed where it is http or https; null for mailto, tel, and what cannot be read. */
  url: URL | null;
  /**
   * The scheme in lower case without its colon; `''` where there is none (a relative address). A
   * bare `www.…` in the text part has `http`, as the mail programs that make a link of it read it.
   */
  scheme: string;
  /**
   * The host in A-labels without a final dot, or an address as the URL standard reads it (octal and
   * hex spellings too), IPv6 without brackets.
   */
  host: string | null;
  /** The organizational domain of the host; null for an address or a public suffix. */
  domain: string | null;
  /** What a reader sees; null in the text part. */
  text: string | null;
  source: 'html' | 'text';
  /** What else names it: `title`, `aria-label`, and the alt texts and file names of its images. */
  label: string;
  /**
   * The text before and after it: of HTML at most 120 and 60 characters in one line, of the text
   * part at most 400 each, with their line ends.
   */
  before: string;
  after: string;
}

type Words = Pick<MessageLink, 'text' | 'label' | 'before' | 'after'>;

const AROUND_IN_TEXT = 400;
/** A user name and the longest name of a host, with some to spare. */
const MAX_AUTHORITY = 400;

/** A fact: ask for it by `context.fact(messageLinks)`. In the order of the message, HTML first; at most 1,000. */
export function messageLinks(context: Context): MessageLink[] {
  const text = context.message.text ?? '';
  const facts = context.fact(htmlFacts);
  const links = facts ? linksOfHtml(facts) : [];
  for (const { href, at } of bareUrls(text, MAX_LINKS - links.length)) {
    const end = at + href.length;
    const before = text.slice(Math.max(0, at - AROUND_IN_TEXT), at);
    const after = text.slice(end, end + AROUND_IN_TEXT);
    links.push(readLink(href, { text: null, label: '', before, after }));
  }
  return links;
}

function linksOfHtml({ links, images }: HtmlFacts): MessageLink[] {
  const files = new Map(images.map(({ link, src }) => [link, fileName(src)]));
  return links.map((link) => {
    const label = `${link.label} ${files.get(link) ?? ''}`.trim();
    return readLink(link.href, { ...link, label });
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

function readLink(href: string, { text, label, before, after }: Words): MessageLink {
  const source = text === null ? 'text' : 'html';
  const address = source === 'text' && /^www\./i.test(href) ? `http://${href}` : href;
  const scheme = schemeOf(address);
  const url = /^https?$/.test(scheme) ? parse(address) : null;
  const host = url ? url.hostname.replace(/^\[|\]$|\.$/g, '') : null;
  return {
    href,
    url,
    scheme,
    host,
    domain: host === null ? null : organizationalDomain(host),
    text,
    source,
    label,
    before,
    after,
  };
}

/** Null for what is too long as well: to read a name of thousands of letters takes time, and it is none. */
function parse(address: string): URL | null {
  const authority = /^[^/\\]*[/\\]*([^/\\?#]*)/.exec(address)![1]!;
  if (address.length > MAX_URL || authority.length > MAX_AUTHORITY) return null;
  return URL.parse(address);
}

/** As the URL standard finds it (§4.4): control characters at the start, tabs and line ends do not count. */
function schemeOf(address: string): string {
  const start = address.slice(0, 200).replace(/^[\0- ]+|[\t\n\r]/g, '');
  return /^([a-z][a-z0-9+.-]*):/i.exec(start)?.[1]?.toLowerCase() ?? '';
}
