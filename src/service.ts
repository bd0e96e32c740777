/** The running service: start, listeners, jobs, and a graceful shutdown. */

import { unwatchFile, watchFile } from 'node:fs';
import { dirname } from 'node:path';
import { type App, createApp, type OpenedApp, type Overrides } from './app.ts';
import type { Config } from './config/config.ts';
import { createFetch, destinationsOf, FEATURES, jobsOf, subscriptionsOf } from './features.ts';
import { releaseClaims } from './http/idempotency.ts';
import type { Fetch } from './http/router.ts';
import { type HttpListener, startHttp } from './http/server.ts';
import { createPairFolder, readKeyPair, smtpKeyPair } from './keys/tls-files.ts';
import type { ConnectionLimits } from './lib/connection-limits.ts';
import { isPostgresUrl } from './lib/database-url.ts';
import { createDiskReader, MIN_FREE_BYTES, readDisk } from './lib/disk.ts';
import { errorMessage } from './lib/errors.ts';
import { type FittedLimits, fitToFileLimit, readFileLimit } from './lib/file-limit.ts';
import { type DeliveryAttempt, recordAttempt } from './mailtests/live.ts';
import type { Destination } from './smtp/destination.ts';
import { type EndedSession, SMTP_LIMITS } from './smtp/listener-state.ts';
import { type SmtpListener, startSmtp } from './smtp/server.ts';
import { releaseLeases } from './store/leases.ts';
import { requireLocalFileSystem } from './store/sqlite/file-system.ts';
import { lockStore } from './store/sqlite/lock.ts';

/** How long shutdown waits for work in progress. */
const SHUTDOWN_TIMEOUT_MS = 30_000;

export interface Service {
  app: App;
  http: HttpListener;
  smtp: SmtpListener;
  /** Undefined unless `LMTP_PORT` is set. */
  lmtp?: SmtpListener | undefined;
  /** Stops accepting work, lets running work finish within 30 s, and closes the database. */
  stop(): Promise<void>;
}

/** Starts both listeners and the jobs. On failure, cleans up and rejects with a StoreError, a ConfigError or the system error of a listener. */
export async function startService(
  config: Config,
  version: string,
  overrides: Overrides = {},
): Promise<Service> {
  const httpTls = readKeyPair(config, 'HTTP');
  const unlock = isPostgresUrl(config.DATABASE_URL) ? () => {} : lockFile(config.DATABASE_URL);
  let smtp: SmtpListener | undefined;
  let lmtp: SmtpListener | undefined;
  let http: HttpListener | undefined;
  let assembled: AssembledService | undefined;
  try {
    assembled = await assembleService(config, version, {
      disk: createDiskReader(() => readDisk(config.DATABASE_URL)),
      ...overrides,
      isSmtpListening: () =>
        (smtp?.listening() ?? false) && (config.LMTP_PORT === null || (lmtp?.listening() ?? false)),
      fullListeners: () => [
        ...(http?.isLimitReached() ? (['http'] as const) : []),
        ...(smtp?.isLimitReached() || lmtp?.isLimitReached() ? (['smtp'] as const) : []),
      ],
    });
    const { app, fetch } = assembled;
    const limits = connectionLimits(app);
    await recoverFromLastRun(assembled);
    const smtpSettings = await smtpOptions(app, limits.smtp);
    smtp = await startSmtp(smtpSettings, hooks(app));
    if (config.LMTP_PORT !== null)
      lmtp = await startSmtp(
        // Mail servers connect directly.
        { ...smtpSettings, port: config.LMTP_PORT, lmtp: true, proxyNetworks: [] },
        hooks(app),
      );
    http = await startHttp({
      host: config.HTTP_HOST,
      port: config.HTTP_PORT,
      tls: httpTls ?? undefined,
      contextFor: config.HTTP_TLS_DIR ? createPairFolder(config.HTTP_TLS_DIR, app) : undefined,
      fetch,
      log: app.log,
      newId: app.newId,
      limits: limits.http,
      trustedProxies: config.TRUSTED_PROXIES,
    });
    app.scheduler.start();
    startWakeUps(app);
    const mailListeners = lmtp ? [smtp, lmtp] : [smtp];
    const unwatch = watchKeyPairs(app, http, mailListeners);
    const components = { assembled, http, mailListeners };
    return { app, http, smtp, lmtp, stop: () => stop(components, unwatch, unlock) };
  } catch (error) {
    await lmtp?.close(0);
    await smtp?.close(0);
    await http?.close(0);
    await assembled?.close();
    unlock();
    throw error;
  }
}

function lockFile(path: string): () => void {
  if (path !== ':memory:') requireLocalFileSystem(dirname(path));
  return lockStore(path);
}

export interface AssembledService extends OpenedApp {
  fetch: Fetch;
}

/**
 * Creates the app with the subscribers, jobs and routes of all features, without starting listeners
 * or jobs. Throws like `createApp`.
 */
export async function assembleService(
  config: Config,
  version: string,
  overrides: Overrides = {},
): Promise<AssembledService> {
  for (const feature of FEATURES) feature.checkConfig?.(config);
  const openedApp = await createApp(config, version, overrides);
  const { app } = openedApp;
  try {
    app.subscribers.add(...subscriptionsOf(app));
    app.scheduler.add(...jobsOf(app));
    return { ...openedApp, fetch: createFetch(app) };
  } catch (error) {
    await openedApp.close();
    throw error;
  }
}

/**
 * Removes leases and claims of an earlier process. Other nodes may be working in a PostgreSQL database, so there
 * the earlier process is one of the same name.
 */
async function recoverFromLastRun({ app }: OpenedApp): Promise<void> {
  await releaseLeases(app.db, app.node);
  await releaseClaims(app.db, app.node);
  for (const feature of FEATURES) await feature.onStart?.(app);
}

