/** Asks web addresses by HEAD whether they are there, side by side, redirects followed by hand. */

import type { Web, WebAnswer } from '../../net/web.ts';

export interface LinkAnswer {
  status: 'works' | 'dead' | 'unknown' | 'not_asked';
  /** Half a sentence. */
  reason: string;
}

export interface AskingOptions {
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
    if (redirects > MAX_REDIRECTS) return unknown(`it redirects more than ${MAX_REDIRECTS} times`);
    if (redirects > 0) {
      const reason = caution(url);
      if (reason) return unknown(`it redirects to an address that was not asked: ${reason}`);
      if (time.over) return unknown('it redirects, and there was no time left to follow');
    }
    seen.add(withoutFragment(url));
    const answer = await web({ method: 'HEAD', url: url.href, timeoutMs: requestMs });
    if (answer.status === 'failed') return failure(answer, redirects);
    cookies ||= 'set-cookie' in answer.headers;
    const target = REDIRECTS.has(answer.code) ? targetOf(answer.headers.location, url) : null;
    if (!target) return judge(answer.code);
    if (!/^https?:$/.test(target.protocol))
      return unknown('it redirects to what is no web address');
    url = target;
  }
}

/** Without the cookie that a browser would bring, some sites send everybody round in a circle. */
function loop(cookies: boolean): LinkAnswer {
  return cookies
    ? unknown('it redirects in a circle to a visitor without cookies')
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
  return unknown(`it answered with ${code}, which does not tell whether it is there`);
}

const unknown = (reason: string): LinkAnswer => ({ status: 'unknown', reason });

// A header comes as one character for each octet; servers write UTF-8 into it, as browsers expect.
function targetOf(location: string | undefined, base: URL): URL | null {
  if (!location) return null;
  const text = Buffer.from(location, 'latin1').toString('utf8');
  return URL.parse(text.includes('\ufffd') ? location : text, base.href);
}

const withoutFragment = (url: URL): string => url.href.replace(/#.*$/s, '');
