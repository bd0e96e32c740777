/** `link_text`: a link that shows a domain in its text leads to that domain. */

import { parse } from 'tldts';
import { normalizeDomain, organizationalDomain } from '../../lib/domain-names.ts';
import { type Check, type Context, fail, pass, skipped, unknown, warn } from '../check.ts';
import { dkimResult } from '../dkim/verify.ts';
import { fromDomain } from '../dns/names.ts';
import {
  describeUnreadLinks,
  displayUrl,
  linkCount,
  type MessageLink,
  messageLinks,
} from '../links/links.ts';
import { rewritingGateway } from '../links/rewriting-gateways.ts';

interface Mismatch {
  link: MessageLink;
  shown: string;
  /** A gateway rewrote the link, it leads to one of the sender's domains, or the text has other words too. */
  minor: boolean;
}

/**
 * Fails if the text is the address of another organization, because that is how phishing looks.
 * Warns if the link leads to the From domain or a signing domain, as click tracking does, and if
 * the text only mentions the domain among other words.
 */
export const linkText: Check = {
  id: 'link_text',
  category: 'content',
  points: 3,
  label: 'Link text',
  issueTitle: 'Links show a different domain than they lead to',
  reference: {
    name: 'Gmail: Email sender guidelines, message formatting',
    url: 'https://support.google.com/a/answer/81126',
  },
  publicEvidence: {
    links: 'shown',
    problems: 'shown',
    found: { text: 'unquoted', shows: 'shown', leads_to: 'shown', href: 'host' },
  },
  async run(context) {
    const all = context.fact(messageLinks);
    const links = all.filter(({ url, text }) => url !== null && text !== null);
    const ownDomains = await ownOrganizations(context);
    const found = links.flatMap((link) => mismatchOf(link, ownDomains));
    if (found.length > 0) return reportMismatches(links, found);
    const unreadReason = describeUnreadLinks(context, all);
    if (unreadReason) return unknown('Could not check the text of all links.', unreadReason);
    if (links.length === 0)
      return skipped('Link text was not checked.', 'The HTML has no web links.');
    return pass(
      'Your links lead where their text says.',
      'No link shows one domain and leads to another, as phishing links do.',
      { links: links.length },
    );
  },
};

function reportMismatches(links: MessageLink[], found: Mismatch[]) {
  const serious = found.filter(({ minor }) => !minor);
  const reported = serious.length > 0 ? serious : found;
  const { link, shown } = reported[0]!;
  const target = targetOf(link);
  const gateway = rewritingGateway(link.host);
  const { detail, fix } = gateway ? explainGateway(gateway, shown) : explainMismatch(target, shown);
  return (serious.length > 0 ? fail : warn)({
    title: `${linkCount(reported.length)} ${reported.length === 1 ? 'shows a different domain than it leads' : 'show a different domain than they lead'} to.`,
    detail,
    fix,
    evidence: {
      links: links.length,
      problems: found.length,
      found: found.slice(0, 20).map((mismatch) => ({
        text: mismatch.link.text!.slice(0, 100),
        shows: mismatch.shown,
        leads_to: targetOf(mismatch.link),
        href: displayUrl(mismatch.link.href),
      })),
    },
  });
}

const explainMismatch = (target: string, shown: string) => ({
  detail: `The text says ${shown}, but the link leads to ${target}. Spam filters and email clients treat this as phishing, even if click tracking is the cause.`,
  fix: `Use words instead of an address as the link text, or link directly to ${shown}. To do that, turn off click tracking for this link, or use a tracking domain under ${organizationalDomain(shown) ?? shown}.`,
});

/** The author wrote the right link. */
const explainGateway = (gateway: string, shown: string) => ({
  detail: `The text says ${shown}, but ${gateway} replaced the link by an address of its own after you wrote it. Other spam filters take such a link for phishing.`,
  fix: `Exempt outgoing mail from link rewriting in ${gateway}. If the message was forwarded or answered, it was rewritten when it came in: test the message as you first send it. Words instead of an address as the link text avoid the problem, too.`,
});

function mismatchOf(link: MessageLink, ownDomains: Set<string>): Mismatch[] {
  const target = targetOf(link);
  const otherDomains = shownDomains(link.text!).filter(
    ({ organization }) => organization !== target,
  );
  const worst = otherDomains.find(({ explicit }) => explicit) ?? otherDomains[0];
  if (!worst) return [];
  const isRewritten = rewritingGateway(link.host) !== null;
  const minor = !worst.explicit || ownDomains.has(target) || isRewritten;
  return [{ link, shown: worst.shown, minor }];
}

/** The organizational domain, or the host if it has none (an IP address, a public suffix). */
const targetOf = ({ domain, host }: MessageLink): string => (domain ?? host ?? '').slice(0, 255);

/** The organizational domains of From and of signatures that pass or could not be verified. */
async function ownOrganizations(context: Context): Promise<Set<string>> {
  const { signatures } = await context.fact(dkimResult);
  const signed = signatures.filter(
    ({ result }) => result === 'pass' || result === 'temperror' || result === null,
  );
  const domains = [fromDomain(context) ?? '', ...signed.map(({ domain }) => domain)];
  return new Set(domains.map((domain) => organizationalDomain(domain) ?? domain));
}

