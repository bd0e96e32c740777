/**
 * Authorization requests (OAuth 2.1 §4.1.1), and what members decide. Errors never redirect: anyone can register a redirect
 * URI, so a link to this service could lead anywhere (RFC 9700 §4.11.2).
 */

import * as v from 'valibot';
import type { App } from '../app.ts';
import type { Role } from '../http/actor.ts';
import { requireProtectedResource } from '../http/protected-resource.ts';
import { isoTime } from '../lib/clock.ts';
import { randomSecret, sha256 } from '../lib/crypto.ts';
import { MINUTE_MS } from '../lib/durations.ts';
import { AppError } from '../lib/errors.ts';
import type { Tx } from '../store/open.ts';
import { type Author, audit } from '../team/audit.ts';
import { AUDITED_ASSISTANT } from '../team/audited.ts';
import { requireCanAssign } from '../team/permissions.ts';
import { type Client, findClient, isRedirectUriOf } from './clients.ts';

const parameter = v.optional(v.string(), '');

export const AuthorizationParameters = v.strictObject({
  client_id: parameter,
  redirect_uri: parameter,
  response_type: parameter,
  code_challenge: parameter,
  code_challenge_method: parameter,
  resource: parameter,
  state: parameter,
});
type AuthorizationParameters = v.InferOutput<typeof AuthorizationParameters>;

export interface AuthorizationRequest extends AuthorizationParameters {
  client: Client;
}

/** A SHA-256 hash in base64url (RFC 7636 §4.2). */
const CHALLENGE = /^[\w-]{43}$/;

/** Throws `not_found` if assistants can't be connected, and `malformed_request` for a request that can't be granted. */
export async function readAuthorizationRequest(
  app: App,
  parameters: AuthorizationParameters,
): Promise<AuthorizationRequest> {
  const { client_id, redirect_uri, response_type, resource, state } = parameters;
  requireOwnResource(app, resource ? [resource] : []);
  const client = await findClient(app, client_id);
  if (!client)
    throw refused(
      'The assistant is not registered here. Remove the connector there, and add it again',
    );
  if (!isRedirectUriOf(client, redirect_uri))
    throw refused('The redirect URI does not belong to the assistant');
  if (response_type !== 'code')
    throw refused('The assistant must ask for a code: response_type=code');
  if (parameters.code_challenge_method !== 'S256' || !CHALLENGE.test(parameters.code_challenge))
    throw refused('The assistant must use PKCE with S256');
  if (state.length > 1000) throw refused('The state parameter is too long');
  return { ...parameters, client };
}

/** Throws `malformed_request` for a resource that is not ours (RFC 8707 §2). Older clients send none. */
export function requireOwnResource({ config }: Pick<App, 'config'>, resources: string[]): void {
  const { issuer, resource } = requireProtectedResource(config);
  const own = [resource, `${issuer}/mcp`];
  if (!resources.every((name) => URL.canParse(name) && own.includes(new URL(name).href)))
    throw refused(`The assistant asks for another service. Give it this URL: ${resource}`);
}

const refused = (reason: string): AppError => new AppError('malformed_request', `${reason}.`);

interface Permissions {
  role: Role;
  livemode: boolean;
  writes: boolean;
  /** The tags to which it is limited; null for those of the member. */
  tags: string[] | null;
}

/** Stores the consent. The code is used at once (OAuth 2.1 §4.1.2). */
export async function allowClient(
  tx: Tx,
  author: Author & { app: Pick<App, 'config'>; actor: { memberId: string } },
  currentRole: Role,
  request: AuthorizationRequest,
  { role, livemode, writes, tags }: Permissions,
): Promise<{ code: string }> {
  requireCanAssign(currentRole, role);
  const { app, actor } = author;
  const { client, redirect_uri, code_challenge } = request;
  const code = randomSecret();
  const now = app.clock.now();
  const id = app.newId('con');
  const shown = { name: client.name, host: new URL(redirect_uri).host, role };
  await tx
    .insertInto('connected_assistants')
    .values({
      ...shown,
      id,
      member_id: actor.memberId,
      client_id: client.id,
      livemode: Number(livemode),
      writes: Number(writes),
      tags: tags && JSON.stringify(tags),
      resource: requireProtectedResource(app.config).resource,
      code_hash: sha256(code),
      code_challenge,
      redirect_uri,
      created_at: isoTime(now),
      expires_at: isoTime(now + MINUTE_MS),
    })
    .execute();
  const details = { ...shown, livemode, writes, ...(tags && { tags }), verified_by: client.host };
  await audit(tx, author, AUDITED_ASSISTANT, 'connected_assistant.connected', id, details);
  return { code };
}

/** Where the browser goes: with the issuer, so that a client of several servers can tell them apart (RFC 9207 §2). */
export function answerUrl(
  { config }: Pick<App, 'config'>,
  { redirect_uri, state }: AuthorizationRequest,
  answer: Record<string, string>,
): string {
  const url = new URL(redirect_uri);
  const { issuer: iss } = requireProtectedResource(config);
  for (const [name, value] of Object.entries({ ...answer, ...(state ? { state } : {}), iss }))
    url.searchParams.append(name, value);
  return url.href;
}
