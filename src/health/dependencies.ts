/** The current state of each dependency of the service. */

import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { NOT_TESTED } from '../analysis/blocklists/watch.ts';
import type { App } from '../app.ts';
import { isNearlyFull, sharesInWords, sharesOf } from '../feedback/storage/shares.ts';
import { storageUsage } from '../feedback/storage/usage.ts';
import type { ListenerName } from '../lib/connection-limits.ts';
import { errorMessage } from '../lib/errors.ts';
import { KNOWN } from '../net/dns/denials.ts';
import type { Mailer } from '../net/smtp/mailer.ts';
import { failingSeeds, seedErrorWords } from '../placement/seeds.ts';
import { providerName } from '../report/placement-rates.ts';
import { DatabaseReadOnlyError, DatabaseUnavailableError } from '../store/errors.ts';
import { type Db, engineOf } from '../store/open.ts';

export interface Dependency {
  name: string;
  /** `disabled`: not configured. */
  status: 'up' | 'degraded' | 'down' | 'disabled';
  detail: string | null;
  latency_ms: number | null;
}

/** Load balancers request the state every few seconds, so DNS is not queried each time. */
const DNS_PROBE_INTERVAL_MS = 30_000;
const DATABASE_TIMEOUT_MS = 2_000;
/** After this time without outgoing email, the mail server is tested by signing in. */
const MAIL_PROBE_INTERVAL_MS = 5 * 60_000;

/** All dependencies, in the order of the API; never rejects. */
export async function probeDependencies(app: App): Promise<Dependency[]> {
  const [dns, outgoing] = await Promise.all([probeDns(app), probeOutgoing(app)]);
  return [
    await probeDatabase(app),
    app.isSmtpListening()
      ? listener(app, 'mail_listener', 'smtp')
      : dependency('mail_listener', 'down', 'The SMTP listener is not running.'),
    listener(app, 'http_listener', 'http'),
    app.scheduler.running()
      ? dependency('scheduler', 'up', null)
      : dependency('scheduler', 'degraded', 'The scheduler is stopped.'),
    dns,
    outgoing,
    await seedMailboxes(app),
    blocklists(app),
    await feedbackStorage(app),
  ];
}

const dependency = (
  name: string,
  status: Dependency['status'],
  detail: string | null,
): Dependency => ({
  name,
  status,
  detail,
  latency_ms: null,
});

const NO_RESPONSE_YET = 'No response yet.';
const NOT_TESTED_YET = 'Not tested yet';

/** Whether the state is not known yet, because the first probe or self-test has not ended. */
export const isWaiting = ({ detail }: Pick<Dependency, 'detail'>): boolean =>
  detail === NO_RESPONSE_YET || detail?.startsWith(NOT_TESTED_YET) === true;

const AT_LIMIT =
  'The connection limit was reached within the last minute. Idle connections are closed, and new ones may be refused.';

function listener({ fullListeners }: App, name: string, listenerName: ListenerName): Dependency {
  return fullListeners().includes(listenerName)
    ? dependency(name, 'degraded', AT_LIMIT)
    : dependency(name, 'up', null);
}

const MAX_NAMED_SEEDS = 5;

/** Based on the last time that a test needed each of them; without the names of servers and accounts. */
async function seedMailboxes({ config, db }: App): Promise<Dependency> {
  const names = config.SEED_MAILBOXES.map(({ name }) => name);
  if (names.length === 0) return dependency('seed_mailboxes', 'disabled', 'Not configured.');
  try {
    const failing = await failingSeeds(db, names);
    if (failing.length === 0) return dependency('seed_mailboxes', 'up', null);
    const shown = failing
      .slice(0, MAX_NAMED_SEEDS)
      .map(({ provider, error }) => `${providerName(provider)} (${seedErrorWords(error ?? '')})`)
      .join(', ');
    const detail = `${failing.length} of ${names.length} can’t be read: ${shown}${failing.length > MAX_NAMED_SEEDS ? ', …' : ''}.`;
    return dependency('seed_mailboxes', 'degraded', detail);
  } catch (error) {
    return dependency('seed_mailboxes', 'degraded', codeOf(error));
  }
}

/** Based on their last self-tests. Does not show the queried zone, which may contain a key. */
function blocklists({ blocklists: watch }: App): Dependency {
  const lists = watch.snapshot();
  if (lists.length === 0) return dependency('blocklists', 'disabled', 'No blocklists are enabled.');
  const failing = lists.filter(({ fault }) => fault !== null);
  if (failing.length === 0) return dependency('blocklists', 'up', null);
  const names = failing.map(({ list }) => list.name).join(', ');
  const allUntested = failing.every(({ fault }) => fault === NOT_TESTED);
  return dependency(
    'blocklists',
    'degraded',
    `${allUntested ? NOT_TESTED_YET : 'Not used, self-test failed'}: ${names}.`,
  );
}

