/**
 * The token endpoint. The library reads requests, verifies PKCE, clients and redirect URIs, and writes responses and
 * errors; this file stores what it decides, in one transaction.
 *
 * A refresh token is used once (OAuth 2.1 §4.3.1). Used again, it may be stolen, so the connection ends. But for some
 * seconds it is accepted again: a client that has lost the response, or refreshes twice at once, must not lose its
 * connection. Of the tokens that it was exchanged for, only the one that is used first stays valid.
 */

import type { AuthorizationCodeModel, RefreshTokenModel } from '@node-oauth/oauth2-server';
import type { App } from '../app.ts';
import { requireProtectedResource, SCOPE } from '../http/protected-resource.ts';
import type { Transact } from '../http/route.ts';
import { isoTime } from '../lib/clock.ts';
import { randomSecret, sha256 } from '../lib/crypto.ts';
import { DAY_MS, HOUR_MS } from '../lib/durations.ts';
import { lockIn, type Tx } from '../store/open.ts';
import type { ConnectedAssistantRow } from '../store/tables.generated.ts';
import { ACCESS_TOKEN_PREFIX, endConnection } from '../team/assistants.ts';
import type { Author } from '../team/audit.ts';
import { isKnownClient } from './clients.ts';

const ACCESS_TOKEN_LIFETIME_MS = HOUR_MS;
const REFRESH_TOKEN_LIFETIME_MS = 60 * DAY_MS;
const REUSE_GRACE_MS = 30_000;

export const GRANTS = ['authorization_code', 'refresh_token'];

interface Caller {
  app: App;
  caller: Author['caller'];
  transact: Transact;
}

/** Exchanges a code or a refresh token. The response is as in RFC 6749 §5.1 or §5.2. */
export async function exchangeToken(
  { app, caller, transact }: Caller,
  body: Record<string, string>,
): Promise<Response> {
  const { grant_type = '' } = body;
  if (!GRANTS.includes(grant_type)) {
    const error = grant_type ? 'unsupported_grant_type' : 'invalid_request';
    const error_description = `Use ${GRANTS.join(' or ')}.`;
    return Response.json({ error, error_description }, { status: 400 });
  }
  const { default: OAuth2Server } = await import('@node-oauth/oauth2-server');
  // The library finds a body by its length. It gets no `Authorization`: clients have no secret.
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': '1',
  };
  return transact(async (tx) => {
    const response = new OAuth2Server.Response();
    const server = new OAuth2Server({
      model: createModel(tx, { app, actor: null, caller }, body),
      accessTokenLifetime: ACCESS_TOKEN_LIFETIME_MS / 1000,
      requireClientAuthentication: { [grant_type]: false },
    });
    const request = new OAuth2Server.Request({ method: 'POST', query: {}, headers, body });
    try {
      await server.token(request, response);
    } catch (error) {
      // A refusal is committed: a code is used, or a connection has ended.
      const { name, inner } = error as { name: string; inner?: unknown };
      if (name === 'server_error' || !(error instanceof OAuth2Server.OAuthError))
        throw inner ?? error;
      // A client registers again after this status.
      if (name === 'invalid_client') response.status = 401;
    }
    return Response.json(response.body, { status: response.status });
  });
}

