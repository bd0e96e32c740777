/** `link_status`: no link of the message is dead. */

import type { WebClient, WebResult } from '../../net/http/web.ts';
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
import { describeUnreadLinks, displayUrl, type MessageLink, messageLinks } from '../links/links.ts';
import { linkSkipReasons } from '../links/skip-reasons.ts';

/** Maximum number of distinct URLs to request. */
const MAX_REQUESTED = 30;
/** At or above this share of dead links, the check fails; below it, the check warns. */
const DEAD_SHARE_TO_FAIL = 0.5;

const MAX_SHOWN = 60;

interface CheckedLink extends LinkResult {
  url: URL;
}

/**
 * Sends only HEAD requests, and never requests a URL that may trigger an action. Only 404, 410, a
 * nonexistent name and a redirect loop make a link dead. Any other response proves nothing.
 */
export const linkStatus: Check = {
  id: 'link_status',
  category: 'content',
  points: 2,
  label: 'Dead links',
  issueTitle: 'Some links are dead',
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
    const links = all.filter(({ url, isTagged }) => url !== null && !isTagged);
    if (links.length === 0) return skipped(NOT_CHECKED, 'Your message has no web links.');
    if (context.offline) return skipped(NOT_CHECKED, 'Offline mode makes no network requests.');
    if (!context.setup.checkLinks)
      return skipped(NOT_CHECKED, 'Link checking is turned off on this server.');
    // The part that was not read may show that opening one of the URLs triggers an action.
    const unreadReason = describeUnreadLinks(context, all);
    if (unreadReason) return unknown('Could not check your links.', unreadReason);
    return evaluateLinks(await checkLinks(context, links));
  },
};

const NOT_CHECKED = 'Your links were not checked.';

/** Requests each distinct URL once, and only if every place that uses it allows it. */
async function checkLinks(context: Context, links: MessageLink[]): Promise<CheckedLink[]> {
  const skipReasons = linkSkipReasons(context);
  const requested: URL[] = [];
  const distinct = distinctLinks(links).map((link, index) => {
    const url = link.url!;
    // Later links are neither requested nor shown.
    if (requested.length >= MAX_REQUESTED && index >= MAX_REQUESTED + MAX_SHOWN)
      return { url, reason: null };
    const reason = skipReasons.forLink(link);
    if (reason === null && requested.length < MAX_REQUESTED) requested.push(url);
    return { url, reason };
  });
  const results = await requestLinks(requested, {
    web: context.web,
    skipReason: skipReasons.forUrl,
  });
  const resultOf = new Map(requested.map((url, index) => [url, results[index]!]));
  return distinct.map(({ url, reason }) => {
    const notRequested = reason ?? `only ${MAX_REQUESTED} links are checked`;
    const result = resultOf.get(url) ?? { status: 'not_asked' as const, reason: notRequested };
    return { url, ...result };
  });
}

function distinctLinks(links: MessageLink[]): MessageLink[] {
  const byUrl = new Map<string, MessageLink>();
  for (const link of links) {
    const key = withoutFragment(link.url!);
    if (!byUrl.has(key)) byUrl.set(key, link);
  }
  return [...byUrl.values()];
}

function evaluateLinks(links: CheckedLink[]): Finding {
  const count = (status: LinkResult['status']) =>
    links.filter((link) => link.status === status).length;
  const works = count('works');
  const dead = count('dead');
  const unclear = count('unknown');
  const notRequested = count('not_asked');
  const checked = works + dead + unclear;
  const evidence = {
    works,
    dead,
    unknown: unclear,
    not_asked: notRequested,
    links: linkEvidence(links),
  };
  if (checked === 0) return { ...skipped(NOT_CHECKED, noneCheckedReason(links)), evidence };
  if (dead > 0) return deadLinks(links, dead, checked, evidence);
  if (unclear > works)
    return unknown(
      'Could not determine whether your links work.',
      `${unclear} of ${checked} checked links gave no clear result. This does not affect your score.`,
      evidence,
    );
  const others = [
    unclear > 0 ? `${unclear} gave no clear result` : '',
    notRequested > 0 ? `${notRequested} ${notRequested === 1 ? 'was' : 'were'} not checked` : '',
  ].filter((part) => part !== '');
  return pass(
    unclear > 0 ? 'No dead links found.' : 'All checked links work.',
    `Working links: ${works} of ${links.length}${others.length > 0 ? `; ${others.join(', ')}` : ''}.`,
    evidence,
  );
}

function deadLinks(
  links: CheckedLink[],
  dead: number,
  checked: number,
  evidence: Finding['evidence'],
): Finding {
  const share = dead / checked;
  const examples = links.filter(({ status }) => status === 'dead').slice(0, 3);
  return (share >= DEAD_SHARE_TO_FAIL ? fail : warn)({
    title: `${dead} of ${checked} checked links ${dead === 1 ? 'is' : 'are'} dead.`,
    detail: `${examples.map(({ url, reason }) => `${displayUrl(url.href)}: ${reason}`).join('; ')}. Recipients see an error page, and spam filters that follow links trust your mail less.`,
    fix: 'Fix or remove these links. Test every link before you send.',
    evidence,
  });
}

