/** Accounts at a local Google Postmaster Tools and a local Microsoft SNDS, with figures about example.com. */

import type { TestContext } from 'node:test';
import { isoTime } from '../../src/lib/clock.ts';
import {
  type PostmasterServer,
  servedCompliance,
  servedDomain,
  startPostmasterServer,
} from '../helpers/postmaster-server.ts';
import {
  blockedRange,
  type SndsServer,
  servedAddress,
  startSndsServer,
} from '../helpers/snds-server.ts';
import { startTokenServer, type TokenServer } from '../helpers/token-server.ts';

export interface Accounts {
  tokens: TokenServer;
  postmaster: PostmasterServer;
  snds: SndsServer;
  /** The configuration of the service. */
  env: Record<string, string>;
  secrets: Map<string, string>;
}

const DAY_MS = 86_400_000;

/** `now`: in milliseconds; the figures are about the days before. Each answer has a new refresh token. */
export async function startAccounts(t: TestContext, now: number): Promise<Accounts> {
  const secrets = new Map([
    ['key of SNDS', 'snds-key-that-nobody-sees'],
    ['client secret', 'GOCSPX-secret-of-the-app'],
    ['first refresh token', '1//first-refresh-token'],
  ]);
  const [key, clientSecret, refreshToken] = secrets.values();
  let count = 0;
  const tokens = await startTokenServer(t, {
    on(exchange) {
      const sent = new URLSearchParams(exchange.body).get('refresh_token') ?? '';
      if (!tokens.refreshTokens.delete(sent)) return false;
      count += 1;
      const access_token = `ya29.access-token-${count}`;
      const refresh_token = `1//refresh-token-${count}`;
      secrets.set(access_token, access_token).set(refresh_token, refresh_token);
      tokens.accessTokens.add(access_token);
      tokens.refreshTokens.add(refresh_token);
      exchange.json(200, { token_type: 'Bearer', access_token, refresh_token, expires_in: 3600 });
      return true;
    },
  });
  tokens.refreshTokens.add(refreshToken!);
  const dayAgo = (age: number) => isoTime(now - age * DAY_MS).slice(0, 10);
  const postmaster = await startPostmasterServer(t, { accessTokens: tokens.accessTokens });
  postmaster.domains.set(
    'example.com',
    servedDomain({
      days: {
        [dayAgo(3)]: {
          spamRate: 0.0021,
          spf: 0.98,
          dkim: 1,
          dmarc: 1,
          tlsRate: 1,
          tlsMessages: 900,
        },
        [dayAgo(2)]: {
          spamRate: 0.0034,
          errors: [{ type: 'reject', reason: 'other', rate: 0.01 }],
        },
      },
      compliance: servedCompliance({ DKIM: 'NEEDS_WORK' }),
    }),
  );
  const snds = await startSndsServer(t, {
    keys: new Set([key!]),
    days: { [dayAgo(2)]: [servedAddress('192.0.2.1', dayAgo(2), { filterResult: 'RED' })] },
    ranges: [blockedRange('192.0.2.1')],
  });
  const accounts = [
    {
      receiver: 'google_postmaster',
      client_id: 'app',
      client_secret: clientSecret,
      refresh_token: refreshToken,
      token_url: tokens.url,
      base_url: postmaster.url,
    },
    { receiver: 'microsoft_snds', key, base_url: snds.url },
  ];
  return {
    tokens,
    postmaster,
    snds,
    secrets,
    env: { DELIVERABILITY_RECEIVERS: JSON.stringify(accounts) },
  };
}
