/** What a browser keeps that has signed in to an account: there its tries count apart from those of strangers. */

import * as v from 'valibot';
import type { App } from '../app.ts';
import { cookieField, cookieValues, sessionCookieName } from '../http/session-cookie.ts';
import { randomToken, sha256 } from '../lib/crypto.ts';
import type { MemberRow } from '../store/tables.ts';
import { findMember } from './members.ts';

const VALID_MS = 365 * 86_400_000;
const PURPOSE = 'browser that has signed in';
/** Far longer than any of ours: what is longer is not worth opening. */
const LONGEST = 1000;

const Device = v.strictObject({
  id: v.string(),
  member: v.string(),
  /** Of the hash of the password: with another password, the cookie is worth nothing. */
  password: v.string(),
  /** Milliseconds since 1970. */
  until: v.number(),
});
type Device = v.InferOutput<typeof Device>;

type Context = Pick<App, 'secrets' | 'clock' | 'config'>;

/**
 * The `Set-Cookie` for a browser that has just signed in, or set the password by a link; null for a member without a password, at
 * whom nobody can guess. It is no credential: whoever has it still needs the password.
 */
export function deviceCookie(
  app: Context,
  { id: member, password_hash }: Pick<MemberRow, 'id' | 'password_hash'>,
): string | null {
  if (password_hash === null) return null;
  const until = app.clock.now() + VALID_MS;
  const device: Device = { id: randomToken(20), member, password: sha256(password_hash), until };
  const sealed = app.secrets.seal(JSON.stringify(device), PURPOSE);
  return cookieField(nameOf(app), sealed, app.config, VALID_MS / 1000);
}

/** The browser's own name, where it has signed in to this account and the password is still the same. */
export async function knownDevice(
  app: Context & Pick<App, 'db'>,
  header: string | null,
  account: string,
): Promise<string | null> {
  const [device] = cookieValues(header, nameOf(app)).flatMap((value) => open(app, value) ?? []);
  if (!device) return null;
  // Found by what the cookie says, not by the address that is tried: the time tells nothing of that.
  const member = await findMember(app.db, device.member);
  if (!member || member.email !== account || member.password_hash === null) return null;
  return sha256(member.password_hash) === device.password ? device.id : null;
}

function open(app: Context, sealed: string): Device | null {
  const text = sealed.length <= LONGEST ? app.secrets.open(sealed, PURPOSE) : null;
  if (text === null) return null;
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), Device), text);
  return success && app.clock.now() < output.until ? output : null;
}

const nameOf = ({ config }: Context): string =>
  `${sessionCookieName(config.APP_URL.startsWith('https:'))}-device`;