// The domains that the visible text of a link shows.

interface ShownDomain {
  /** As displayed. */
  shown: string;
  organization: string;
  /** Written as an address (`https://`, `www.`), or the whole text of the link is the domain. */
  explicit: boolean;
}

/** Words that are checked per link, those written as addresses first. */
const MAX_TOKENS = 12;
/** Longer than any host name; parsing longer input is slow. */
const MAX_HOST_LENGTH = 300;

/** Top-level domains under which a bare word is usually a domain, not a file, product or abbreviation. */
const COMMON_TLDS = new Set(
  [
    'com net org info biz edu gov eu online shop store bank site cloud club',
    'de at ch fr be nl lu uk ie es pt it gr pl cz sk hu ro bg si hr rs ba mk al mt cy tr ua by ru',
    'se no dk fi ee lv lt us ca mx br ar cl co ec uy ve bo cr gt',
    'au nz jp kr cn tw hk sg my th vn id ph in pk lk np kz uz ge az il ae sa qa kw ir jo lb',
    'za ng ke eg ma tn gh ci sn',
  ].flatMap((tlds) => tlds.split(' ')),
);

/** Top-level domains that are usually file extensions, even before a path. */
const FILE_EXTENSIONS = new Set(['zip', 'mov', 'md', 'sh', 'py', 'rs', 'ps', 'cab']);

// Invisible characters must not make two spellings differ.
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
/** Full stops that name resolution treats as a dot (UTS 46 §4). */
const FULL_STOPS = /[\u3002\uff0e\uff61]/g;
const FULL_STOP = /[.\u3002\uff0e\uff61]/;
const SEPARATORS = /[\s<>()[\]{}"'“”„‚‘’«»,;|]+/u;
const ADDRESS = /^[^\p{L}\p{N}@]*(?:https?:\/\/|www\.)/iu;
const LEADING_SYMBOLS = /^[^\p{L}\p{N}@]+/u;

/** In the order of the text, addresses first. Domains of email addresses don't count. */
function shownDomains(text: string): ShownDomain[] {
  if (!FULL_STOP.test(text)) return [];
  const tokens = text
    .replace(INVISIBLE, '')
    .replace(FULL_STOPS, '.')
    .split(SEPARATORS)
    .filter((token) => /[\p{L}\p{N}]/u.test(token));
  const dotted = [...new Set(tokens)].filter((token) => /\../.test(token));
  const addresses = dotted.filter((token) => ADDRESS.test(token));
  return [...addresses, ...dotted.filter((token) => !ADDRESS.test(token))]
    .slice(0, MAX_TOKENS)
    .map((token) => parseToken(token, tokens.length === 1))
    .filter((found) => found !== null);
}

function parseToken(token: string, isWholeText: boolean): ShownDomain | null {
  const [, scheme, afterScheme = ''] =
    /^(https?:\/\/)?(.*)$/is.exec(token.replace(LEADING_SYMBOLS, '')) ?? [];
  const [authority = ''] = afterScheme.split(/[/?#\\]/, 1);
  if (scheme === undefined && authority.includes('@')) return null;
  // After a scheme, readers take a domain before the @ for the site.
  const hosts = authority.split('@', 3).map((part) => part.replace(/:.*$/s, ''));
  const host = hosts.find((part) => part.includes('.')) ?? '';
  const shown = host.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
  const name =
    shown.includes('.') && shown.length <= MAX_HOST_LENGTH ? normalizeDomain(shown) : null;
  const organization = name === null ? null : organizationalDomain(name);
  if (name === null || organization === null) return null;
  const isAddress = scheme !== undefined || name.startsWith('www.');
  const wordKind = isAddress
    ? 'domain'
    : classifyBareWord(shown, name, afterScheme.length > authority.length + 1);
  if (wordKind === null) return null;
  return {
    shown: shown.slice(0, 100),
    organization,
    explicit: isAddress || (isWholeText && wordKind === 'domain'),
  };
}

/**
 * Classifies a word with a full stop that has no other sign of an address. Under an uncommon
 * top-level domain, it is a file or product (`main.cc`, `Socket.IO`). Capitals are ambiguous (`Dr.med`,
 * `Web.de`).
 */
function classifyBareWord(
  shown: string,
  name: string,
  hasPath: boolean,
): 'domain' | 'perhaps' | null {
  const shownEnding = shown.slice(shown.lastIndexOf('.') + 1);
  const ending = name.slice(name.lastIndexOf('.') + 1);
  const isUpperCase = shown === shown.toUpperCase();
  // "Read it here.It is new" lacks a space, and "ASP.NET" is a product.
  if (shownEnding !== shownEnding.toLowerCase() && (!isUpperCase || ending === 'net')) return null;
  // Only domains end in an A-label.
  const isCommon = COMMON_TLDS.has(ending) || ending.startsWith('xn--');
  if (!isCommon && (!hasPath || FILE_EXTENSIONS.has(ending))) return null;
  if (parse(name, { allowPrivateDomains: false, validateHostname: false }).isIcann !== true)
    return null;
  return shown === shown.toLowerCase() ? 'domain' : 'perhaps';
}
