/** What a browser keeps for us while it is at the provider: sealed in a cookie, so that we keep nothing. */

import * as v from 'valibot';
import type { App } from '../app.ts';
import { cookieField, cookieValues, sessionCookieName } from '../http/session-cookie.ts';

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

/** The `Set-Cookie` for a journey that begins now. Lax: the provider's redirect comes from another site, and must bring it. */
export function journeyCookie(app: Context, journey: Omit<Journey, 'until'>): string {
  const until = app.clock.now() + VALID_MS;
  const sealed = app.secrets.seal(JSON.stringify({ ...journey, until }), PURPOSE);
  return cookieField(nameOf(app), sealed, app.config, VALID_MS / 1000);
}

/** The `Set-Cookie` that takes it away: a journey ends once. */
export function clearedJourneyCookie(app: Context): string {
  return cookieField(nameOf(app), '', app.config, 0);
}

/** null where the browser has none, or one that is not ours or has run out. */
export function readJourney(app: Context, header: string | null): Journey | null {
  const [sealed] = cookieValues(header, nameOf(app));
  const text = sealed && app.secrets.open(sealed, PURPOSE);
  if (!text) return null;
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), Journey), text);
  return success && app.clock.now() < output.until ? output : null;
}

const nameOf = ({ config }: Context): string =>
  `${sessionCookieName(config.APP_URL.startsWith('https:'))}-oidc`;