const ORDER: LinkResult['status'][] = ['dead', 'unknown', 'works', 'not_asked'];

/** The most important links first, because the list is truncated. */
function linkEvidence(links: CheckedLink[]) {
  return links
    .toSorted((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status))
    .slice(0, MAX_SHOWN)
    .map(({ url, status, reason }) => ({ href: displayUrl(url.href), status, reason }));
}

function noneCheckedReason(links: CheckedLink[]): string {
  const reason = links[0]!.reason;
  if (links.length === 1) return `The only link was skipped: ${reason}.`;
  return `All ${links.length.toLocaleString('en')} links were skipped. Reason for the first one: ${reason}.`;
}

interface LinkResult {
  status: 'works' | 'dead' | 'unknown' | 'not_asked';
  /** A clause without a final period. */
  reason: string;
}

interface LinkRequestOptions {
  web: WebClient;
  /** Why a URL must not be requested, as a clause; null if it may be. */
  skipReason(url: URL): string | null;
  /** After this time, no further request is started. */
  totalTimeoutMs?: number;
  /** Time limit of one request. */
  requestTimeoutMs?: number;
}

const MAX_CONCURRENT_REQUESTS = 10;
const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Requests the URLs with HEAD, several at a time, and follows redirects. Results are in the order of
 * the URLs. The time limits leave the analysis enough time to finish.
 */
export async function requestLinks(
  urls: URL[],
  options: LinkRequestOptions,
): Promise<LinkResult[]> {
  const { totalTimeoutMs = 8000, requestTimeoutMs = 5000 } = options;
  const results = urls.map(
    (): LinkResult => ({ status: 'not_asked', reason: 'the time limit was reached' }),
  );
  const deadline = { passed: false };
  const timer = setTimeout(() => {
    deadline.passed = true;
  }, totalTimeoutMs);
  let next = 0;
  const requestNext = async () => {
    while (next < urls.length && !deadline.passed) {
      const index = next;
      next += 1;
      results[index] = await followLink(urls[index]!, { ...options, requestTimeoutMs, deadline });
    }
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT_REQUESTS }, requestNext));
  clearTimeout(timer);
  return results;
}

interface FollowOptions extends LinkRequestOptions {
  requestTimeoutMs: number;
  deadline: { passed: boolean };
}

async function followLink(
  start: URL,
  { web, skipReason, requestTimeoutMs, deadline }: FollowOptions,
): Promise<LinkResult> {
  const visited = new Set<string>();
  let setsCookies = false;
  let url = start;
  for (let redirects = 0; ; redirects++) {
    if (visited.has(withoutFragment(url))) return redirectLoop(setsCookies);
    if (redirects > MAX_REDIRECTS)
      return unknownResult(`it redirects more than ${MAX_REDIRECTS} times`);
    if (redirects > 0) {
      const reason = skipReason(url);
      if (reason) return unknownResult(`it redirects to a URL that was not checked: ${reason}`);
      if (deadline.passed) return unknownResult('it redirects, and the time limit was reached');
    }
    visited.add(withoutFragment(url));
    const response = await web({ method: 'HEAD', url: url.href, timeoutMs: requestTimeoutMs });
    if (response.status === 'failed') return failureResult(response, redirects);
    setsCookies ||= 'set-cookie' in response.headers;
    const target = REDIRECTS.has(response.code) ? targetOf(response.headers.location, url) : null;
    if (!target) return statusCodeResult(response.code);
    if (!/^https?:$/.test(target.protocol))
      return unknownResult('it redirects to a URL that is neither http nor https');
    url = target;
  }
}

/** Some sites redirect in a loop until the visitor sends back a cookie, as a browser would. */
function redirectLoop(setsCookies: boolean): LinkResult {
  return setsCookies
    ? unknownResult('it redirects visitors without cookies in a loop')
    : { status: 'dead', reason: 'it redirects in a loop' };
}

function failureResult(failure: WebResult & { status: 'failed' }, redirects: number): LinkResult {
  const reason = redirects > 0 ? `redirect target: ${failure.detail}` : failure.detail;
  if (failure.reason === 'no_such_name') return { status: 'dead', reason };
  const notRequested = failure.reason === 'bad_url' || failure.reason === 'limit';
  return { status: notRequested && redirects === 0 ? 'not_asked' : 'unknown', reason };
}

function statusCodeResult(code: number): LinkResult {
  if (code === 404) return { status: 'dead', reason: 'page not found (404)' };
  if (code === 410) return { status: 'dead', reason: 'page permanently removed (410)' };
  if (code >= 200 && code < 300)
    return { status: 'works', reason: `the server responded with ${code}` };
  return unknownResult(
    `the server responded with ${code}, which does not show whether the page exists`,
  );
}

const unknownResult = (reason: string): LinkResult => ({ status: 'unknown', reason });

// A header value has one character per octet. Servers write UTF-8 into it, as browsers expect.
function targetOf(location: string | undefined, base: URL): URL | null {
  if (!location) return null;
  const text = Buffer.from(location, 'latin1').toString('utf8');
  return URL.parse(text.includes('\ufffd') ? location : text, base.href);
}

const withoutFragment = ({ href }: URL): string => href.split('#', 1)[0]!;
