/** `link_status`: the links of the message lead somewhere. */

import type { Web, WebAnswer } from '../../net/http/web.ts';
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
import { type Caution, linkCaution } from '../links/caution.ts';
import { type MessageLink, messageLinks, shownAddress, unseenLinks } from '../links/links.ts';

/** Distinct addresses that are requested. */
const MAX_REQUESTED = 30;
/** The share of dead links that fails. */
const DEAD_SHARE_TO_FAIL = 0.5;

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
  issueTitle: 'Links are dead',
  reference: rfc(9110, '15.5.5'),
  publicEvidence: {
    works: 'shown',
    dead: 'shown',
    unknown: 'shown',
    not_asked: 'shown',
    links: { href: 'host', status: 'shown', reason: 'shown' },
  },
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
  const asked = free.slice(0, MAX_REQUESTED);
  const answers = await askLinks(
    asked.map(({ url }) => url),
    { web: context.web, caution: caution.ofUrl },
  );
  const answerOf = new Map(asked.map(({ url }, index) => [url, answers[index]!]));
  return distinct.map(({ url, reason }) => {
    const unasked = reason ?? `more than ${MAX_REQUESTED} links are not asked`;
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
  return (share >= DEAD_SHARE_TO_FAIL ? fail : warn)({
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

// Asks web addresses by HEAD whether they are there, side by side, redirects followed by hand.

interface LinkAnswer {
  status: 'works' | 'dead' | 'unknown' | 'not_asked';
  /** Half a sentence. */
  reason: string;
}

interface AskingOptions {
  web: Web;
  /** Why an address must not be asked; null where it may be. */
  caution(url: URL): string | null;
  /** Milliseconds after which nothing more is asked. */
  stopMs?: number;
  /** Milliseconds for one request. */
  requestMs?: number;
}

const SIDE_BY_SIDE = 10;
const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** The answers in the order of the addresses; in time for an analysis to end with the last. */
export async function askLinks(urls: URL[], options: AskingOptions): Promise<LinkAnswer[]> {
  const { stopMs = 8000, requestMs = 5000 } = options;
  const answers: LinkAnswer[] = urls.map(() => late());
  const time = { over: false };
  const timer = setTimeout(() => {
    time.over = true;
  }, stopMs);
  let next = 0;
  const ask = async () => {
    while (next < urls.length && !time.over) {
      const index = next;
      next += 1;
      answers[index] = await follow(urls[index]!, { ...options, requestMs, time });
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, ask));
  clearTimeout(timer);
  return answers;
}

const late = (): LinkAnswer => ({ status: 'not_asked', reason: 'there was no time left for it' });

interface Following extends AskingOptions {
  requestMs: number;
  time: { over: boolean };
}

async function follow(
  start: URL,
  { web, caution, requestMs, time }: Following,
): Promise<LinkAnswer> {
  const seen = new Set<string>();
  let cookies = false;
  let url = start;
  for (let redirects = 0; ; redirects++) {
    if (seen.has(withoutFragment(url))) return loop(cookies);
    if (redirects > MAX_REDIRECTS)
      return unknownAnswer(`it redirects more than ${MAX_REDIRECTS} times`);
    if (redirects > 0) {
      const reason = caution(url);
      if (reason) return unknownAnswer(`it redirects to an address that was not asked: ${reason}`);
      if (time.over) return unknownAnswer('it redirects, and there was no time left to follow');
    }
    seen.add(withoutFragment(url));
    const answer = await web({ method: 'HEAD', url: url.href, timeoutMs: requestMs });
    if (answer.status === 'failed') return failure(answer, redirects);
    cookies ||= 'set-cookie' in answer.headers;
    const target = REDIRECTS.has(answer.code) ? targetOf(answer.headers.location, url) : null;
    if (!target) return judge(answer.code);
    if (!/^https?:$/.test(target.protocol))
      return unknownAnswer('it redirects to what is no web address');
    url = target;
  }
}

/** Without the cookie that a browser would bring, some sites send everybody round in a circle. */
function loop(cookies: boolean): LinkAnswer {
  return cookies
    ? unknownAnswer('it redirects in a circle to a visitor without cookies')
    : { status: 'dead', reason: 'it redirects in a circle' };
}

function failure(answer: WebAnswer & { status: 'failed' }, redirects: number): LinkAnswer {
  const reason = redirects > 0 ? `where it redirects to: ${answer.detail}` : answer.detail;
  if (answer.reason === 'no_such_name') return { status: 'dead', reason };
  const unasked = answer.reason === 'bad_url' || answer.reason === 'limit';
  return { status: unasked && redirects === 0 ? 'not_asked' : 'unknown', reason };
}

function judge(code: number): LinkAnswer {
  if (code === 404 || code === 410) return { status: 'dead', reason: `it is not there (${code})` };
  if (code >= 200 && code < 300) return { status: 'works', reason: `it answered (${code})` };
  return unknownAnswer(`it answered with ${code}, which does not tell whether it is there`);
}

const unknownAnswer = (reason: string): LinkAnswer => ({ status: 'unknown', reason });

// A header comes as one character for each octet; servers write UTF-8 into it, as browsers expect.
function targetOf(location: string | undefined, base: URL): URL | null {
  if (!location) return null;
  const text = Buffer.from(location, 'latin1').toString('utf8');
  return URL.parse(text.includes('\ufffd') ? location : text, base.href);
}

const withoutFragment = (url: URL): string => url.href.replace(/#.*$/s, '');
