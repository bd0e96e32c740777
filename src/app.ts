/** Creates the shared components that features use. This file imports no feature. */

import { createPrivateKey, randomBytes } from 'node:crypto';
import { chooseBlocklists } from './analysis/blocklists/choose.ts';
import { type BlocklistWatch, createBlocklistWatch } from './analysis/blocklists/watch.ts';
import type { AnalysisPool } from './analysis/pool.ts';
import { createAnalysisPool } from './analysis/pool.ts';
import { type Config, ConfigError, PREFIX } from './config/config.ts';
import { openSecrets, readSecretKey } from './keys/secret-key.ts';
import { configuredAuthorities, configuredPoster } from './keys/tls-files.ts';
import { type Clock, systemClock } from './lib/clock.ts';
import { createSignals, type Signals } from './lib/concurrency.ts';
import type { ListenerName } from './lib/connection-limits.ts';
import { PASSWORD_COST, type PasswordCost, type SecretBox } from './lib/crypto.ts';
import { type DiskSpace, hasSpare, MIN_FREE_BYTES, UNLIMITED } from './lib/disk.ts';
import { errorMessage } from './lib/errors.ts';
import { createIdGenerator, type NewId } from './lib/ids.ts';
import { type Log, silentLog } from './lib/log.ts';
import { createMetrics, type Metrics } from './lib/metrics.ts';
import { type StartWorker, startWorker } from './lib/threads.ts';
import { createAskDns } from './net/dns/ask.ts';
import { createDnsResolver, systemDnsServers } from './net/dns/network-resolver.ts';
import type { AskDns } from './net/dns/reply.ts';
import type { Resolver } from './net/dns/resolver.ts';
import { createWebClient } from './net/http/client.ts';
import type { Poster, WebClient } from './net/http/web.ts';
import { createMailer, type Mailer } from './net/smtp/mailer.ts';
import {
  createMailTlsProbe,
  type ProbeMailTls,
  withPort25CircuitBreaker,
} from './net/smtp/probe.ts';
import { fontPaths } from './report/pdf/system-fonts.ts';
import { createReportRenderer, type ReportRenderer } from './report/renderer.ts';
import { createScheduler, type Scheduler } from './scheduler/scheduler.ts';
import { createWakeUps, type WakeUps } from './scheduler/wake-ups.ts';
import { createDatabaseClock, type DatabaseClock } from './store/database-clock.ts';
import type { Db, Store } from './store/open.ts';
import { openStore } from './store/open.ts';
import { newestId } from './store/queries.ts';
import { createSubscribers, type Subscribers } from './store/subscribers.ts';

/** Passed to handlers, jobs and listeners, most of which take a `Pick` of it. Other files import only the type. */
export interface App {
  config: Config;
  version: string;
  /** The version of Node.js; null if it is not known. */
  nodeVersion: string | null;
  /** How people start the program: `deliverability`, or `npm start --` from source. */
  program: string;
  /** The name of this node, unique among the running nodes. Its leases begin with it. */
  node: string;
  /** Milliseconds since the Unix epoch. */
  startedAt: number;
  /** On PostgreSQL, the clock of the server, which all nodes share. */
  clock: Clock;
  /** By how many milliseconds the clock of this machine is ahead of the database's; null on SQLite. */
  clockSkewMs(): number | null;
  log: Log;
  /** What this node counts. */
  metrics: Metrics;
  db: Db;
  newId: NewId;
  resolver: Resolver;
  /** The same resolver for background work such as monitors, with less capacity, so that analyses don't wait. */
  backgroundResolver: Resolver;
  /** Removes what this node has cached about a name, because its records were changed. */
  forgetDns(name: string): void;
  /** The guarded HTTP client, for fetches outside of message analyses. */
  web: WebClient;
  /** Tests the TLS of mail servers. */
  probeMailTls: ProbeMailTls;
  /** Asks name servers one by one; null with a resolver that is not on the network. */
  askDns: AskDns | null;
  pool: AnalysisPool;
  blocklists: BlocklistWatch;
  /** Encrypts secrets at rest. */
  secrets: SecretBox;
  /** The cost of password hashing. */
  passwordCost: PasswordCost;
  /** Sends email through the operator's mail server; null if none is configured. */
  mailer: Mailer | null;
  /** Sends requests to webhook endpoints. */
  poster: Poster;
  /** Certificate authorities (PEM) that servers of the team may use, beside the public ones. */
  authorities: string[];
  /** Renders reports as pages and PDFs. */
  reportRenderer: ReportRenderer;
  /** Starts threads of features. */
  startWorker: StartWorker;
  scheduler: Scheduler;
  signals: Signals;
  /** Passes wake-ups and signals on to the other nodes. */
  wakeUps: WakeUps;
  /** Calls the subscribers of the channels between features. */
  subscribers: Subscribers;
  /** Whether the SMTP listener is running. */
  isSmtpListening(): boolean;
  /** The listeners that reached their connection limit within the last minute. */
  fullListeners(): ListenerName[];
  /** The disk of the database. */
  disk(): Promise<DiskSpace>;
  /** Whether the disk has space for messages to tests. */
  hasSpace(): Promise<boolean>;
  /** Whether it has space beyond that, for all else. */
  hasSpare(): Promise<boolean>;
}

