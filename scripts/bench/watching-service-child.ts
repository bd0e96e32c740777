/** The service with many domains and monitors, which all become due on a signal. */

import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';
import { readConfig } from '../../src/config/config.ts';
import { isoTime, systemClock } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import type { MailTlsResult, ProbeMailTls } from '../../src/net/smtp/probe.ts';
import { withPort25CircuitBreaker } from '../../src/net/smtp/probe.ts';
import { startService } from '../../src/service.ts';
import type { DomainRow, MonitorRow } from '../../src/store/tables.generated.ts';
import { createApiKey } from '../../src/team/api-keys.ts';
import { makeOwner } from '../../src/team/owner.ts';
import { SELECTOR, TOKEN, watchedDomain } from './watching-records.ts';

/** Whether mail servers answer on port 25, or outgoing connections are blocked, as in many clouds. */
export type Port25 = 'answers' | 'silent';

export interface WatchingReady {
  http: number;
  smtp: number;
  key: string;
}

type App = Awaited<ReturnType<typeof startService>>['app'];

const VALID = { valid: true, problem: null, names: [], issuer: null, validTo: null };

/** Replaces the probe, which must not connect to loopback addresses; takes as long as a real one. */
const PROBES: Record<Port25, ProbeMailTls> = {
  answers: () =>
    pause<MailTlsResult>(300, { status: 'tls', version: 'TLSv1.3', certificate: VALID }),
  // Half the timeout of the real probe.
  silent: () =>
    pause<MailTlsResult>(5000, {
      status: 'unreachable',
      silent: true,
      detail: 'no response in time',
    }),
};

// In the bundle, analysis threads run this file too.
if (isMainThread) await serve();

async function serve(): Promise<void> {
  const [folder, dns, domains, port25] = process.argv.slice(2) as [string, string, string, Port25];
  const { config } = readConfig({
    DELIVERABILITY_DATA_DIR: folder,
    DELIVERABILITY_HTTP_PORT: '0',
    DELIVERABILITY_SMTP_PORT: '0',
    DELIVERABILITY_SMTP_NAME: 'mx.bench.example',
    DELIVERABILITY_INBOX_DOMAIN: 'bench.example',
    DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns}`,
    DELIVERABILITY_SMTP_PROXY_PROTOCOL: '127.0.0.1/32',
    DELIVERABILITY_RATE_LIMIT: '0',
  });
  const { app, http, smtp, stop } = await startService(config, '0.0.0', {
    log: { ...silentLog, error: (...args) => console.error(...args) },
    probeMailTls: withPort25CircuitBreaker(PROBES[port25], systemClock),
  });
  const { owner } = await makeOwner(app, 'owner@bench.example');
  const { key } = await createApiKey(app, {
    memberId: owner.id,
    name: 'bench',
    role: 'owner',
    livemode: true,
  });
  await fill(app, Number(domains));
  process.on('SIGTERM', () => void stop().then(() => process.exit(0)));
  console.log(JSON.stringify({ http: http.port, smtp: smtp.port, key } satisfies WatchingReady));
  for await (const _ of createInterface(process.stdin)) {
    // All are due at the same time, as after an outage. Normally they are spread over the day.
    const now = isoTime(app.clock.now());
    await app.db.updateTable('domains').set({ next_check_at: now }).execute();
    await app.db.updateTable('monitors').set({ next_run_at: now }).execute();
    console.log(JSON.stringify(now));
  }
}

/** One monitor per domain, half of them of each type; half of the domains have a known selector. */
async function fill(app: App, count: number): Promise<void> {
  const now = isoTime(app.clock.now());
  await app.db.transaction().execute(async (tx) => {
    for (let index = 0; index < count; index++) {
      const domain = domainRow(app, index, now);
      await tx.insertInto('domains').values(domain).execute();
      await tx
        .insertInto('monitors')
        .values(monitorRow(app, index, domain, now))
        .execute();
    }
  });
}

function domainRow({ newId }: App, index: number, now: string): DomainRow {
  return {
    id: newId('dom'),
    name: watchedDomain(index),
    status: 'verified',
    token: TOKEN,
    created_at: now,
    verified_at: now,
    pending_since: now,
    last_checked_at: null,
    last_check_detail: null,
    next_check_at: null,
    missing_since: null,
    given_selectors: JSON.stringify(index % 4 < 2 ? [SELECTOR] : []),
    learnt_selectors: '[]',
    badge_enabled: 0,
    health_status: 'unknown',
    health_score: null,
    health_checks: '[]',
    health_checked_at: null,
    lease: null,
    leased_until: null,
    next_look_at: null,
    watched: null,
    tags: '[]',
  };
}

function monitorRow({ newId }: App, index: number, domain: DomainRow, now: string): MonitorRow {
  return {
    id: newId('mon'),
    name: `The monitor ${index}`,
    type: index % 2 === 0 ? 'domain_health' : 'blocklist',
    domain_id: domain.id,
    targets: null,
    token: null,
    frequency: 'hourly',
    enabled: 1,
    status: 'ok',
    last_run_at: null,
    next_run_at: null,
    created_at: now,
    lease: null,
    leased_until: null,
  };
}
