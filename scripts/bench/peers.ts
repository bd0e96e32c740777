/**
 * Other programs from Debian beside the service, on the same messages: Postfix receives, OpenDKIM verifies signatures,
 * Rspamd and SpamAssassin classify. Requires root, and their packages.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createAnalysisPool } from '../../src/analysis/pool.ts';
import { silentLog } from '../../src/lib/log.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { queryRspamd } from '../../src/net/rspamd.ts';
import { querySpamd } from '../../src/net/spamd.ts';
import { isInstalled } from '../../test/helpers/installed.ts';
import { startRspamd } from '../../test/helpers/rspamd.ts';
import { startSpamd } from '../../test/helpers/spamd.ts';
import { execFile, execFileSync } from '../programs.ts';
import { startChild } from './child.ts';
import { measureInTurns, median, rate, ratio, round2 } from './measure.ts';
import { cpuMsOfGroup } from './memory.ts';
import { type BenchMail, benchMail } from './message.ts';
import { startPostfix } from './postfix.ts';
import { sendAll } from './smtp.ts';

const ROUNDS = 9;
const MAILS = 400;
/** As many messages as a round of each takes about a second. */
const ANALYSES = 100;
const SIGNED_FILES = 200;
const RSPAMD_SCANS = 500;
const SPAMASSASSIN_SCANS = 8;
const CONNECTIONS = 8;
/** It waits for DNS, which does not answer here: enough scans at once keep it busy all the same. */
const RSPAMD_CONNECTIONS = 100;

const run = promisify(execFile);

interface Ready {
  smtp: number;
  tests: { token: string }[];
}

const PROGRAMS = ['postfix', 'smtp-source', 'opendkim', 'rspamd', 'spamd'];

export async function benchPeers() {
  const missing = PROGRAMS.filter((name) => !isInstalled(name));
  if (missing.length > 0)
    return {
      skipped: `not installed: ${missing.join(', ')}. As root, run scripts/setup-test-machine.sh --bench`,
    };
  const mail = await benchMail();
  const received = await compareReceipt(mail);
  const analyzed = await compareAnalysis(mail);
  return {
    message_bytes: mail.input.raw.byteLength,
    ...received,
    ...analyzed,
  };
}

