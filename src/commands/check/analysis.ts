/** Analyzes the messages of a run in one pool, with the configuration that affects messages. */

import { availableParallelism } from 'node:os';
import { createBlocklistWatch } from '../../analysis/blocklists/watch.ts';
import type { AnalysisInput, Envelope, Setup } from '../../analysis/check.ts';
import { NO_SETUP } from '../../analysis/context.ts';
import { createAnalysisPool, type PoolOutcome } from '../../analysis/pool.ts';
import { fileInput } from '../../analysis/receipt/file.ts';
import type { AnalysisResult } from '../../analysis/result.ts';
import { configuredBlocklists } from '../../app.ts';
import { type Config, readConfig } from '../../config/config.ts';
import { VARIABLES } from '../../config/variables.ts';
import { systemClock } from '../../lib/clock.ts';
import { silentLog } from '../../lib/log.ts';
import { withCrlf } from '../../mailtests/submit.ts';
import { createAskDns } from '../../net/dns/ask.ts';
import { createDnsResolver, systemDnsServers } from '../../net/dns/network-resolver.ts';
import type { Resolver } from '../../net/dns/resolver.ts';
import { type Io, UsageError } from '../command.ts';
import { readDnsOption, startProgress, withProgress } from '../progress.ts';
import type { MessageSource } from './inputs.ts';

export interface AnalysisOptions {
  dns?: string | undefined;
  offline?: boolean | undefined;
  'no-links'?: boolean | undefined;
}

const { DNS_SERVERS, BLOCKLISTS, SPAMHAUS_DQS_KEY, SPAMD_URL, RSPAMD_URL, CHECK_LINKS } = VARIABLES;
/** Other variables affect only the service, so an invalid one must not prevent a check. */
const CHECK_VARIABLES = {
  DNS_SERVERS,
  BLOCKLISTS,
  SPAMHAUS_DQS_KEY,
  SPAMD_URL,
  RSPAMD_URL,
  CHECK_LINKS,
};
type CheckConfig = Pick<Config, keyof typeof CHECK_VARIABLES>;

export type SourceOutcome =
  | { source: MessageSource; outcome: PoolOutcome; converted: boolean; envelope: Envelope }
  | { source: MessageSource; problem: UsageError };

/** The result of a message, or why there is none: a sentence without a final period. */
export function resultOf(
  analyzed: SourceOutcome,
):
  | { result: AnalysisResult; converted: boolean; envelope: Envelope }
  | { problem: string; isUsage: boolean } {
  if ('problem' in analyzed) return { problem: analyzed.problem.message, isUsage: true };
  const { outcome, converted, envelope } = analyzed;
  if (!outcome.ok)
    return { problem: `Could not analyze the message: ${outcome.detail}`, isUsage: false };
  const { providers, checks, ...rest } = outcome.result;
  const parsed = { providers: JSON.parse(providers), checks: JSON.parse(checks) };
  return { result: { ...rest, ...parsed }, converted, envelope };
}

/** Analyses wait for DNS most of the time. More threads than this only need more memory. */
const MAX_THREADS = 2;
/** Results that wait for an earlier message, so that the order is that of the sources. */
const MAX_AHEAD = 24;

/**
 * The outcomes in the order of the sources. `envelope` has the values that the user gives. A message is read when a
 * thread is ready for it. Throws a UsageError or a ConfigError for invalid options or variables.
 */
export async function* analyzeMessages(
  sources: MessageSource[],
  { envelope: given, kind }: Pick<AnalysisInput, 'envelope' | 'kind'>,
  options: AnalysisOptions,
  io: Io,
): AsyncGenerator<SourceOutcome> {
  const config: CheckConfig = readConfig(io.env, CHECK_VARIABLES).config;
  const lists = configuredBlocklists(config);
  const servers = readDnsOption(options.dns) ?? config.DNS_SERVERS ?? systemDnsServers();
  const dns = createDnsResolver({ servers, clock: systemClock });
  const progress = startProgress(io);
  const resolver: Resolver = withProgress(dns, progress);
  const threads = Math.min(sources.length, MAX_THREADS, availableParallelism());
  const pool = createAnalysisPool({
    threads: Math.max(1, threads),
    resolver,
    askDns: createAskDns({ servers }),
    log: silentLog,
  });
  const createSetup = async (): Promise<Setup> => ({
    // Each list is tested first, because one that lists everything or nothing proves nothing.
    blocklists: await createBlocklistWatch({
      lists,
      resolver,
      clock: systemClock,
      log: silentLog,
    }).inUse(),
    spamd: config.SPAMD_URL,
    rspamd: config.RSPAMD_URL,
    checkLinks: config.CHECK_LINKS && !options['no-links'],
    domains: {},
    ownSenderOf: [],
  });

  const analyze = async (source: MessageSource, setup: Setup): Promise<SourceOutcome> => {
    let converted = false;
    let envelope = given;
    const read = async () => {
      const crlf = await withCrlf(await source.read());
      converted = crlf.converted;
      // The array moves to the thread with its whole buffer, which must not be one that others use.
      const bytes = crlf.converted ? Uint8Array.from(crlf.raw) : crlf.raw;
      // A template was not received.
      if (source.isTemplate) return bytes;
      const input = fileInput(bytes, given);
      envelope = input.envelope;
      return { raw: bytes, ...input };
    };
    try {
      const { isTemplate } = source;
      const raw = { size: source.size, read };
      const input = { raw, kind, envelope: given, receivedAt: null, isTemplate };
      const outcome = await pool.analyze(input, { offline: options.offline, setup });
      return { source, outcome, converted, envelope };
    } catch (error) {
      if (error instanceof UsageError) return { source, problem: error };
      throw error;
    }
  };

  try {
    const setup = options.offline ? NO_SETUP : await createSetup();
    const running: Promise<SourceOutcome>[] = [];
    for (const source of sources) {
      running.push(analyze(source, setup));
      if (running.length === MAX_AHEAD) yield await running.shift()!;
    }
    for (const outcome of running) yield await outcome;
  } finally {
    progress.end();
    await pool.close();
    dns.close();
  }
}
