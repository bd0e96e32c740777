/** An OAuth 2 token endpoint that issues access tokens for refresh tokens. */

import type { TestContext } from 'node:test';
import { type HttpExchange, type HttpScript, startHttpScript } from './http-script.ts';

export interface TokenServer {
  url: string;
  /** The parameters of all token requests. */
  requests: URLSearchParams[];
  /** Refresh tokens that it accepts. */
  refreshTokens: Set<string>;
  /** Access tokens that mail servers accept. */
  accessTokens: Set<string>;
  /** Whether each answer has a new refresh token, and the former one ends. */
  rotates: boolean;
  expiresIn: number;
  /** Called for each token request; true if it has been answered. */
  on?(exchange: HttpExchange): boolean;
  /** Issues tokens as for a valid request. */
  issue(refreshToken: string | null): Record<string, unknown>;
}

export async function startTokenServer(
  t: TestContext,
  settings: Partial<Pick<TokenServer, 'rotates' | 'on' | 'expiresIn'>> = {},
): Promise<TokenServer> {
  let count = 0;
  const server: TokenServer = {
    url: '',
    requests: [],
    refreshTokens: new Set(['first-refresh-token']),
    accessTokens: new Set(),
    rotates: false,
    expiresIn: 3600,
    issue(refreshToken) {
      count += 1;
      const access_token = `access-${count}`;
      server.accessTokens.add(access_token);
      const tokens = { token_type: 'Bearer', access_token, expires_in: server.expiresIn };
      if (!server.rotates && refreshToken !== null) return tokens;
      if (refreshToken !== null) server.refreshTokens.delete(refreshToken);
      const refresh_token = `refresh-${count}`;
      server.refreshTokens.add(refresh_token);
      return { ...tokens, refresh_token };
    },
    ...settings,
  };
  const script: HttpScript = await startHttpScript(t, (exchange) => {
    const parameters = new URLSearchParams(exchange.body);
    server.requests.push(parameters);
    if (server.on?.(exchange)) return;
    const refreshToken = parameters.get('refresh_token') ?? '';
    if (server.refreshTokens.has(refreshToken)) exchange.json(200, server.issue(refreshToken));
    else
      exchange.json(400, {
        error: 'invalid_grant',
        error_description: 'AADSTS70008: The refresh token has expired.',
      });
  });
  server.url = `${script.url}/token`;
  return server;
}
