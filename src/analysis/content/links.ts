/** Every link of the message, from its HTML and its text, with the host that it leads to. */

import { organizationalDomain } from '../../lib/domain-names.ts';
import type { Context } from '../check.ts';
import { htmlFacts } from './html-facts.ts';
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
}

const MAX_LINKS = 1000;
/** Longer than any address that a server takes. */
const MAX_URL = 65_536;

/** A fact: ask for it by `context.fact(messageLinks)`. In the order of the message, HTML first; at most 1,000. */
export function messageLinks(context: Context): MessageLink[] {
  const html = context.fact(htmlFacts)?.links ?? [];
  const links = html.map(({ href, text }) => readLink(href, text));
  for (const url of bareUrls(context.message.text ?? '', MAX_LINKS - links.length))
    links.push(readLink(url, null));
  return links;
}

function readLink(href: string, text: string | null): MessageLink {
  const source = text === null ? 'text' : 'html';
  const address = source === 'text' && /^www\./i.test(href) ? `http://${href}` : href;
  const scheme = schemeOf(address);
  const url = /^https?$/.test(scheme) && address.length <= MAX_URL ? URL.parse(address) : null;
  const host = url ? url.hostname.replace(/^\[|\]$|\.$/g, '') : null;
  return {
    href,
    url,
    scheme,
    host,
    domain: host === null ? null : organizationalDomain(host),
    text,
    source,
  };
}

/** As the URL standard finds it (§4.4): control characters at the start, tabs and line ends do not count. */
function schemeOf(address: string): string {
  const start = address.slice(0, 200).replace(/^[\0- ]+|[\t\n\r]/g, '');
  return /^([a-z][a-z0-9+.-]*):/i.exec(start)?.[1]?.toLowerCase() ?? '';
}