function createModel(
  tx: Tx,
  author: Author & { app: App },
  body: Record<string, string>,
): AuthorizationCodeModel & RefreshTokenModel {
  const { config, clock } = author.app;
  const now = clock.now();
  const clientOf = (id: string) => ({ id, grants: GRANTS });
  /** RFC 6749 §4.1.2: a second use ends what the first has led to. */
  const grantOf = async (assistant: ConnectedAssistantRow, isReused: boolean) => {
    if (!isReused)
      return { client: clientOf(assistant.client_id), user: assistant, scope: [SCOPE] };
    await endConnection(tx, author, 'connected_assistant.token_reused', assistant);
    return null;
  };
  return {
    getClient: async (id) => isKnownClient(id) && clientOf(id),

    async getAuthorizationCode(authorizationCode) {
      const query = tx
        .selectFrom('connected_assistants')
        .selectAll()
        .where('code_hash', '=', sha256(authorizationCode));
      const row = await lockIn(tx, query).executeTakeFirst();
      if (!row || Date.parse(row.expires_at) <= now) return null;
      const grant = await grantOf(row, row.code_used_at !== null);
      return (
        grant && {
          ...grant,
          authorizationCode,
          // The library compares it with the clock of the machine. It is checked above.
          expiresAt: new Date(8.64e15),
          // OAuth 2.1 §10.2: newer clients leave it out. PKCE ties the code to its request.
          redirectUri: body.redirect_uri === undefined ? '' : row.redirect_uri,
          codeChallenge: row.code_challenge,
          codeChallengeMethod: 'S256',
        }
      );
    },

    async revokeAuthorizationCode({ user }) {
      const used = { code_used_at: isoTime(now) };
      await tx.updateTable('connected_assistants').set(used).where('id', '=', user.id).execute();
      return true;
    },

    async getRefreshToken(refreshToken) {
      const query = tx
        .selectFrom('assistant_tokens as token')
        .innerJoin('connected_assistants as assistant', 'assistant.id', 'assistant_id')
        .selectAll('assistant')
        .select('used_at')
        .where('hash', '=', sha256(refreshToken))
        .where('kind', '=', 'refresh')
        // Tokens for another URL would be refused at /mcp: the client must ask the member again.
        .where('resource', '=', requireProtectedResource(config).resource)
        .where('token.expires_at', '>', isoTime(now));
      const found = await lockIn(tx, query, 'assistant').executeTakeFirst();
      // Read again once it is locked: another request may have used it meanwhile.
      const row = found && (await query.executeTakeFirst());
      if (!row) return null;
      const { used_at, ...assistant } = row;
      const isReused = used_at !== null && Date.parse(used_at) <= now - REUSE_GRACE_MS;
      const grant = await grantOf(assistant, isReused);
      return grant && { ...grant, refreshToken };
    },

    async revokeToken({ refreshToken, user }) {
      const hash = sha256(refreshToken);
      const tokens = tx
        .updateTable('assistant_tokens')
        .where('assistant_id', '=', user.id)
        .where('kind', '=', 'refresh');
      const { numUpdatedRows } = await tokens
        .set({ used_at: isoTime(now) })
        .where('hash', '=', hash)
        .where('used_at', 'is', null)
        .executeTakeFirstOrThrow();
      // Its first use shows that it has arrived: no other token is accepted any more.
      const used_at = isoTime(now - REUSE_GRACE_MS);
      if (numUpdatedRows === 1n)
        await tokens
          .set({ used_at })
          .where('hash', '!=', hash)
          .where(({ eb, or }) => or([eb('used_at', 'is', null), eb('used_at', '>', used_at)]))
          .execute();
      return true;
    },

    generateAccessToken: async () => `${ACCESS_TOKEN_PREFIX}${randomSecret()}`,
    generateRefreshToken: async () => `dlv_refresh_${randomSecret()}`,
    validateScope: async () => [SCOPE],

    async saveToken(token, client, user) {
      const expires_at = isoTime(now + REFRESH_TOKEN_LIFETIME_MS);
      const tokens = [
        { kind: 'access', text: token.accessToken, ends: isoTime(now + ACCESS_TOKEN_LIFETIME_MS) },
        { kind: 'refresh', text: token.refreshToken!, ends: expires_at },
      ] as const;
      const rows = tokens.map(({ kind, text, ends }) => ({
        hash: sha256(text),
        assistant_id: user.id as string,
        kind,
        expires_at: ends,
      }));
      await tx.insertInto('assistant_tokens').values(rows).execute();
      const assistants = tx.updateTable('connected_assistants').set({ expires_at });
      await assistants.where('id', '=', user.id).execute();
      return { ...token, client, user };
    },

    // For endpoints of the library that aren't served here.
    getAccessToken: async () => null,
    saveAuthorizationCode: async () => null,
  };
}

/** Ends the connection of a token (RFC 7009 §2). Ignores unknown tokens, and those of other clients. */
export async function revokeToken(
  { app, caller, transact }: Caller,
  { token = '', client_id = '' }: Record<string, string>,
): Promise<void> {
  await transact(async (tx) => {
    const assistant = await tx
      .selectFrom('assistant_tokens')
      .innerJoin('connected_assistants as assistant', 'assistant.id', 'assistant_id')
      .selectAll('assistant')
      .where('hash', '=', sha256(token))
      .where('client_id', '=', client_id)
      .executeTakeFirst();
    const author = { app, actor: null, caller };
    if (assistant) await endConnection(tx, author, 'connected_assistant.revoked', assistant);
  });
}
