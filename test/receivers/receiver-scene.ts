/** A service with accounts at local receivers, whose fetches a test starts itself, at times that it sets. */

import type { TestContext } from 'node:test';
import { type Observation, observed } from '../../src/events/observations.ts';
import { type FetchResult, fetchNow } from '../../src/receivers/fetch-account.ts';
import { subscribe } from '../../src/store/subscribers.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { type PostmasterServer, startPostmasterServer } from '../helpers/postmaster-server.ts';
import { type SndsServer, startSndsServer } from '../helpers/snds-server.ts';
import { startTokenServer, type TokenServer } from '../helpers/token-server.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export interface ReceiverScene extends TestService {
  tokens: TokenServer;
  postmaster: PostmasterServer;
  snds: SndsServer;
  /** The configuration of the accounts, for commands beside the service. */
  env: Record<string, string>;
  advance(ms: number): void;
  /** Fetches from the account as the job would. Null if another node does. */
  fetch(name?: string): Promise<FetchResult | null>;
  /** What was published since the last call, except about the accounts themselves. */
  observations(): Observation[];
  /** The data of all events `receiver.status_changed`, oldest first. */
  changes(): Promise<Record<string, unknown>[]>;
  addDomain(name: string): Promise<string>;
}

/** The first fetches are on 22 November 2026 at 03:00 UTC. `google` and `snds`: more fields of the accounts. */
export async function startReceivers(
  t: TestContext,
  {
    google = { refresh_token: 'first-refresh-token' },
    snds: access = { key: 'snds-key' } as object,
    start = '2026-11-22T03:00:00.000Z',
  } = {} as {
    google?: object;
    snds?: object;
    start?: string;
  },
): Promise<ReceiverScene> {
  let now = Date.parse(start);
  const tokens = await startTokenServer(t);
  const postmaster = await startPostmasterServer(t, { accessTokens: tokens.accessTokens });
  const snds = await startSndsServer(t);
  const accounts = [
    {
      receiver: 'google_postmaster',
      client_id: 'app',
      client_secret: 'client-secret',
      token_url: tokens.url,
      base_url: postmaster.url,
      ...google,
    },
    { receiver: 'microsoft_snds', base_url: snds.url, ...access },
  ];
  const env = { DELIVERABILITY_RECEIVERS: JSON.stringify(accounts) };
  const service = await startTestService(t, { clock: { now: () => now }, env });
  await service.app.scheduler.stop();
  await service.app.db
    .updateTable('receivers')
    .set({
      next_fetch_at: null,
      attempted_at: null,
      fetched_at: null,
      failures: 0,
      lease: null,
      problem: null,
      problem_detail: null,
      failing_since: null,
      leased_until: null,
      state: null,
    })
    .execute();
  await service.app.db.deleteFrom('events').execute();
  for (const { exchanges } of [postmaster, snds]) exchanges.length = 0;
  let published: Observation[] = [];
  service.app.subscribers.add(
    subscribe(observed, async (_tx, observations) => {
      published.push(...observations.filter(({ kind }) => kind !== 'receiver'));
    }),
  );
  return {
    ...service,
    tokens,
    postmaster,
    snds,
    env,
    advance(ms) {
      now += ms;
    },
    fetch(name = 'google_postmaster') {
      const account = service.app.config.RECEIVERS.find((each) => each.name === name)!;
      return fetchNow(service.app, account, new AbortController().signal);
    },
    observations() {
      const all = published;
      published = [];
      return all;
    },
    async changes() {
      const rows = await service.app.db
        .selectFrom('events')
        .select('data')
        .where('type', '=', 'receiver.status_changed')
        .orderBy('id')
        .execute();
      return rows.map(({ data }) => JSON.parse(data));
    },
    async addDomain(name) {
      const { body } = await service.call('POST', '/v1/domains', { json: { name } });
      return String(body.id);
    },
  };
}