/** Without the names of domains. */
async function feedbackStorage(app: App): Promise<Dependency> {
  const usage = storageUsage(app).catch(() => null);
  const known = await Promise.race([usage, pause(FIRST_PROBE_TIMEOUT_MS, null, { ref: false })]);
  if (known === null) return dependency('feedback_storage', 'degraded', NO_RESPONSE_YET);
  const shares = sharesOf(known);
  const status = shares.some(isNearlyFull) ? 'degraded' : 'up';
  return dependency('feedback_storage', status, sharesInWords(shares));
}

async function probeDatabase({ db, clock, hasSpace, hasSpare }: App): Promise<Dependency> {
  const startedAt = clock.now();
  try {
    const query = checkDatabase(db);
    // A database that hangs is down: load balancers need a quick response.
    const answer = await Promise.race([query, pause(DATABASE_TIMEOUT_MS, null, { ref: false })]);
    if (answer === null) {
      query.catch(() => {});
      return dependency('database', 'down', 'No response in time.');
    }
    const latency_ms = clock.now() - startedAt;
    if (await hasSpare()) return { name: 'database', status: 'up', detail: null, latency_ms };
    const detail = (await hasSpace())
      ? 'The disk is nearly full. The service accepts messages to tests only.'
      : 'The disk is almost full. The service rejects new messages.';
    return { name: 'database', status: 'degraded', detail, latency_ms };
  } catch (error) {
    return dependency('database', 'down', codeOf(error));
  }
}

/** Reads a row. Throws a DatabaseReadOnlyError if PostgreSQL would reject a write. */
async function checkDatabase(db: Db): Promise<true> {
  await db.selectFrom('members').select('id').limit(1).execute();
  if (engineOf(db) === 'sqlite') return true;
  // A standby answers `on`, and so does a server that an administrator or its provider set to read-only.
  const { rows } = await sql<{ read_only: string }>`
    select current_setting('transaction_read_only') as read_only`.execute(db);
  if (rows[0]!.read_only === 'on') throw new DatabaseReadOnlyError('read-only');
  return true;
}

/** The code if there is one, because a message may contain a path or an address. */
function codeOf(error: unknown): string {
  if (error instanceof DatabaseReadOnlyError)
    return 'The PostgreSQL server is read-only. Connect to the primary.';
  if (error instanceof DatabaseUnavailableError) return 'Not reachable.';
  return (error as { code?: string }).code ?? errorMessage(error).slice(0, 20);
}

/** How long the first request waits for a probe. Load balancers need a quick response. */
const FIRST_PROBE_TIMEOUT_MS = 1_000;

interface DnsProbe {
  at: number;
  /** The result of the last completed probe. */
  result: Dependency;
  running: Promise<void>;
}
const dnsProbes = new WeakMap<App, DnsProbe>();

/** The last known state. If a probe is due, starts it without waiting, except for the first. */
async function probeDns(app: App): Promise<Dependency> {
  const now = app.clock.now();
  const last = dnsProbes.get(app);
  if (last && now - last.at < DNS_PROBE_INTERVAL_MS) return last.result;
  const result = last?.result ?? dependency('dns', 'degraded', NO_RESPONSE_YET);
  const probe: DnsProbe = { at: now, result, running: Promise.resolve() };
  dnsProbes.set(app, probe);
  probe.running = queryDns(app).then((state) => {
    probe.result = state;
  });
  if (!last)
    await Promise.race([probe.running, pause(FIRST_PROBE_TIMEOUT_MS, null, { ref: false })]);
  return probe.result;
}

/** Sends a query that every resolver can answer; any answer counts. */
async function queryDns({ resolver, clock }: App): Promise<Dependency> {
  const startedAt = clock.now();
  const answer = await resolver(KNOWN.name, KNOWN.type);
  const latency_ms = clock.now() - startedAt;
  return answer.status === 'error'
    ? {
        name: 'dns',
        status: 'degraded',
        detail: `DNS lookups fail: ${answer.reason}.`,
        latency_ms,
      }
    : { name: 'dns', status: 'up', detail: null, latency_ms };
}

const mailProbes = new WeakMap<Mailer, Promise<void>>();

/** Based on the last attempt to reach the mail server. If a probe is due, starts it without waiting, except for the first. */
async function probeOutgoing({ mailer, clock }: App): Promise<Dependency> {
  if (mailer === null) return dependency('outgoing_smtp', 'disabled', 'Not configured.');
  const last = mailer.lastAttempt();
  const isDue = !last || clock.now() - last.at >= MAIL_PROBE_INTERVAL_MS;
  if (isDue && !mailProbes.has(mailer)) {
    const probe = mailer.verify().finally(() => mailProbes.delete(mailer));
    mailProbes.set(mailer, probe);
    if (!last) await Promise.race([probe, pause(FIRST_PROBE_TIMEOUT_MS, null, { ref: false })]);
  }
  const attempt = mailer.lastAttempt();
  if (!attempt) return dependency('outgoing_smtp', 'degraded', NO_RESPONSE_YET);
  if (attempt.fault === null) return dependency('outgoing_smtp', 'up', null);
  return dependency('outgoing_smtp', 'degraded', `Can't send email: ${attempt.fault}.`);
}