/** What the command passes on, and replacements for tests and the demo. */
export interface Overrides {
  clock?: Clock;
  nodeVersion?: string;
  program?: string;
  /** The clock of this machine, for tests with a wrong one. */
  machineClock?: Clock;
  log?: Log;
  resolver?: Resolver;
  /** Of that resolver. */
  forgetDns?(name: string): void;
  web?: WebClient;
  probeMailTls?: ProbeMailTls;
  askDns?: AskDns;
  mailer?: Mailer;
  /** A lower cost, for tests that don't test password hashing. */
  passwordCost?: PasswordCost;
  poster?: Poster;
  store?: Store;
  /** For tests that share threads. */
  startWorker?: StartWorker;
  isSmtpListening?(): boolean;
  fullListeners?(): ListenerName[];
  disk?(): Promise<DiskSpace>;
  hasSpace?(): Promise<boolean>;
}

export interface OpenedApp {
  app: App;
  store: Store;
  /** Stops the threads and the resolver, and closes the database. */
  close(): Promise<void>;
}

/**
 * Opens the database and creates every component, without listeners, jobs or subscribers. Throws a
 * StoreError or a ConfigError.
 */
export async function createApp(
  config: Config,
  version: string,
  overrides: Overrides = {},
): Promise<OpenedApp> {
  const log = overrides.log ?? silentLog;
  // Known only once the database is open, which comes after all checks of the configuration.
  let clock: Clock = overrides.clock ?? overrides.machineClock ?? systemClock;
  const mailer = overrides.mailer ?? configuredMailer(config, { now: () => clock.now() });
  // Checks the configuration before it opens the database.
  const lists = configuredBlocklists(config);
  const key = readSecretKey(config);
  const store = overrides.store ?? (await openStore(config.DATABASE_URL));
  const closeOnError = async (error: unknown) => {
    if (!overrides.store) await store.close();
    throw error;
  };
  const secrets = await openSecrets(config, key, { db: store.db, log }).catch(closeOnError);
  const databaseClock =
    store.engine === 'postgres' && !overrides.clock
      ? await followDatabase(store, clock, log).catch(closeOnError)
      : null;
  if (databaseClock) clock = databaseClock;
  const servers = config.DNS_SERVERS ?? systemDnsServers();
  const dns = overrides.resolver ? null : createDnsResolver({ servers, clock });
  const resolver = overrides.resolver ?? dns!;
  const askDns = overrides.askDns ?? (dns && createAskDns({ servers }));
  const node = config.NODE_NAME ?? `node-${randomBytes(5).toString('hex')}`;
  const hints = config.DATABASE_NOTIFY ? store.hints : null;
  const wakeUps = createWakeUps({ hints, node, log });
  const metrics = createMetrics();
  const disk = overrides.disk ?? (async () => UNLIMITED);
  const hasSpace = overrides.hasSpace ?? (async () => (await disk()).free >= MIN_FREE_BYTES);
  const app: App = {
    config,
    version,
    nodeVersion: overrides.nodeVersion ?? null,
    program: overrides.program ?? 'deliverability',
    node,
    startedAt: clock.now(),
    clock,
    clockSkewMs: () => databaseClock?.skewMs() ?? null,
    log,
    metrics,
    db: store.db,
    newId: createIdGenerator(clock, await newestId(store.db)),
    resolver,
    backgroundResolver: dns?.background ?? resolver,
    forgetDns: overrides.forgetDns ?? ((name) => dns?.forget(name)),
    web: overrides.web ?? createWebClient({ resolver }),
    probeMailTls:
      overrides.probeMailTls ??
      withPort25CircuitBreaker(createMailTlsProbe({ resolver, helo: config.SMTP_NAME }), clock),
    askDns,
    pool: createAnalysisPool({
      threads: config.WORKERS,
      resolver,
      askDns,
      log,
      startWorker: overrides.startWorker,
    }),
    secrets,
    passwordCost: overrides.passwordCost ?? PASSWORD_COST,
    blocklists: createBlocklistWatch({ lists, resolver, clock, log }),
    mailer,
    poster: overrides.poster ?? configuredPoster(config, resolver),
    authorities: configuredAuthorities(config),
    startWorker: overrides.startWorker ?? startWorker,
    reportRenderer: createReportRenderer({
      log,
      startWorker: overrides.startWorker,
      fontPaths: fontPaths(config.PDF_FONTS),
    }),
    scheduler: createScheduler(log, wakeUps.announceJob, (job, outcome) =>
      metrics.jobRuns.inc({ job, outcome }),
    ),
    signals: createSignals({
      onRaise: wakeUps.announceSignal,
      pollMs: SIGNAL_POLL_MS[store.engine],
    }),
    wakeUps,
    subscribers: createSubscribers(),
    isSmtpListening: overrides.isSmtpListening ?? (() => false),
    fullListeners: overrides.fullListeners ?? (() => []),
    disk,
    hasSpace,
    hasSpare: async () => (await hasSpace()) && hasSpare(await disk()),
  };
  const close = async () => {
    app.signals.close();
    databaseClock?.stop();
    app.mailer?.close();
    app.poster.close();
    await Promise.all([app.pool.close(), app.reportRenderer.close(), wakeUps.stop()]);
    dns?.close();
    await store.close();
  };
  return { app, store, close };
}

