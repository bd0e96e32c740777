/** Mutated messages: the analysis and the reports of each succeed, without a stall. */

// @one-database: opens no database.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { analyze } from '../../src/analysis/analyze.ts';
import type { Envelope } from '../../src/analysis/check.ts';
import type { AnalysisResult } from '../../src/analysis/result.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { renderReport } from '../../src/report/render-report.ts';
import type { StoredReport } from '../../src/report/report.ts';
import { RECEIVED_AT } from '../helpers/analysis.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { ZONES } from '../helpers/mail-zones.ts';
import { mutate } from '../helpers/mutate.ts';
import { seededRandom } from '../helpers/random.ts';

/** Before a release, a hundred thousand. */
const CASES = Number(process.env.FUZZ_CASES ?? 1_000);
/** With the number of a case in FUZZ_CASE, this repeats it alone. */
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_123);
const ONLY = process.env.FUZZ_CASE;
/** CPU time, because wall-clock time depends on other work of the machine. */
const MAX_STALL_MS = 200;
const MAX_REPEATS = 3;
const MAX_BYTES = 100_000;
const REPORT_EVERY = 10;
const PDF_EVERY = 100;

const TOKENS = [
  'From: a@example.com\r\n',
  'Content-Type: multipart/mixed; boundary="',
  'Content-Type: text/html; charset=utf-7\r\n',
  'Content-Type: message/rfc822\r\n\r\n',
  'Content-Transfer-Encoding: quoted-printable\r\n',
  'Content-Transfer-Encoding: base64\r\n',
  "Content-Disposition: attachment; filename*0*=utf-8''%",
  'DKIM-Signature: v=1; a=rsa-sha256; d=example.com; s=s1; h=from:from; l=99999; bh=; b=',
  'ARC-Seal: i=1; a=rsa-sha256; cv=none; d=example.com; s=s; b=',
  'ARC-Message-Signature: i=51; ',
  'Authentication-Results: mx; dkim=pass',
  'Received: from [192.0.2.1] by ',
  'List-Unsubscribe: <mailto:>, <https://[>\r\n',
  '=?utf-8?B?',
  '=?x-unknown?Q?=FF?=',
  '?=',
  '=\r\n',
  '\r\n\r\n',
  '\r\n--',
  '--\r\n',
  '<style>*{}@import url(',
  '<!--',
  '<![CDATA[',
  '<base href="javascript:">',
  '<a href="http://xn--',
  '&#x110000;',
  '&#xD800;',
  '"<>\\@,;:[]()',
  '(((((((((',
  '<img src="data:image/svg+xml,',
  '\u00ff\u00fe',
  '\0',
  'begin 644 a\r\n',
  'PK\u0003\u0004',
  '%PDF-1.7\r\n',
  ';'.repeat(50),
];

function inputs(): Buffer[] {
  const paths = ['../fixtures/mails/', '../../../shared/vectors/mime/'].flatMap((folder) => {
    const base = fileURLToPath(new URL(folder, import.meta.url));
    return globSync(`${base}**/*.eml`).sort();
  });
  const files = paths
    .map((path) => readFileSync(path, 'latin1'))
    .map((text) => Buffer.from(text.replace(/\r?\n/g, '\r\n'), 'latin1'))
    .filter(({ length }) => length < MAX_BYTES);
  return [...files, Buffer.from(goodMessage().replaceAll('\n', '\r\n'))];
}

const zone = Object.assign({}, ...Object.values(ZONES));
const HOSTS = ['192.0.2.1', '2001:db8::1', '209.85.208.54'];

/** The page of some results, and the PDF of few, because a PDF takes longer than the analysis. */
async function renderReports(
  result: AnalysisResult,
  envelope: Envelope,
  raw: Uint8Array,
  number: number,
): Promise<void> {
  const report: StoredReport = {
    ...result,
    id: null,
    name: null,
    received_at: null,
    completed_at: null,
    envelope,
    placement: [],
    checks: JSON.stringify(result.checks),
    providers: JSON.stringify(result.providers),
  };
  const format = number % PDF_EVERY === 0 ? 'pdf' : 'html';
  const { bytes } = await renderReport({
    kind: 'test',
    format,
    report,
    message: { raw, images: null },
  });
  assert.ok(bytes.length > 1_000);
}

interface Case {
  milliseconds: number;
  score: number | null;
}

async function run(number: number, mails: Buffer[]): Promise<Case> {
  const random = seededRandom(SEED + number * 7919);
  const raw = mutate(mails, TOKENS, MAX_BYTES, random);
  const started = process.threadCpuUsage();
  const envelope = {
    mail_from: random.chance(0.1) ? null : 'bounce@example.com',
    client_ip: HOSTS[random.below(HOSTS.length)]!,
    helo: 'mail.example.com',
    tls: { used: true, version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384' },
  };
  const result = await analyze(
    { raw, envelope, receivedAt: RECEIVED_AT, kind: 'auto' },
    {
      resolver: zoneResolver(zone),
      onFault: (id, error) => assert.fail(`${id}: ${error instanceof Error ? error.stack : error}`),
    },
  );
  const { user, system } = process.threadCpuUsage(started);
  assert.ok(JSON.stringify(result).isWellFormed());
  if (number % REPORT_EVERY === 0) await renderReports(result, envelope, raw, number);
  return { milliseconds: (user + system) / 1000, score: result.score };
}

test(`${CASES} mutated messages are analyzed without a fault or a stall over ${MAX_STALL_MS} ms`, {
  timeout: 7_200_000,
}, async (t) => {
  t.diagnostic(`FUZZ_SEED=${SEED}`);
  const mails = inputs();
  // The first analysis compiles the code.
  await run(0, mails);
  const stalls: string[] = [];
  const figures = { cases: 0, inputs: mails.length, scored: 0, stalls: 0, max_cpu_ms: 0 };
  const numbers = ONLY === undefined ? Array.from({ length: CASES }, (_, i) => i) : [Number(ONLY)];
  for (const number of numbers) {
    const of = `FUZZ_SEED=${SEED} FUZZ_CASE=${number}`;
    let { milliseconds, score } = await run(number, mails).catch((error) => {
      throw new Error(`${of}: ${error.stack}`, { cause: error });
    });
    // Garbage collection of earlier cases is no stall of this one: the fastest run decides.
    for (let again = 0; milliseconds >= MAX_STALL_MS && again < MAX_REPEATS; again++)
      ({ milliseconds, score } = await run(number, mails));
    if (milliseconds >= MAX_STALL_MS) {
      figures.stalls += 1;
      stalls.push(`${of}: ${Math.round(milliseconds)} ms`);
    }
    figures.cases += 1;
    if (score !== null) figures.scored += 1;
    figures.max_cpu_ms = Math.max(figures.max_cpu_ms, Math.round(milliseconds));
    // The event loop must turn, so that the analysis can free what it used.
    if (number % 50 === 0) await new Promise(setImmediate);
  }
  t.diagnostic(JSON.stringify(figures));
  assert.deepEqual(stalls, []);
});