function startWakeUps({ wakeUps, scheduler, signals }: App): void {
  wakeUps.start({
    wakeJob: scheduler.wakeHere,
    raiseSignal: signals.raiseHere,
    wakeAll: scheduler.wakeAll,
  });
}

/** The configured limits, lowered to what the limit on open files allows. */
function connectionLimits({ config, log }: App): FittedLimits {
  const fileLimit = readFileLimit();
  const fitted = fitToFileLimit(
    { total: config.HTTP_MAX_CONNECTIONS, perClient: config.HTTP_MAX_CONNECTIONS_PER_CLIENT },
    { total: config.SMTP_MAX_CONNECTIONS, perClient: config.SMTP_MAX_CONNECTIONS_PER_CLIENT },
    fileLimit,
  );
  if (fitted.needed !== null)
    log.warn(
      `the limit on open files is too low for the connection limits, which are lowered. Set LimitNOFILE=${fitted.needed} in the systemd unit, or run \`ulimit -n ${fitted.needed}\` before the start`,
      {
        file_limit: fileLimit,
        http_max_connections: fitted.http.total,
        smtp_max_connections: fitted.smtp.total,
      },
    );
  return fitted;
}

async function smtpOptions(app: App, limits: ConnectionLimits) {
  const { config, clock, log } = app;
  const destinations = destinationsOf(app);
  return {
    limits: {
      connections: limits.total,
      connectionsPerAddress: limits.perClient,
      // At least one message of the maximum size fits.
      memoryBytes: Math.max(SMTP_LIMITS.memoryBytes, ...destinations.map(({ maxSize }) => maxSize)),
    },
    host: config.SMTP_HOST,
    port: config.SMTP_PORT,
    name: config.SMTP_NAME,
    tls: await smtpKeyPair(config, clock.now()),
    domain: config.INBOX_DOMAIN,
    destinations,
    minFreeBytes: MIN_FREE_BYTES,
    proxyNetworks: config.SMTP_PROXY_PROTOCOL,
    forwardingNetworks: config.SMTP_XCLIENT,
    trustedHops: config.SMTP_TRUSTED_HOPS,
    log,
  };
}

function hooks(app: App) {
  return {
    freeBytes: async () => (await app.disk()).free,
    hasSpare: () => app.hasSpare(),
    attempted: (attempt: DeliveryAttempt) => {
      const test = recordAttempt(app, attempt);
      if (attempt.rejection) logRefusal(app, attempt.client, attempt.rejection, test);
    },
    accepted: ({ label }: Destination) => app.metrics.smtpMessages.inc({ for: label }),
    connected: () => app.metrics.smtpConnections.inc(),
    ended: ({ client, messages, refusals, seconds }: EndedSession) =>
      app.log.info('SMTP session ended', {
        client_ip: client.client_ip,
        helo: client.helo,
        tls: client.tls?.version ?? null,
        messages,
        refusals,
        seconds,
      }),
  };
}

/** Without the address, which is a secret while the test is open. */
function logRefusal(
  { log, metrics }: App,
  { client_ip, helo }: DeliveryAttempt['client'],
  { code, enhanced, text }: NonNullable<DeliveryAttempt['rejection']>,
  test: string | null,
): void {
  metrics.smtpRefusals.inc({ code });
  log.info('refused mail', { client_ip, helo, reply: `${code} ${enhanced} ${text}`, test });
}

const CERTIFICATE_CHECK_INTERVAL_MS = 60_000;

/** Reloads renewed certificates within a minute; ignores invalid files. */
function watchKeyPairs(
  { config, log }: App,
  http: HttpListener,
  mailListeners: SmtpListener[],
): () => void {
  const listeners = { HTTP: [http], SMTP: mailListeners };
  const watchedFiles: string[] = [];
  for (const kind of ['HTTP', 'SMTP'] as const) {
    const cert = config[`${kind}_TLS_CERT_FILE`];
    const key = config[`${kind}_TLS_KEY_FILE`];
    if (!cert || !key) continue;
    const reload = () => {
      try {
        const pair = readKeyPair(config, kind)!;
        for (const listener of listeners[kind]) listener.updateTls(pair);
        log.info('reloaded the certificate', { file: cert });
      } catch (error) {
        log.error('could not reload the certificate; the previous one stays in use', {
          file: cert,
          error: String(error),
        });
      }
    };
    for (const file of [cert, key])
      watchFile(file, { interval: CERTIFICATE_CHECK_INTERVAL_MS, persistent: false }, reload);
    watchedFiles.push(cert, key);
  }
  return () => {
    for (const file of watchedFiles) unwatchFile(file);
  };
}

interface Components {
  assembled: AssembledService;
  http: HttpListener;
  mailListeners: SmtpListener[];
}

async function stop(
  { assembled, http, mailListeners }: Components,
  unwatch: () => void,
  unlock: () => void,
): Promise<void> {
  const { app, close } = assembled;
  unwatch();
  // Responds immediately to requests that are waiting for a test.
  app.signals.close();
  const timeout = new Promise<void>((resolve) => setTimeout(resolve, SHUTDOWN_TIMEOUT_MS).unref());
  const results = await Promise.allSettled([
    ...mailListeners.map((listener) => listener.close(SHUTDOWN_TIMEOUT_MS)),
    http.close(SHUTDOWN_TIMEOUT_MS),
    Promise.race([app.scheduler.stop(), timeout]),
  ]);
  // Unfinished work is still due at the next start.
  for (const result of results)
    if (result.status === 'rejected')
      app.log.error('shutdown step failed', { error: errorMessage(result.reason) });
  try {
    await close();
  } finally {
    unlock();
  }
}
