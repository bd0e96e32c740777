/** `link_status`: the links of the message lead somewhere. */

import {
  type Check,
  type Context,
  type Finding,
  fail,
  pass,
  rfc,
  skipped,
  unknown,
  warn,
} from '../check.ts';
import { THRESHOLDS } from '../thresholds.ts';
import { askLinks, type LinkAnswer } from './link-asking.ts';
import { type Caution, linkCaution } from './link-caution.ts';
import { shownAddress, unseenLinks } from './link-evidence.ts';
import { type MessageLink, messageLinks } from './links.ts';

const MAX_SHOWN = 60;

interface AskedLink extends LinkAnswer {
  href: string;
}

/**
 * Asked by HEAD alone, and never what may do something when it is opened. Dead are only 404, 410,
 * a name that does not exist and a circle of redirects: everything else says nothing about a link.
 */
export const linkStatus: Check = {
  id: 'link_status',
  category: 'content',
  points: 2,
  label: 'Dead links',
  reference: rfc(9110, '15.5.5'),
  async run(context) {
    const all = context.fact(messageLinks);
    const links = all.filter(({ url }) => url !== null);
    if (links.length === 0)
      return skipped('There is no link to ask.', 'The message has no links to web addresses.');
    if (context.offline) return skipped(NOT_ASKED, 'No server was asked: offline.');
    if (!context.setup.checkLinks)
      return skipped(NOT_ASKED, 'The operator of this service has turned it off.');
    // What was not seen may say of an address that opening it does something.
    const unseen = unseenLinks(context, all);
    if (unseen) return unknown(NOT_ASKED, unseen);
    return verdict(await ask(context, links));
  },
};

const NOT_ASKED = 'Your links were not asked.';

/** Each distinct address once; one that is used in several places is asked only if all of them let it. */
async function ask(context: Context, links: MessageLink[]): Promise<AskedLink[]> {
  const caution = linkCaution(context);
  const distinct = distinctLinks(links, caution);
  const free = distinct.filter(({ reason }) => reason === null);
  const asked = free.slice(0, THRESHOLDS.linksAsked);
  const answers = await askLinks(
    asked.map(({ url }) => url),
    { web: context.web, caution: caution.ofUrl },
  );
  const answerOf = new Map(asked.map(({ url }, index) => [url, answers[index]!]));
  return distinct.map(({ url, reason }) => {
    const unasked = reason ?? `more than ${THRESHOLDS.linksAsked} links are not asked`;
    const answer = answerOf.get(url) ?? { status: 'not_asked' as const, reason: unasked };
    return { href: shownAddress(url.href), ...answer };
  });
}

function distinctLinks(links: MessageLink[], caution: Caution) {
  const found = new Map<string, { url: URL; reason: string | null }>();
  for (const link of links) {
    const url = link.url!;
    const key = url.href.replace(/#.*$/s, '');
    if (!found.has(key)) found.set(key, { url, reason: caution.ofLink(link) });
  }
  return [...found.values()];
}

function verdict(links: AskedLink[]): Finding {
  const count = (status: LinkAnswer['status']) =>
    links.filter((link) => link.status === status).length;
  const works = count('works');
  const dead = count('dead');
  const open = count('unknown');
  const unasked = count('not_asked');
  const asked = works + dead + open;
  const evidence = { works, dead, unknown: open, not_asked: unasked, links: listed(links) };
  if (asked === 0) return { ...skipped(NOT_ASKED, whyNone(links)), evidence };
  if (dead > 0) return deadLinks(links, dead, asked, evidence);
  if (open > works)
    return unknown(
      'It could not be found out whether your links work.',
      `${open} of the ${asked} addresses that were asked gave no answer that tells. This is not counted against you.`,
      evidence,
    );
  const left = [
    open > 0 ? `${open} gave no answer that tells` : '',
    unasked > 0 ? `${unasked} were not asked` : '',
  ].filter((part) => part !== '');
  return pass(
    open > 0 ? 'No dead link was found.' : 'The links that were asked work.',
    `${works} of ${links.length} addresses answered${left.length > 0 ? `; ${left.join(', ')}` : ''}.`,
    evidence,
  );
}

function deadLinks(
  links: AskedLink[],
  dead: number,
  asked: number,
  evidence: Finding['evidence'],
): Finding {
  const share = dead / asked;
  const first = links.filter(({ status }) => status === 'dead').slice(0, 3);
  return (share >= THRESHOLDS.deadLinksFailShare ? fail : warn)({
    title: `${dead} of the ${asked} links that were asked ${dead === 1 ? 'is' : 'are'} dead.`,
    detail: `${first.map(({ href, reason }) => `${href}: ${reason}`).join('; ')}. Readers land on an error, and filters that follow links distrust such mail.`,
    fix: 'Correct or remove these links, and open each link of the message once before you send it.',
    evidence,
  });
}

const ORDER: LinkAnswer['status'][] = ['dead', 'unknown', 'works', 'not_asked'];

/** The telling ones first, for the list is bounded. */
function listed(links: AskedLink[]) {
  return links
    .toSorted((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status))
    .slice(0, MAX_SHOWN)
    .map(({ href, status, reason }) => ({ href, status, reason }));
}

function whyNone(links: AskedLink[]): string {
  const reason = links[0]!.reason;
  if (links.length === 1) return `The only address was left alone: ${reason}.`;
  return `All ${links.length.toLocaleString('en')} addresses were left alone. Of the first: ${reason}.`;
}
