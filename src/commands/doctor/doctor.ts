/** `doctor`: tries everything that is configured, and says what to do about each problem. */

import { networkInterfaces } from 'node:os';
import { configuredMailer } from '../../app.ts';
import { type Config, readConfig } from '../../config/config.ts';
import { email } from '../../config/readers.ts';
import { systemClock } from '../../lib/clock.ts';
import { errorMessage } from '../../lib/errors.ts';
import { printable, printableJson } from '../../lib/log.ts';
import { createDnsResolver, systemDnsServers } from '../../net/dns/network-resolver.ts';
import { createTrustedWebClient } from '../../net/http/client.ts';
import { inspectStore } from '../../store/inspect.ts';
import { defineCommand, EXIT, type Io, printMessage, UsageError } from '../command.ts';
import { readJson, urlOf } from '../local-service.ts';
import { startProgress } from '../progress.ts';
import { CONNECTION_CHECKS } from './connections.ts';
import { DNS_CHECKS } from './dns.ts';
import type { Check, Checkup, Finding, FindingState, RunningService } from './finding.ts';
import { unknown, worstOf } from './finding.ts';
import { MACHINE_CHECKS } from './machine.ts';
import { findingText, summaryText } from './print.ts';
import { REACHABILITY_CHECKS } from './reachability.ts';

const EXIT_OF: Record<FindingState, number> = {
  ok: EXIT.success,
  warning: EXIT.success,
  problem: EXIT.negative,
  unknown: EXIT.externalFailure,
};

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'Check the installation: database, DNS, mail, certificates, and all that is configured',
  options: {
    to: {
      value: 'ADDRESS',
      description: 'Send an email to this address through the configured mail server',
    },
    time: {
      value: 'URL',
      description:
        'Web server to compare the clock with (default: the OpenID Connect issuer, or www.iana.org)',
    },
    receivers: {
      description:
        'Only try each account at Google Postmaster Tools and Microsoft SNDS: sign in and fetch now',
    },
    json: { description: 'Print the findings as JSON' },
  },
  async run({ values }, io) {
    const { config, warnings } = readConfig(io.env);
    for (const warning of warnings) printMessage(io, printable(warning));
    const to = values.to === undefined ? null : readAddress(values.to);
    const timeUrl = readTimeUrl(values.time, config);
    const tryReceivers = values.receivers === true;
    const checks = tryReceivers ? [TRY_RECEIVERS] : CHECKS;
    const findings = await withCheckup(config, { to, timeUrl, tryReceivers }, (checkup) =>
      examine(checkup, io, checks),
    );
    const state = worstOf(findings.map((finding) => finding.state));
    if (values.json) io.stdout(`${printableJson({ object: 'checkup', state, findings }, 2)}\n`);
    else {
      for (const finding of findings) io.stdout(`${findingText(finding, io)}\n`);
      io.stdout(`\n${summaryText(findings, io)}\n`);
    }
    return EXIT_OF[state];
  },
});

function readAddress(text: string): string {
  try {
    const address = email(text);
    if (address) return address;
  } catch {
    // Reported below.
  }
  throw new UsageError(`--to must be an email address, not "${text}"`);
}

const DEFAULT_TIME_URL = 'https://www.iana.org/';

function readTimeUrl(text: string | undefined, { OIDC_ISSUER }: Config): string {
  const url = text ?? OIDC_ISSUER ?? DEFAULT_TIME_URL;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new UsageError(`--time must be the URL of a web server, not "${url}"`);
}

const CHECKS: Check[] = [
  ...MACHINE_CHECKS,
  ...DNS_CHECKS,
  ...REACHABILITY_CHECKS,
  ...CONNECTION_CHECKS,
];

/** A first fetch asks for many days. */
const TRY_RECEIVERS: Check = {
  ...CONNECTION_CHECKS.find(({ id }) => id === 'receivers')!,
  timeoutMs: 600_000,
};

const MAIL_PORT = 25;

async function withCheckup<T>(
  config: Config,
  options: Pick<Checkup, 'to' | 'timeUrl' | 'tryReceivers'>,
  use: (checkup: Checkup) => Promise<T>,
): Promise<T> {
  const dns = createDnsResolver({
    servers: config.DNS_SERVERS ?? systemDnsServers(),
    clock: systemClock,
  });
  const mailer = configuredMailer(config, systemClock);
  const store = await inspectStore(config.DATABASE_URL).catch((error) => ({
    fault: errorMessage(error),
  }));
  const ownAddresses = Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).map(({ address }) => address),
  );
  try {
    return await use({
      config,
      clock: systemClock,
      resolver: dns,
      web: createTrustedWebClient(dns),
      mailer,
      store,
      service: await findService(config),
      ownAddresses,
      mailPort: MAIL_PORT,
      ...options,
    });
  } finally {
    mailer?.close();
    dns.close();
    if (!('fault' in store)) await store.close().catch(() => {});
  }
}

/** Null if no service responds. */
async function findService(config: Config): Promise<RunningService | null> {
  const url = urlOf(config, '');
  const [health, readiness] = await Promise.all([
    readJson(`${url}/healthz`),
    readJson(`${url}/readyz`),
  ]);
  const { object, version } = (health ?? {}) as { object?: string; version?: string };
  if (object !== 'health' || typeof version !== 'string') return null;
  const { dependencies = [] } = (readiness ?? {}) as Partial<Pick<RunningService, 'dependencies'>>;
  return { url, version, dependencies };
}

const CHECK_TIMEOUT_MS = 20_000;

/** All findings in the order of the checks, which run at the same time. Never rejects, and ends within the longest time limit. */
export async function examine(
  checkup: Checkup,
  io: Pick<Io, 'status' | 'isStderrTerminal' | 'width'>,
  checks = CHECKS,
): Promise<Finding[]> {
  const progress = startProgress(io);
  const open = new Set(checks.map(({ title }) => title));
  const show = () => progress.setStatus(`checking: ${[...open].join(', ')}`);
  show();
  try {
    const found = await Promise.all(
      checks.map(async (check) => {
        const findings = await limited(check, checkup);
        open.delete(check.title);
        show();
        return findings;
      }),
    );
    return found.flat();
  } finally {
    progress.end();
  }
}

async function limited(check: Check, checkup: Checkup): Promise<Finding[]> {
  const { id, title, timeoutMs = CHECK_TIMEOUT_MS } = check;
  const { promise, resolve } = Promise.withResolvers<Finding>();
  const late = unknown(
    `No result within ${timeoutMs / 1000} s.`,
    'Run this command again when the machine and the network are less busy.',
  );
  const timer = setTimeout(() => resolve({ id, title, ...late }), timeoutMs);
  try {
    return [await Promise.race([check.run(checkup), promise])].flat();
  } catch (error) {
    const failed = unknown(
      `The check failed: ${errorMessage(error)}.`,
      'Fix the problems above, and run this command again.',
    );
    return [{ id, title, ...failed }];
  } finally {
    clearTimeout(timer);
  }
}
