/**
 * A seed mailbox at a provider that replaces the refresh token with each answer, and accepts the former one until the new
 * one is used. No refresh token is lost, because a new one is stored before its access token is used.
 */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type ImapServer, startImapServer } from '../../helpers/imap-server.ts';
import { startTokenServer, type TokenServer } from '../../helpers/token-server.ts';
import { createGate, type Load } from './load.ts';
import { mailboxFolders } from './placement.ts';

export interface SeedSignIn {
  load: Load;
  imap: ImapServer;
  /** Its entry in the configuration. */
  seed: object;
}

/** Refresh tokens and access tokens are numbered; the first refresh token is number zero. */
const numberOf = (token: string): number => Number(/-(\d+)$/.exec(token)?.[1] ?? 0);

export async function startSeedSignIn(t: TestContext): Promise<SeedSignIn> {
  const beforeAnswer = createGate();
  const use = createGate();
  const faults: string[] = [];
  let lastUsed = 0;
  let answered: (() => void) | null = null;
  let lost = '';
  let isSentAgain = 0;
  const tokens: TokenServer = await startTokenServer(t, {
    rotates: true,
    on({ body, response, json }) {
      const former = new URLSearchParams(body).get('refresh_token')!;
      if (numberOf(former) < lastUsed)
        faults.push(`${former} was sent after access-${lastUsed} was used`);
      if (!tokens.refreshTokens.has(former)) return false;
      if (former === lost) isSentAgain += 1;
      const answer = tokens.issue(former);
      tokens.refreshTokens.clear();
      tokens.refreshTokens.add(former).add(String(answer.refresh_token));
      if (beforeAnswer.pass()) {
        lost = former;
        return true;
      }
      if (answered) response.on('finish', answered);
      json(200, answer);
      return true;
    },
  });
  const imap = await startImapServer(t, {
    folders: mailboxFolders(),
    acceptsToken: (token) => tokens.accessTokens.has(token),
    on({ line }) {
      const sasl = /^AUTHENTICATE XOAUTH2 (\S+)$/i.exec(line)?.[1];
      if (sasl === undefined) return false;
      const [, token = ''] = /auth=Bearer (.*)\x01\x01$/.exec(
        Buffer.from(sasl, 'base64').toString(),
      )!;
      lastUsed = Math.max(lastUsed, numberOf(token));
      return use.pass() !== null;
    },
  });
  const seed = {
    provider: 'q',
    address: 'seed@mail.example',
    imap: `imap://127.0.0.1:${imap.port}`,
    client_id: 'app',
    token_url: tokens.url,
    refresh_token: 'first-refresh-token',
    device_url: 'https://login.example/device',
  };
  let usedBefore = 0;
  const load: Load = {
    name: 'sign-in',
    moments: [
      {
        name: 'before the answer of a token endpoint',
        holds: true,
        reach: () => beforeAnswer.close(),
        end() {
          beforeAnswer.open();
          return lost !== '';
        },
      },
      {
        name: 'after the answer of a token endpoint',
        once: true,
        async reach({ random }) {
          await new Promise<void>((resolve) => {
            answered = resolve;
          });
          await new Promise((resolve) => setTimeout(resolve, random.below(10)));
        },
        end() {
          answered = null;
          return true;
        },
      },
      {
        name: 'use of an access token',
        holds: true,
        reach() {
          usedBefore = lastUsed;
          return use.close();
        },
        end() {
          use.open();
          return lastUsed > usedBefore;
        },
      },
    ],
    async verify() {
      assert.deepEqual(faults, []);
      if (lost) assert.ok(isSentAgain > 0, 'the former token was not sent again');
      return { tokenRequests: tokens.requests.length };
    },
  };
  return { load, imap, seed };
}
