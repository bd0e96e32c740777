/** A service whose domains use a real DNS server on loopback, with a clock controlled by the test. */

import type { TestContext } from 'node:test';
import { firstLookupJob } from '../../src/domains/first-lookup.ts';
import type { Domain } from '../../src/domains/schema.ts';
import { verifyDomainsJob } from '../../src/domains/verify-job.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { createDnsResolver } from '../../src/net/dns/network-resolver.ts';
import type { Zone } from '../../src/net/dns/zone.ts';
import { offlineWebClient } from '../../src/net/http/web.ts';
import { startTestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { startDnsServer } from '../helpers/dns-server.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export interface DomainEvent {
  type: string;
  data: { name: string; status: string; previous_health?: string; health: { status: string } };
}

export async function startDomainService(
  t: TestContext,
  zone: Zone = {},
  env: Record<string, string> = {},
) {
  const clock = testClock();
  const dns = await startDnsServer(zone);
  t.after(() => dns.close());
  const resolver = createDnsResolver({ servers: [dns.address], clock });
  t.after(() => resolver.close());
  const service = await startTestService(t, {
    clock,
    resolver,
    forgetDns: resolver.forget,
    env,
    web: offlineWebClient,
    probeMailTls: async () => ({ status: 'unreachable', silent: false, detail: 'port 25 is shut' }),
  });
  const { app, call } = service;
  // From here on, only the test runs the job.
  await app.scheduler.stop();
  const job = verifyDomainsJob(app);
  const nextDue = async () => {
    const row = await app.db
      .selectFrom('domains')
      .select('next_check_at')
      .where('next_check_at', 'is not', null)
      .orderBy('next_check_at')
      .limit(1)
      .executeTakeFirst();
    return row ? Date.parse(row.next_check_at!) : Number.POSITIVE_INFINITY;
  };
  const settle = async () => {
    while ((await nextDue()) <= clock.now()) {
      await job.run();
      await job.idle!();
    }
  };
  return {
    ...service,
    clock,
    dns,
    settle,
    /** Runs the job once, as the scheduler does every second. */
    async runOnce() {
      await job.run();
      await job.idle!();
    },
    /** Runs the first lookups that are due. */
    async lookUpFirst() {
      const looks = firstLookupJob(app);
      for (;;) {
        await looks.run();
        await looks.idle!();
        const due = app.db.selectFrom('domains').select('id').where('status', '!=', 'verified');
        const isDue = due.where('next_look_at', '<=', isoTime(clock.now()));
        if (!(await isDue.executeTakeFirst())) return;
      }
    },
    /** Advances the clock and runs what is due. Returns the times at which something ran. */
    async pass(ms: number): Promise<number[]> {
      const end = clock.now() + ms;
      const times: number[] = [];
      for (let due = await nextDue(); due <= end; due = await nextDue()) {
        clock.set(Math.max(due, clock.now()));
        times.push(clock.now());
        await settle();
      }
      clock.set(end);
      return times;
    },
    async add(name: string, more: object = {}): Promise<Domain> {
      const { body, status, text } = await call<Domain>('POST', '/v1/domains', {
        json: { name, ...more },
      });
      if (status !== 201) throw new Error(text);
      return body;
    },
    async get(id: string): Promise<Domain> {
      return (await call<Domain>('GET', `/v1/domains/${id}`)).body;
    },
    async verify(id: string) {
      return call<Domain>('POST', `/v1/domains/${id}/verify`, { json: undefined });
    },
    publish({ verification }: Pick<Domain, 'verification'>) {
      dns.zone[verification.name] = { TXT: [verification.value] };
    },
    withdraw({ verification }: Pick<Domain, 'verification'>) {
      delete dns.zone[verification.name];
    },
    /** All domain events, oldest first. */
    async domainEvents(): Promise<DomainEvent[]> {
      const rows = await app.db
        .selectFrom('events')
        .select(['type', 'data'])
        .where('type', 'like', 'domain.%')
        .orderBy('id')
        .execute();
      return rows.map(({ type, data }) => ({ type, data: JSON.parse(data) }));
    },
    now: () => isoTime(clock.now()),
  };
}
