/** `link_text`: a link whose text shows a domain leads to that domain. */

import { organizationalDomain } from '../../lib/domain-names.ts';
import { dkimResult } from '../authentication/verify-dkim.ts';
import { type Check, type Context, fail, pass, skipped, unknown, warn } from '../check.ts';
import { fromDomain } from '../infrastructure/sender-domains.ts';
import { linkCount, shownAddress, unseenLinks } from './link-evidence.ts';
import { shownDomains } from './link-shown-domains.ts';
import { type MessageLink, messageLinks } from './links.ts';

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
  reference: {
    name: 'Gmail: Email sender guidelines, message formatting',
    url: 'https://support.google.com/a/answer/81126',
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
