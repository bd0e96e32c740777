/** What a browser keeps for us while it is at the provider: sealed in a cookie, so that we keep nothing. */

import * as v from 'valibot';
import type { App } from '../app.ts';

const VALID_MS = 10 * 60_000;
const PURPOSE = 'sign-in by OpenID Connect';

const Journey = v.strictObject({
  /** Told to the provider, which tells it back: the answer is one to this browser's question. */
  state: v.string(),
  /** Comes back in the ID token. */
  nonce: v.string(),
  /** Proves to the provider that who brings the code is who asked for it (RFC 7636). */
  verifier: v.string(),
  /** Milliseconds since 1970. */
  until: v.number(),
});
export type Journey = v.InferOutput<typeof Journey>;

type Context = Pick<App, 'secrets' | 'clock' | 'config'>;

/** The `Set-Cookie` for a journey that begins now. */
export function journeyCookie(app: Context, journey: Omit<Journey, 'until'>): string {
  const until = app.clock.now() + VALID_MS;
  const sealed = app.secrets.seal(JSON.stringify({ ...journey, until }), PURPOSE);
  return cookie(app, sealed, VALID_MS / 1000);
}

/** The `Set-Cookie` that takes it away: a journey ends once. */
export function clearedJourneyCookie(app: Context): string {
  return cookie(app, '', 0);
}

/** null where the browser has none, or one that is not ours or has run out. */
export function readJourney(app: Context, header: string | null): Journey | null {
  const start = `${nameOf(app)}=`;
  const pair = (header ?? '')
    .split(';')
    .map((text) => text.trim())
    .find((text) => text.startsWith(start));
  const text = pair && app.secrets.open(pair.slice(start.length), PURPOSE);
  if (!text) return null;
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), Journey), text);
  return success && app.clock.now() < output.until ? output : null;
}

const isHttps = ({ config }: Context): boolean => config.APP_URL.startsWith('https:');

/** As with the cookie of a session, the prefix keeps neighbours from planting one. */
const nameOf = (app: Context): string =>
  isHttps(app) ? '__Host-deliverability-oidc' : 'deliverability-oidc';

/** Lax: the provider's redirect comes from another site, and must bring it. */
function cookie(app: Context, value: string, maxAge: number): string {
  return [
    `${nameOf(app)}=${value}`,
    'Path=/',
    `Max-Age=${maxAge}`,
    ...(isHttps(app) ? ['Secure'] : []),
    'HttpOnly',
    'SameSite=Lax',
  ].join('; ');
}
