/** What clients know of the services: where one runs, and how to ask it until it answers. */

import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Db } from '../../../src/store/open.ts';
import type { Random } from '../../helpers/random.ts';
import type { Figures, Load } from './load.ts';

const MAX_RETRY_PAUSE_MS = 250;
/** An Idempotency-Key in use for longer belongs to a request of a killed service. */
const KEY_PATIENCE_MS = 2_000;

/** 429: several nodes count a sign-in as failed until it ends, also if a kill was its end. */
const BUSY = [429, 503];

/** A running service. */
export interface Address {
  url: string;
  smtpPort: number;
}

export interface Site {
  random: Random;
  /** A running service; null while there is none. */
  pick(): Address | null;
  /** Repeats a request until a service answers; null if its Idempotency-Key stays in use. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer | null>;
  /** Changes the database while a service uses it; perhaps twice, if the database stops meanwhile. */
  write(work: (db: Db) => Promise<void>): Promise<void>;
  /** Replies by status and code, and lost connections. */
  replies: Figures;
  count(reply: string): void;
  /** What clients must never see, as sentences. */
  faults: string[];
  /** Rejects once the test is over. */
  retryPause(): Promise<void>;
  isOver: boolean;
  /** Rejects when a client fails. */
  failed: Promise<never>;
  fail(error: unknown): void;
}

interface CallOptions {
  body?: string | Uint8Array;
  type?: string;
  idempotencyKey?: string;
  /** Without credentials. */
  anonymous?: boolean;
}

/** The body of a response. */
export type Answer = { id: string } & Record<string, unknown>;

interface SiteOptions extends Pick<Site, 'random' | 'pick' | 'write'> {
  /** The API key of the owner. */
  key: string;
}

export function createSite({ key, random, pick, write }: SiteOptions): Site {
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => {});
  const site: Site = {
    failed: failure.promise,
    fail: failure.reject,
    random,
    pick,
    write,
    replies: {},
    faults: [],
    count(reply) {
      site.replies[reply] = (site.replies[reply] ?? 0) + 1;
    },
    isOver: false,
    async retryPause() {
      if (site.isOver) throw new Error('the test is over');
      await pause(random.below(MAX_RETRY_PAUSE_MS));
    },
    async call(method, path, options = {}) {
      let inUseSince: number | null = null;
      for (;;) {
        const address = pick();
        const response = address && (await request(address, key, method, path, options));
        if (address && !response) site.count('HTTP disconnected');
        if (response) {
          const { status, text } = response;
          site.count(`HTTP ${status}`);
          if (status === 200 || status === 201) return JSON.parse(text);
          if (status === 409) {
            inUseSince ??= performance.now();
            if (performance.now() - inUseSince > KEY_PATIENCE_MS) {
              site.count('key given up');
              return null;
            }
          } else if (!BUSY.includes(status) || !response.retryAfter) {
            site.faults.push(`${method} ${path} responded ${status}: ${text.slice(0, 200)}`);
            return null;
          }
        }
        await site.retryPause();
      }
    },
  };
  return site;
}

/** Null if the connection was lost. */
export async function request(
  { url }: Address,
  key: string,
  method: string,
  path: string,
  { body, type = 'application/json', idempotencyKey, anonymous = false }: CallOptions = {},
) {
  const headers = {
    ...(anonymous ? {} : { authorization: `Bearer ${key}` }),
    ...(body === undefined ? {} : { 'content-type': type }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  };
  try {
    const response = await fetch(url + path, { method, headers, body: body as never });
    const text = await response.text();
    return { status: response.status, text, retryAfter: response.headers.get('retry-after') };
  } catch {
    return null;
  }
}

/** Lets the clients of all loads work. Resolves with a function that ends them once their last unit is done. */
export function startClients(t: TestContext, site: Site, loads: Load[]): () => Promise<void> {
  let isStopping = false;
  t.after(() => {
    isStopping = true;
    site.isOver = true;
  });
  const forever = async ({ work, maxPauseMs = 0 }: Load) => {
    while (!isStopping) {
      await work!(site);
      await pause(site.random.below(maxPauseMs));
    }
  };
  const clients = loads
    .filter(({ work }) => work)
    .flatMap((load) => Array.from({ length: load.clients ?? 1 }, () => forever(load)));
  const all = Promise.all(clients);
  all.catch(site.fail);
  return async () => {
    isStopping = true;
    await all;
  };
}