/** What a request waits for can happen on another node, which has other ways to say so only if all is well. */
const SIGNAL_POLL_MS = { sqlite: undefined, postgres: 1_500 };

/** More than this confuses people who compare logs, and says that the machine doesn't synchronize its clock. */
const MAX_SKEW_MS = 2_000;

async function followDatabase(
  { db }: Store,
  machine: Clock,
  log: Log,
): Promise<DatabaseClock | null> {
  const clock = await createDatabaseClock(db, { machine });
  const skewMs = clock.skewMs();
  if (Math.abs(skewMs) > MAX_SKEW_MS)
    log.warn(
      'the clock of this machine differs from that of the database, which the service uses. Synchronize both with NTP',
      { ahead_by_seconds: Math.round(skewMs / 1000) },
    );
  return clock;
}

/** The blocklists of the configuration. Throws a ConfigError for an unknown one. */
export function configuredBlocklists({
  BLOCKLISTS,
  SPAMHAUS_DQS_KEY,
}: Pick<Config, 'BLOCKLISTS' | 'SPAMHAUS_DQS_KEY'>) {
  try {
    return chooseBlocklists(BLOCKLISTS, SPAMHAUS_DQS_KEY);
  } catch (error) {
    throw new ConfigError([`${PREFIX}BLOCKLISTS ${errorMessage(error)}`]);
  }
}

/** Null if none is configured. Throws a ConfigError for a DKIM key that cannot sign. */
export function configuredMailer(config: Config, clock: Clock): Mailer | null {
  const { MAIL_URL: url, MAIL_FROM: from, SMTP_NAME: name } = config;
  const { MAIL_DKIM_DOMAIN: domain, MAIL_DKIM_SELECTOR: selector, MAIL_DKIM_KEY: key } = config;
  if (!url || !from) return null;
  if (key && createPrivateKey(key).asymmetricKeyType !== 'rsa')
    throw new ConfigError([`${PREFIX}MAIL_DKIM_KEY must be an RSA key`]);
  const dkim = domain && selector && key ? { domain, selector, key } : null;
  return createMailer({ url, from, dkim, name, clock });
}
