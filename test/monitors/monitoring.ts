/** For tests of monitors: a service with a controllable clock and a real DNS server on loopback. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { runMonitorsJob } from '../../src/monitors/run.ts';
import { createDnsResolver } from '../../src/net/dns/network-resolver.ts';
import type { Zone } from '../../src/net/dns/zone.ts';
import { type ServiceOptions, startTestService, type TestService } from '../helpers/app.ts';
import { blocklistZone } from '../helpers/blocklists.ts';
import { type TestClock, testClock } from '../helpers/clock.ts';
import { type DnsTestServer, startDnsServer } from '../helpers/dns-server.ts';
import type { List } from '../team/team-service.ts';

export const MONITORS = '/v1/monitors';
/** Not a documentation address, because those are never queried. */
export const ADDRESS = '203.0.114.7';
export const REVERSED = '7.114.0.203';
export const HOUR_MS = 3_600_000;

export interface Monitor {
  id: string;
  status: string;
  enabled: boolean;
  targets: string[] | null;
  address: string | null;
  detail: string | null;
  frequency: string;
  last_run_at: string | null;
  next_run_at: string | null;
}

export interface Run {
  id: string;
  started_at: string;
  finished_at: string;
  status: string;
  targets: { target: string; known: boolean }[];
  findings: Record<string, unknown>[];
  changes: Record<'appeared' | 'gone' | 'unknown', Record<string, unknown>[]>;
}

export interface Monitoring {
  service: TestService;
  dns: DnsTestServer;
  clock: TestClock;
  /** Runs what is due by the clock and waits until it is done. */
  runDue(): Promise<void>;
  create(json?: object): Promise<Monitor>;
  get(id: string): Promise<Monitor>;
  /** All runs, oldest first. */
  runs(id: string): Promise<Run[]>;
  /** The runs that sent `monitor.alert`, oldest first. */
  alerts(): Promise<(Run & { monitor: Monitor })[]>;
}

interface Options extends ServiceOptions {
  clock?: TestClock;
  dns?: DnsTestServer;
  /** How long to wait for lists that don't answer. A short time is too short for a busy machine. */
  dnsTimeoutMs?: number;
  /** Lets the scheduler run the jobs. */
  jobs?: true;
}

/** All lists work. */
export async function serveLists(t: TestContext, zone: Zone = {}): Promise<DnsTestServer> {
  const dns = await startDnsServer({ ...blocklistZone(), ...zone });
  t.after(() => dns.close());
  return dns;
}

/** The test runs the jobs. Two address lists and one name list are enabled. */
export async function startMonitoring(t: TestContext, options: Options = {}): Promise<Monitoring> {
  const {
    clock = testClock(),
    dns = await serveLists(t),
    dnsTimeoutMs = 5_000,
    ...others
  } = options;
  const { env, jobs, ...rest } = others;
  const resolver = createDnsResolver({ servers: [dns.address], clock, timeoutMs: dnsTimeoutMs });
  t.after(() => resolver.close());
  const service = await startTestService(t, {
    clock,
    resolver,
    ...rest,
    env: {
      DELIVERABILITY_BLOCKLISTS: '-all,+zen.spamhaus.org,+bl.spamcop.net,+dbl.spamhaus.org',
      ...env,
    },
  });
  const { app, call } = service;
  if (!jobs) await app.scheduler.stop();
  const job = runMonitorsJob(app);
  return {
    service,
    dns,
    clock,
    async runDue() {
      await job.run();
      await job.idle!();
    },
    async create(json = {}) {
      const body = { name: 'Ours', type: 'blocklist', frequency: 'hourly', ...json };
      if (body.type === 'blocklist' && !('domain_id' in body))
        Object.assign(body, { targets: [ADDRESS], ...json });
      const made = await call<Monitor>('POST', MONITORS, { json: body });
      assert.equal(made.status, 201, made.text);
      return made.body;
    },
    get: async (id) => (await call<Monitor>('GET', `${MONITORS}/${id}`)).body,
    async runs(id) {
      const all: Run[] = [];
      for (let more = true, after = ''; more; after = `&starting_after=${all.at(-1)?.id}`) {
        const path = `${MONITORS}/${id}/runs?limit=100${after}`;
        const { body } = await call<List<Run>>('GET', path);
        all.push(...body.data);
        more = body.has_more;
      }
      return all.reverse();
    },
    async alerts() {
      const { body } = await call<List<{ data: Run & { monitor: Monitor } }>>(
        'GET',
        '/v1/events?type=monitor.alert&limit=100',
      );
      return body.data.map(({ data }) => data).reverse();
    },
  };
}
