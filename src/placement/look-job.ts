/** The job that looks into seed mailboxes: one session for each mailbox that tests need and this node has claimed. */

import type { App } from '../app.ts';
import { LOOK_JOB } from '../mailtests/placement.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { renewLeases } from '../store/leases.ts';
import { sourceFor } from './seed-sources.ts';
import { claimSeeds, heldSeeds, LEASE_MS, releaseSeed } from './seeds.ts';
import { Session } from './session.ts';

const RENEW_INTERVAL_MS = 30_000;

export function lookJob(app: App): Job {
  const sessions = new Map<string, Session>();
  const arrivals = new Map<string, string>();
  let renewedAt = app.clock.now();
  let stopped = false;

  async function end(name: string, session: Session): Promise<void> {
    sessions.delete(name);
    arrivals.delete(name);
    await session.close();
  }

  async function keepLeases(): Promise<void> {
    if (sessions.size === 0 || app.clock.now() - renewedAt < RENEW_INTERVAL_MS) return;
    const leases = leasesOf([...sessions.values()]);
    await renewLeases(app.db, app.clock, { table: 'seed_mailboxes', leases, leaseMs: LEASE_MS });
    renewedAt = app.clock.now();
    const held = await heldSeeds(app.db, leases);
    // Another node has taken over, for example because this process was suspended.
    for (const [name, session] of sessions) if (!held.has(name)) await end(name, session);
  }

  async function claimMore(): Promise<void> {
    const others = app.config.SEED_MAILBOXES.filter(({ name }) => !sessions.has(name));
    if (sessions.size === 0) renewedAt = app.clock.now();
    for (const { id, lease, failures } of await claimSeeds(
      app,
      others.map(({ name }) => name),
    )) {
      const seed = others.find(({ name }) => name === id)!;
      sessions.set(id, new Session(app, seed, { lease, failures }, sourceFor(app, seed)));
    }
  }

  /** Wakes the sessions of mailboxes for which a test was created, or got its message. */
  async function noticeArrivals(): Promise<void> {
    if (sessions.size === 0) return;
    const rows = await app.db
      .selectFrom('placements')
      .innerJoin('tests', 'tests.id', 'placements.test_id')
      .select(['placements.seed'])
      .select(({ fn }) => [
        fn.max('tests.id').as('newest'),
        fn.max('tests.received_at').as('received_at'),
      ])
      .where('placements.settled_at', 'is', null)
      .where('placements.seed', 'in', [...sessions.keys()])
      .groupBy('placements.seed')
      .execute();
    for (const { seed, newest, received_at } of rows) {
      const latest = `${newest} ${received_at}`;
      if (arrivals.get(seed) !== latest) sessions.get(seed)?.wake();
      arrivals.set(seed, latest);
    }
  }

  /** Somebody has signed in to a mailbox that could not be read, which resets its row. */
  async function noticeSignIns(): Promise<void> {
    const failing = [...sessions.keys()].filter((name) => sessions.get(name)!.isFailing());
    if (failing.length === 0) return;
    const reset = await app.db
      .selectFrom('seed_mailboxes')
      .select('id')
      .where('id', 'in', failing)
      .where('failures', '=', 0)
      .where('next_look_at', 'is', null)
      .execute();
    for (const { id } of reset) sessions.get(id)?.retry();
  }

  return {
    name: LOOK_JOB,
    tick: '* * * * * *',
    async run() {
      if (app.config.SEED_MAILBOXES.length === 0 || stopped) return;
      await keepLeases();
      for (const [name, session] of sessions) {
        if (!session.isOver()) continue;
        await end(name, session);
        await releaseSeed(app.db, { id: name, lease: session.lease });
      }
      await claimMore();
      await noticeArrivals();
      await noticeSignIns();
      for (const session of sessions.values()) session.tick();
    },
    async idle() {
      stopped = true;
      const ended = [...sessions];
      await Promise.all(ended.map(([name, session]) => end(name, session)));
      for (const [id, { lease }] of ended) await releaseSeed(app.db, { id, lease });
    },
  };
}

const leasesOf = (sessions: Session[]): string[] => [
  ...new Set(sessions.map(({ lease }) => lease)),
];