/** Both keep each message on disk before they answer. */
async function compareReceipt({ input }: BenchMail) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const raw = Buffer.from(input.raw);
  const postfix = await startPostfix();
  const child = await startChild<Ready>('service-child.mjs', [
    folder,
    String(MAILS * (ROUNDS + 1)),
  ]);
  const tokens = child.ready.tests.map(({ token }) => token);
  try {
    const rates = await measureInTurns(
      {
        service: () => sendAll([child.ready.smtp], tokens.splice(0, MAILS), raw),
        postfix: () =>
          sendAll(
            [postfix.port],
            Array.from({ length: MAILS }, (_, i) => `user${i}`),
            raw,
          ),
        smtpSource: () => rate(MAILS, () => smtpSource(postfix.port, raw.byteLength)),
      },
      ROUNDS,
    );
    return {
      smtp_accepted_per_second: Math.round(median(rates.service)),
      postfix_accepted_per_second: Math.round(median(rates.postfix)),
      postfix_with_smtp_source_per_second: Math.round(median(rates.smtpSource)),
      smtp_over_postfix: ratio(rates.service, rates.postfix),
    };
  } finally {
    await child.stop();
    postfix.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Postfix's own load generator: a new connection for each message. */
const smtpSource = (port: number, bytes: number) =>
  run('smtp-source', [
    '-s',
    String(CONNECTIONS),
    '-m',
    String(MAILS),
    '-l',
    String(bytes),
    '-f',
    'someone@example.com',
    '-t',
    'user@bench.example',
    `inet:127.0.0.1:${port}`,
  ]);

type Work = () => Promise<void>;

async function compareAnalysis(mail: BenchMail) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const pool = createAnalysisPool({
    threads: 1,
    resolver: zoneResolver(mail.zone),
    log: silentLog,
  });
  const rspamd = await startRspamd();
  const spamd = await startSpamd();
  const openDkim = prepareOpenDkim(folder, mail);
  const { raw, envelope } = mail.input;
  const session = {
    ip: envelope.client_ip,
    helo: envelope.helo,
    hostname: 'mail.example.com',
    from: envelope.mail_from,
    tlsVersion: 'TLSv1.3',
  };
  // With the threads of V8 that compile and collect garbage, which a rate on several cores hides.
  const cpuMs = { service: [] as number[], rspamd: [] as number[] };
  const cpuOf = {
    service: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
    rspamd: () => cpuMsOfGroup(rspamd.group),
  };
  const counted = async (name: keyof typeof cpuMs, count: number, work: Work) => {
    const before = cpuOf[name]();
    const perSecond = await rate(count, work);
    cpuMs[name].push((cpuOf[name]() - before) / count);
    return perSecond;
  };
  try {
    const rates = await measureInTurns(
      {
        service: () =>
          counted('service', ANALYSES, () => inParallel(ANALYSES, () => analyzeOne(pool, mail))),
        openDkim: () => rate(SIGNED_FILES, openDkim),
        rspamd: () =>
          counted('rspamd', RSPAMD_SCANS, () =>
            inParallel(
              RSPAMD_SCANS,
              () => answered(queryRspamd(rspamd.url, raw, session)),
              RSPAMD_CONNECTIONS,
            ),
          ),
        spamassassin: () =>
          rate(SPAMASSASSIN_SCANS, () =>
            inParallel(SPAMASSASSIN_SCANS, () =>
              answered(querySpamd(spamd.url, [raw], { timeoutMs: 60_000 })),
            ),
          ),
      },
      ROUNDS,
    );
    return {
      analysis_cpu_ms: round2(median(cpuMs.service.slice(1))),
      rspamd_cpu_ms: round2(median(cpuMs.rspamd.slice(1))),
      analysis_cpu_over_rspamd: ratio(cpuMs.service.slice(1), cpuMs.rspamd.slice(1)),
      analyses_per_second: Math.round(median(rates.service)),
      opendkim_per_second: Math.round(median(rates.openDkim)),
      rspamd_per_second: Math.round(median(rates.rspamd)),
      spamassassin_per_second: Math.round(10 * median(rates.spamassassin)) / 10,
      analysis_over_opendkim: ratio(rates.service, rates.openDkim),
      analysis_over_rspamd: ratio(rates.service, rates.rspamd),
      analysis_over_spamassassin: ratio(rates.service, rates.spamassassin),
    };
  } finally {
    await Promise.all([pool.close(), rspamd.kill(), spamd.kill()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function analyzeOne(pool: ReturnType<typeof createAnalysisPool>, { input }: BenchMail) {
  const outcome = await pool.analyze(input);
  if (!outcome.ok || outcome.result.score !== 100) throw new Error('The message did not score 100');
}

async function answered(result: Promise<{ status: string; detail?: string }>): Promise<void> {
  const { status, detail } = await result;
  if (status !== 'answered') throw new Error(`A filter failed: ${detail}`);
}

/** At most a few at a time, so that no request waits too long. */
async function inParallel(
  count: number,
  work: () => Promise<void>,
  connections = CONNECTIONS,
): Promise<void> {
  let left = count;
  const loop = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: connections }, loop));
}

/** Verifies all signatures of many copies in one process, with the keys from a file. */
function prepareOpenDkim(folder: string, { input, zone }: BenchMail): () => Promise<void> {
  const keys = Object.entries(zone).flatMap(([name, node]) =>
    name.includes('._domainkey.') && 'TXT' in node ? [`${name} ${node.TXT![0]}\n`] : [],
  );
  writeFileSync(join(folder, 'keys'), keys.join(''));
  writeFileSync(join(folder, 'message'), input.raw);
  const settings = ['Mode v', `TestPublicKeys ${join(folder, 'keys')}`, 'On-BadSignature reject'];
  writeFileSync(join(folder, 'opendkim.conf'), settings.map((line) => `${line}\n`).join(''));
  const files = Array.from({ length: SIGNED_FILES }, () => join(folder, 'message')).join(',');
  const verify = (list: string) => ['-x', join(folder, 'opendkim.conf'), '-v', '-t', list];
  // It says what it verified, and exits with an error if that failed.
  const output = execFileSync('opendkim', verify(join(folder, 'message')), { encoding: 'utf8' });
  if (!/verification .*succeeded/.test(output)) throw new Error(`OpenDKIM: ${output}`);
  return async () => {
    await run('opendkim', verify(files), { maxBuffer: 64 * 1024 * 1024 });
  };
}
