/** `link_text`: a link whose text shows a domain leads to that domain. */

import { parse } from 'tldts';
import { normalizeDomain, organizationalDomain } from '../../lib/domain-names.ts';
import { type Check, type Context, fail, pass, skipped, unknown, warn } from '../check.ts';
import { dkimResult } from '../dkim/verify.ts';
import { fromDomain } from '../dns/names.ts';
import {
  linkCount,
  type MessageLink,
  messageLinks,
  shownAddress,
  unseenLinks,
} from '../links/links.ts';

interface Mismatch {
  link: MessageLink;
  shown: string;
  /** The sender's own tracking, or a domain named in the middle of a sentence. */
  mild: boolean;
}

/**
 * A text that is an address of another organization's fails, for that is how phishing looks. It
 * warns where the link leads to the domain of From or of a signature, as the click tracking of a
 * sender or its sending service does, and where the domain is only named among other words.
 */
export const linkText: Check = {
  id: 'link_text',
  category: 'content',
  points: 3,
  label: 'Text of links',
  issueTitle: 'Links show another address than they lead to',
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
    const own = await ownOrganizations(context);
    const found = links.flatMap((link) => mismatchOf(link, own));
    if (found.length > 0) return mismatched(links, found);
    const unseen = unseenLinks(context, all);
    if (unseen) return unknown('The text of your links could not be checked.', unseen);
    if (links.length === 0)
      return skipped('There is no link to check.', 'The HTML has no links to web addresses.');
    return pass(
      'Your links lead where their text says.',
      'No link shows one domain and leads to another, as phishing does.',
      { links: links.length },
    );
  },
};

function mismatched(links: MessageLink[], found: Mismatch[]) {
  const grave = found.filter(({ mild }) => !mild);
  const told = grave.length > 0 ? grave : found;
  const { link, shown } = told[0]!;
  const target = targetOf(link);
  return (grave.length > 0 ? fail : warn)({
    title: `${linkCount(told.length)} ${told.length === 1 ? 'shows' : 'show'} another domain than the address behind ${told.length === 1 ? 'it' : 'them'}.`,
    detail: `The text says ${shown}, the link leads to ${target}. Filters and mail programs take that for phishing, even where click tracking is the cause.`,
    fix: `Give the link a text in words instead of an address, or let it lead to ${shown} itself: turn off click tracking for it, or use a tracking domain below ${shown}.`,
    evidence: {
      links: links.length,
      problems: found.length,
      found: found.slice(0, 20).map((mismatch) => ({
        text: mismatch.link.text!.slice(0, 100),
        shows: mismatch.shown,
        leads_to: targetOf(mismatch.link),
        href: shownAddress(mismatch.link.href),
      })),
    },
  });
}

function mismatchOf(link: MessageLink, own: Set<string>): Mismatch[] {
  const target = targetOf(link);
  const others = shownDomains(link.text!).filter(({ organization }) => organization !== target);
  const worst = others.find(({ plain }) => plain) ?? others[0];
  if (!worst) return [];
  return [{ link, shown: worst.shown, mild: !worst.plain || own.has(target) }];
}

/** The organization, or what there is in its place: an address, a name without one. */
const targetOf = ({ domain, host }: MessageLink): string => (domain ?? host ?? '').slice(0, 255);

/** Of From and of the signatures that hold (or could not be verified). */
async function ownOrganizations(context: Context): Promise<Set<string>> {
  const { signatures } = await context.fact(dkimResult);
  const signed = signatures.filter(
    ({ result }) => result === 'pass' || result === 'temperror' || result === null,
  );
  const domains = [fromDomain(context) ?? '', ...signed.map(({ domain }) => domain)];
  return new Set(domains.map((domain) => organizationalDomain(domain) ?? domain));
}

// The domains that the visible text of a link shows to its reader.

interface ShownDomain {
  /** As the reader sees it. */
  shown: string;
  organization: string;
  /** Written as an address (`https://`, `www.`), or a domain that is all that the link's text says. */
  plain: boolean;
}

/** As many words as are looked at in one link, those that are written as addresses first. */
const MAX_TOKENS = 12;
/** No name is longer, and to find that out takes time. */
const LONGEST_HOST = 300;

