/** The analysis of `check`: by the operator's configuration as far as it bears on a message. */

import type { AnalysisInput } from '../analysis/check.ts';
import { createAnalysisPool, type PoolOutcome } from '../analysis/pool.ts';
import { createBlocklistWatch } from '../analysis/reputation/watch.ts';
import { NO_SETUP, type Setup } from '../analysis/setup.ts';
import { chosenBlocklists } from '../app.ts';
import { type Config, readConfig } from '../config.ts';
import { VARIABLES } from '../config-variables.ts';
import { systemClock } from '../lib/clock.ts';
import { silentLog } from '../lib/log.ts';
import { createDnsResolver } from '../net/dns-resolver.ts';
import type { Resolver } from '../net/resolver.ts';
import { systemDnsServers } from '../net/system-dns.ts';
import { readDnsOption } from './dns-option.ts';
import type { Io } from './io.ts';
import { startProgress, watched } from './progress.ts';

interface AnalysisOptions {
  dns?: string;
  offline?: boolean;
  'no-links'?: boolean;
}

const { DNS_SERVERS, BLOCKLISTS, SPAMHAUS_DQS_KEY, SPAMD_URL, RSPAMD_URL, CHECK_LINKS } = VARIABLES;
/** The others concern the service: a fault in one of them is no reason not to look at a message. */
const READ = { DNS_SERVERS, BLOCKLISTS, SPAMHAUS_DQS_KEY, SPAMD_URL, RSPAMD_URL, CHECK_LINKS };
type Read = Pick<Config, keyof typeof READ>;

/** Throws a UsageError or a ConfigError for what it is told wrongly. */
export async function analyzeOne(
  input: AnalysisInput,
  options: AnalysisOptions,
  io: Io,
): Promise<PoolOutcome> {
  const config: Read = readConfig(io.env, READ).config;
  const lists = chosenBlocklists(config);
  const servers = readDnsOption(options.dns) ?? config.DNS_SERVERS ?? systemDnsServers();
  const dns = createDnsResolver({ servers, clock: systemClock });
  const progress = startProgress(io);
  const resolver: Resolver = watched(dns, progress);
  const pool = createAnalysisPool({ threads: 1, resolver, log: silentLog });
  const setup = async (): Promise<Setup> => ({
    // Each is tested first: one that lists everything, or nothing, says nothing.
    blocklists: await createBlocklistWatch({
      lists,
      resolver,
      clock: systemClock,
      log: silentLog,
    }).inUse(),
    spamd: config.SPAMD_URL,
    rspamd: config.RSPAMD_URL,
    checkLinks: config.CHECK_LINKS && !options['no-links'],
  });
  try {
    return options.offline
      ? await pool.analyze(input, { offline: true, setup: NO_SETUP })
      : await pool.analyze(input, { setup: await setup() });
  } finally {
    progress.end();
    await pool.close();
    dns.close();
  }
}
