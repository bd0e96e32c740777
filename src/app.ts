/** Creates the shared components that features use. This file imports no feature. */

import { createPrivateKey, randomBytes } from 'node:crypto';
import { chooseBlocklists } from './analysis/blocklists/choose.ts';
import { type BlocklistWatch, createBlocklistWatch } from './analysis/blocklists/watch.ts';
import type { AnalysisPool } from './analysis/pool.ts';
import { createAnalysisPool } from './analysis/pool.ts';
import { type Config, ConfigError, PREFIX } from './config/config.ts';
import { openSecrets, readSecretKey } from './keys/secret-key.ts';
import { configuredPoster } from './keys/tls-files.ts';
import { type Clock, systemClock } from './lib/clock.ts';
import { createSignals, type Signals } from './lib/concurrency.ts';
import type { ListenerName } from './lib/connection-limits.ts';
import { PASSWORD_COST, type PasswordCost, type SecretBox } from './lib/crypto.ts';
import { errorMessage } from './lib/errors.ts';
import { createIdGenerator, type NewId } from './lib/ids.ts';
import { type Log, silentLog } from './lib/log.ts';
import { createDnsResolver, systemDnsServers } from './net/dns/network-resolver.ts';
import type { Resolver } from './net/dns/resolver.ts';
import { createWebClient } from './net/http/client.ts';
import type { Poster, WebClient } from './net/http/web.ts';
import { createMailer, type Mailer } from './net/smtp/mailer.ts';
import {
  createMailTlsProbe,
  type ProbeMailTls,
  withPort25CircuitBreaker,
} from './net/smtp/probe.ts';
import { createReportRenderer, type ReportRenderer } from './report/renderer.ts';
import { createScheduler, type Scheduler } from './scheduler/scheduler.ts';
import type { Db, Store } from './store/open.ts';
import { openStore } from './store/open.ts';
import { newestId } from './store/queries.ts';
import { createSubscribers, type Subscribers } from './store/subscribers.ts';

/** Passed to handlers, jobs and listeners, most of which take a `Pick` of it. Other files import only the type. */
export interface App {
  config: Config;
  version: string;
  /** The name of this node, different from all other nodes that run. */
  node: string;
  /** Milliseconds since the Unix epoch. */
  startedAt: number;
  clock: Clock;
  log: Log;
  db: Db;
  newId: NewId;
  resolver: Resolver;
  /** The same resolver for background work such as monitors, with less capacity, so that analyses don't wait. */
  backgroundResolver: Resolver;
  /** The guarded HTTP client, for fetches outside of message analyses. */
  web: WebClient;
  /** Tests the TLS of mail servers. */
  probeMailTls: ProbeMailTls;
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
  /** Renders reports as pages and PDFs. */
  reportRenderer: ReportRenderer;
  scheduler: Scheduler;
  signals: Signals;
  /** Calls the subscribers of the channels between features. */
  subscribers: Subscribers;
  /** Whether the SMTP listener is running. */
  isSmtpListening(): boolean;
  /** The listeners that reached their connection limit within the last minute. */
  fullListeners(): ListenerName[];
  /** Whether the disk has space for messages. */
  hasSpace(): Promise<boolean>;
}

/** Replacements for tests and the demo. */
export interface Overrides {
  clock?: Clock;
  log?: Log;
  resolver?: Resolver;
  web?: WebClient;
  probeMailTls?: ProbeMailTls;
  mailer?: Mailer;
  /** A lower cost, for tests that don't test password hashing. */
  passwordCost?: PasswordCost;
  poster?: Poster;
  store?: Store;
  isSmtpListening?(): boolean;
  fullListeners?(): ListenerName[];
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
  const clock = overrides.clock ?? systemClock;
  const log = overrides.log ?? silentLog;
  const mailer = overrides.mailer ?? configuredMailer(config, clock);
  // Checks the configuration before it opens the database.
  const lists = configuredBlocklists(config);
  const key = readSecretKey(config);
  const store = overrides.store ?? (await openStore(config.DATABASE_URL));
  const secrets = await openSecrets(config, key, { db: store.db, log }).catch(async (error) => {
    if (!overrides.store) await store.close();
    throw error;
  });
  const dns = overrides.resolver
    ? null
    : createDnsResolver({ servers: config.DNS_SERVERS ?? systemDnsServers(), clock });
  const resolver = overrides.resolver ?? dns!;
  const node = config.NODE_NAME ?? `node-${randomBytes(5).toString('hex')}`;
  const app: App = {
    config,
    version,
    node,
    startedAt: clock.now(),
    clock,
    log,
    db: store.db,
    newId: createIdGenerator(clock, await newestId(store.db)),
    resolver,
    backgroundResolver: dns?.background ?? resolver,
    web: overrides.web ?? createWebClient({ resolver }),
    probeMailTls:
      overrides.probeMailTls ??
      withPort25CircuitBreaker(createMailTlsProbe({ resolver, helo: config.SMTP_NAME }), clock),
    pool: createAnalysisPool({ threads: config.WORKERS, resolver, log }),
    secrets,
    passwordCost: overrides.passwordCost ?? PASSWORD_COST,
    blocklists: createBlocklistWatch({ lists, resolver, clock, log }),
    mailer,
    poster: overrides.poster ?? configuredPoster(config, resolver),
    reportRenderer: createReportRenderer({ log }),
    scheduler: createScheduler(log),
    signals: createSignals(),
    subscribers: createSubscribers(),
    isSmtpListening: overrides.isSmtpListening ?? (() => false),
    fullListeners: overrides.fullListeners ?? (() => []),
    hasSpace: overrides.hasSpace ?? (async () => true),
  };
  const close = async () => {
    app.signals.close();
    app.mailer?.close();
    app.poster.close();
    await Promise.all([app.pool.close(), app.reportRenderer.close()]);
    dns?.close();
    await store.close();
  };
  return { app, store, close };
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

/** Throws a ConfigError for a DKIM key that cannot sign. */
function configuredMailer(config: Config, clock: Clock): Mailer | null {
  const { MAIL_URL: url, MAIL_FROM: from, SMTP_NAME: name } = config;
  const { MAIL_DKIM_DOMAIN: domain, MAIL_DKIM_SELECTOR: selector, MAIL_DKIM_KEY: key } = config;
  if (!url || !from) return null;
  if (key && createPrivateKey(key).asymmetricKeyType !== 'rsa')
    throw new ConfigError([`${PREFIX}MAIL_DKIM_KEY must be an RSA key`]);
  const dkim = domain && selector && key ? { domain, selector, key } : null;
  return createMailer({ url, from, dkim, name, clock });
}