/** Endings below which a bare word is a domain more often than a file, a program or an abbreviation. */
const COMMON_ENDINGS = new Set(
  [
    'com net org info biz edu gov eu online shop store bank site cloud club',
    'de at ch fr be nl lu uk ie es pt it gr pl cz sk hu ro bg si hr rs ba mk al mt cy tr ua by ru',
    'se no dk fi ee lv lt us ca mx br ar cl co ec uy ve bo cr gt',
    'au nz jp kr cn tw hk sg my th vn id ph in pk lk np kz uz ge az il ae sa qa kw ir jo lb',
    'za ng ke eg ma tn gh ci sn',
  ].flatMap((endings) => endings.split(' ')),
);

/** Words that end so are files more often than domains, even before a path. */
const FILE_ENDINGS = new Set(['zip', 'mov', 'md', 'sh', 'py', 'rs', 'ps', 'cab']);

// What nobody sees must not tell two spellings apart.
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
/** Full stops that name resolution takes for a dot (UTS 46 §4). */
const FULL_STOPS = /[\u3002\uff0e\uff61]/g;
const SEPARATORS = /[\s<>()[\]{}"'“”„‚‘’«»,;|]+/u;
const ADDRESS = /^[^\p{L}\p{N}@]*(?:https?:\/\/|www\.)/iu;
const SIGNS_BEFORE = /^[^\p{L}\p{N}@]+/u;

/** In the order of the text, addresses first; those of mailboxes are no domains shown. */
function shownDomains(text: string): ShownDomain[] {
  const tokens = text
    .replace(INVISIBLE, '')
    .replace(FULL_STOPS, '.')
    .split(SEPARATORS)
    .filter((token) => /[\p{L}\p{N}]/u.test(token));
  const dotted = [...new Set(tokens)].filter((token) => /\../.test(token));
  const addresses = dotted.filter((token) => ADDRESS.test(token));
  return [...addresses, ...dotted.filter((token) => !ADDRESS.test(token))]
    .slice(0, MAX_TOKENS)
    .map((token) => readToken(token, tokens.length === 1))
    .filter((found) => found !== null);
}

function readToken(token: string, alone: boolean): ShownDomain | null {
  const [, scheme, rest = ''] =
    /^(https?:\/\/)?(.*)$/is.exec(token.replace(SIGNS_BEFORE, '')) ?? [];
  const [authority = ''] = rest.split(/[/?#\\]/, 1);
  if (scheme === undefined && authority.includes('@')) return null;
  // With a scheme, a reader takes what looks like a domain before the @ for the site.
  const hosts = authority.split('@', 3).map((part) => part.replace(/:.*$/s, ''));
  const host = hosts.find((part) => part.includes('.')) ?? '';
  const shown = host.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
  const name = shown.includes('.') && shown.length <= LONGEST_HOST ? normalizeDomain(shown) : null;
  const organization = name === null ? null : organizationalDomain(name);
  if (name === null || organization === null) return null;
  const address = scheme !== undefined || name.startsWith('www.');
  const bare = address ? 'domain' : readBare(shown, name, rest.length > authority.length + 1);
  if (bare === null) return null;
  return {
    shown: shown.slice(0, 100),
    organization,
    plain: address || (alone && bare === 'domain'),
  };
}

/**
 * What a word with a full stop in it is, in which nothing else marks an address. Below rare endings
 * it is a file or a program (`main.cc`, `Socket.IO`); capitals leave it open (`Dr.med`, `Web.de`).
 */
function readBare(shown: string, name: string, hasPath: boolean): 'domain' | 'perhaps' | null {
  const written = shown.slice(shown.lastIndexOf('.') + 1);
  const ending = name.slice(name.lastIndexOf('.') + 1);
  const capitals = shown === shown.toUpperCase();
  // "Read it here.It is new": the space was forgotten. And "ASP.NET" is a program.
  if (written !== written.toLowerCase() && (!capitals || ending === 'net')) return null;
  // Nothing but domains ends in another script.
  const common = COMMON_ENDINGS.has(ending) || ending.startsWith('xn--');
  if (!common && (!hasPath || FILE_ENDINGS.has(ending))) return null;
  if (parse(name, { allowPrivateDomains: false, validateHostname: false }).isIcann !== true)
    return null;
  return shown === shown.toLowerCase() ? 'domain' : 'perhaps';
}
