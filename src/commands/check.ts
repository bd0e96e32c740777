/** `check`: analyses one message without a server or a database. */

import { closeSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import type { AnalysisInput, Envelope } from '../analysis/check.ts';
import { createAnalysisPool } from '../analysis/pool.ts';
import type { AnalysisResult } from '../analysis/result.ts';
import { servers } from '../config-readers.ts';
import { normalizeAddress } from '../lib/addresses.ts';
import { systemClock } from '../lib/clock.ts';
import type { DnsServer } from '../lib/dns-servers.ts';
import { silentLog } from '../lib/log.ts';
import { withCrlf } from '../mailtests/submit.ts';
import { createDnsResolver } from '../net/dns-resolver.ts';
import type { Resolver } from '../net/resolver.ts';
import { systemDnsServers } from '../net/system-dns.ts';
import { reportText } from '../render/report-text.ts';
import { readArguments } from './arguments.ts';
import { type Command, EXIT, type Io, UsageError } from './io.ts';
import { startProgress, watched } from './progress.ts';

const OPTIONS = {
  ip: { type: 'string' },
  helo: { type: 'string' },
  'mail-from': { type: 'string' },
  tls: { type: 'string' },
  kind: { type: 'string' },
  dns: { type: 'string' },
  offline: { type: 'boolean' },
  'fail-below': { type: 'string' },
  json: { type: 'boolean' },
} as const;

const MAX_BYTES = 25 * 1024 * 1024;

export const check: Command = {
  name: 'check',
  usage: 'FILE|- [--ip ADDRESS] [--json] …',
  summary: 'Analyse one message without a server or a database',
  options: [
    '--ip ADDRESS        Address of the client that sent it; without it SPF is not asked',
    '--helo NAME         What the client called itself',
    '--mail-from ADDR    Address of MAIL FROM; "" is the null sender (default: Return-Path, then From)',
    '--tls VERSION       TLSv1.3, TLSv1.2, …, or none',
    '--kind KIND         auto, marketing or transactional',
    '--dns SERVERS       DNS servers to ask, such as 127.0.0.1:5353',
    '--offline           Ask nobody anything',
    '--fail-below N      Exit with 1 where the score is below N, or there is none',
    '--json              Print the result as JSON',
  ],
  async run(args, io) {
    const { values, positionals } = readArguments(args, OPTIONS, { min: 1, max: 1, what: 'FILE' });
    const limit = readLimit(values['fail-below']);
    const { raw, converted } = await withCrlf(await readInput(positionals[0]!, io));
    const input: AnalysisInput = {
      raw,
      envelope: readEnvelope(values),
      receivedAt: systemClock.now(),
      kind: readKind(values.kind),
    };
    const result = await analyzeOne(
      input,
      { offline: values.offline ?? false, dns: values.dns ?? io.env.DELIVERABILITY_DNS_SERVERS },
      io,
    );
    if (typeof result === 'string') {
      io.stderr(`The message cannot be analysed: ${result}.\n`);
      return EXIT.outside;
    }
    if (values.json)
      io.stdout(`${JSON.stringify(toTestObject(result, input, converted), null, 2)}\n`);
    else io.stdout(asText(result, positionals[0]!, io));
    if (result.temporary) return EXIT.outside;
    return limit !== null && (result.score === null || result.score < limit) ? EXIT.no : EXIT.done;
  },
};

function asText(result: AnalysisResult, file: string, io: Io): string {
  const report = reportText(result, {
    width: io.width,
    color: io.colorOut,
    of: file === '-' ? undefined : basename(file),
  });
  return `${report}\nNext: --json for every check with its evidence${result.auth_results.spf === null ? ', --ip ADDRESS to check SPF and reverse DNS' : ''}.\n`;
}

function readLimit(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^\d{1,3}$/.test(text) || Number(text) > 100)
    throw new UsageError('--fail-below takes a number from 0 to 100');
  return Number(text);
}

function readKind(text = 'auto'): AnalysisInput['kind'] {
  if (text === 'auto' || text === 'marketing' || text === 'transactional') return text;
  throw new UsageError('--kind takes auto, marketing or transactional');
}

/** At most so many bytes: a device has no end. */
function readAtMost(file: string, most: number): Uint8Array {
  const descriptor = openSync(file, 'r');
  try {
    const buffer = Buffer.allocUnsafeSlow(most);
    let size = 0;
    for (let read = -1; read !== 0 && size < most; size += read)
      read = readSync(descriptor, buffer, size, most - size, null);
    return buffer.subarray(0, size);
  } finally {
    closeSync(descriptor);
  }
}

async function readInput(file: string, io: Io): Promise<Uint8Array> {
  let bytes: Uint8Array;
  try {
    bytes = file === '-' ? await io.stdin(MAX_BYTES) : readAtMost(file, MAX_BYTES + 1);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(
      code === 'ENOENT' ? `there is no file ${file}` : `${file} cannot be read (${code})`,
    );
  }
  if (bytes.byteLength === 0)
    throw new UsageError(`${file === '-' ? 'standard input' : file} is empty`);
  if (bytes.byteLength > MAX_BYTES) throw new UsageError(`${file} is larger than 25 MiB`);
  return bytes;
}

function readEnvelope(values: {
  ip?: string;
  helo?: string;
  'mail-from'?: string;
  tls?: string;
}): Envelope {
  const client_ip = values.ip === undefined ? null : normalizeAddress(values.ip);
  if (values.ip !== undefined && client_ip === null)
    throw new UsageError(`"${values.ip}" is not an IP address`);
  return {
    client_ip,
    helo: values.helo ?? null,
    mail_from: values['mail-from']?.replace(/^<(.*)>$/, '$1') ?? null,
    tls: readTls(values.tls),
  };
}

function readTls(text: string | undefined): Envelope['tls'] {
  if (text === undefined) return null;
  if (text === 'none') return { used: false, version: null, cipher: null };
  if (!/^(TLSv1(\.[0-3])?|SSLv3)$/.test(text))
    throw new UsageError('--tls takes TLSv1.3, TLSv1.2, TLSv1.1, TLSv1 or none');
  return { used: true, version: text, cipher: null };
}

/** The result, or why there is none. */
async function analyzeOne(
  input: AnalysisInput,
  options: { offline: boolean; dns?: string },
  io: Io,
): Promise<AnalysisResult | string> {
  const dns = createDnsResolver({
    servers: readServers(options.dns) ?? systemDnsServers(),
    clock: systemClock,
  });
  const progress = startProgress(io);
  const resolver: Resolver = watched(dns, progress);
  const pool = createAnalysisPool({ threads: 1, resolver, log: silentLog });
  try {
    const outcome = await pool.analyze(input, { offline: options.offline });
    if (!outcome.ok) return outcome.detail;
    return { ...outcome.result, checks: JSON.parse(outcome.result.checks) };
  } finally {
    progress.end();
    await pool.close();
    dns.close();
  }
}

function readServers(text = ''): DnsServer[] | null {
  try {
    return servers(text);
  } catch (error) {
    throw new UsageError(`--dns ${(error as Error).message}`);
  }
}

/** The test object of the API, as far as there is one without a service. */
function toTestObject(
  result: AnalysisResult,
  { envelope, kind }: AnalysisInput,
  line_ends_converted: boolean,
) {
  const { uncapped: _, temporary, ...test } = result;
  const failed = temporary
    ? { status: 'failed', failure_reason: 'analysis_error' }
    : { status: 'completed', failure_reason: null };
  return {
    object: 'test',
    ...failed,
    kind,
    envelope,
    line_ends_converted,
    inbox_placement: {},
    ...test,
    placement: [],
  };
}
