/** The same file, options, baseline and DNS answers give the same result on any day. */

// @one-database: `check` opens no database.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Test } from '../../src/mailtests/schema.ts';
import { startTestService, temporaryFolder } from '../helpers/app.ts';
import { blocklistZone } from '../helpers/blocklists.ts';
import { testClock } from '../helpers/clock.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { isFullSize } from '../helpers/full-size.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { loadOriginal, originalsZone } from '../helpers/originals.ts';
import { spawnProgram } from '../helpers/program.ts';
import { makeKey, signMessage } from '../helpers/signer.ts';

const CLOCK_OFFSET = fileURLToPath(new URL('../helpers/clock-offset.ts', import.meta.url));
const DAY_MS = 24 * 60 * 60_000;
const SOONER: [name: string, offsetMs: number][] = [
  ['a day', DAY_MS],
  ['a month', 31 * DAY_MS],
];
const LATER: [name: string, offsetMs: number][] = [
  ['two years', 731 * DAY_MS],
  ...(isFullSize ? SOONER : []),
];

const KEY = makeKey();

/** Neither policy nor SPF is right, so that findings propose records. */
const ZONE = {
  ...blocklistZone(),
  ...originalsZone(),
  '_dmarc.lantern-books.example': { TXT: ['v=DMARC1; p=none'] },
  'lantern-books.example': {
    A: ['203.0.114.9'],
    MX: ['10 mail.lantern-books.example'],
    TXT: ['v=spf1 include:_spf.lantern-books.example ~all'],
  },
  'expiring._domainkey.lantern-books.example': { TXT: [KEY.record] },
  '_spf.lantern-books.example': { TXT: ['v=spf1 ip4:203.0.114.8 -all'] },
  'example.com': { A: ['192.0.2.1'], MX: ['10 example.com'] },
};

/** The original of Gmail, with a signature that had expired a day after it was received. */
async function expiring(): Promise<Buffer> {
  const [added = '', message = ''] = loadOriginal('gmail')
    .raw.toString('latin1')
    .split(/^Received: by mail\.lantern[\s\S]+?(?=^From: )/m);
  const signed = await signMessage(message, {
    domain: 'lantern-books.example',
    selector: 'expiring',
    key: KEY,
    signTime: Date.UTC(2026, 10, 20, 9, 46, 9),
    expires: Date.UTC(2026, 10, 21, 9, 46, 9),
  });
  return Buffer.concat([Buffer.from(added, 'latin1'), signed]);
}

const MESSAGES: Record<string, [message: string | Buffer, options: string[]]> = {
  'received.eml': [await expiring(), []],
  'template.eml': [goodMessage(), ['--ip=192.0.2.1', '--helo=mail.example.com']],
  'without-date.eml': ['From: a@example.com\r\nSubject: Hello\r\n\r\nHello\r\n', []],
};

const FORMATS = 'json junit sarif markdown code-quality baseline html pdf'.split(' ');

interface Run {
  code: number;
  /** What was printed and written, by the name of the output. */
  outputs: Record<string, Buffer>;
}

/** Every output of `check` for a message, with the clock of the process ahead by so much. */
async function runCheck(
  folder: string,
  {
    message,
    options,
    env,
    offsetMs,
  }: { message: string; options: string[]; env: object; offsetMs: number },
): Promise<Run> {
  const reports = join(folder, 'reports');
  mkdirSync(reports, { recursive: true });
  const at = (name: string) => join(reports, name);
  writeFileSync(at('summary.md'), '');
  const child = await spawnProgram(
    ['check', message, ...options, ...FORMATS.map((format) => `--report=${format}=${at(format)}`)],
    {
      ...env,
      GITHUB_ACTIONS: 'true',
      GITHUB_WORKSPACE: folder,
      GITHUB_STEP_SUMMARY: at('summary.md'),
      TEST_CLOCK_OFFSET_MS: String(offsetMs),
    },
    ['--import', CLOCK_OFFSET],
  );
  child.stdin.end();
  const printed: Record<string, Buffer[]> = { stdout: [], stderr: [] };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk) => printed[name]!.push(chunk));
  const [code] = await once(child, 'close');
  const outputs = Object.fromEntries([
    ...Object.entries(printed).map(([name, chunks]) => [name, Buffer.concat(chunks)]),
    ...readdirSync(reports).map((name) => [name, readFileSync(at(name))]),
  ]);
  return { code, outputs };
}

async function prepare(t: TestContext) {
  const dns = await startDnsServer(ZONE);
  t.after(() => dns.close());
  const folder = temporaryFolder(t);
  for (const [name, [message]] of Object.entries(MESSAGES))
    writeFileSync(join(folder, name), message);
  return { folder, dns: `--dns=127.0.0.1:${dns.address.port}` };
}

for (const [name, [, options]] of Object.entries(MESSAGES))
  test(`check ${name} gives the same in every format on any day`, async (t) => {
    const { folder, dns } = await prepare(t);
    const run = (offsetMs: number, more: string[]) =>
      runCheck(folder, {
        message: join(folder, name),
        options: [dns, '--no-links', ...options, ...more],
        env: {},
        offsetMs,
      });
    const baseline = join(folder, 'baseline.json');
    const today = await run(0, []);
    assert.deepEqual(
      Object.keys(today.outputs).sort(),
      [...FORMATS, 'stdout', 'stderr', 'summary.md'].sort(),
    );
    assert.ok(today.outputs.json!.length > 1000 && today.outputs.pdf!.length > 1000);
    if (name === 'received.eml') {
      const { messages } = JSON.parse(today.outputs.json!.toString());
      assert.equal(
        messages[0].test.auth_results.dkim,
        'pass',
        'it had not expired when it was received',
      );
    }
    writeFileSync(baseline, today.outputs.baseline!);
    const compared = await run(0, [`--baseline=${baseline}`, '--tolerance=0']);
    assert.equal(compared.code, 0, 'nothing is worse than itself');
    for (const [later, offsetMs] of LATER) {
      const then = await run(offsetMs, [`--baseline=${baseline}`, '--tolerance=0']);
      assert.equal(then.code, 0, `the baseline holds ${later} later`);
      for (const [output, bytes] of Object.entries(compared.outputs))
        assert.ok(
          bytes.equals(then.outputs[output]!),
          differenceIn(output, later, bytes, then.outputs[output]!),
        );
    }
  });

/** The first line that differs. */
function differenceIn(output: string, later: string, before: Buffer, then: Buffer): string {
  const [a, b] = [before, then].map((bytes) => bytes.toString('latin1').split('\n'));
  const line = a!.findIndex((text, index) => text !== b![index]);
  return `${output} differs ${later} later: ${a![line]?.slice(0, 300)} ≠ ${b![line]?.slice(0, 300)}`;
}

test('An uploaded file has the same findings and report on any day', async (t) => {
  const clock = testClock(Date.UTC(2026, 10, 29, 12));
  const service = await startTestService(t, { zone: ZONE, clock });
  const upload = async (name: string) => {
    const [message] = MESSAGES[name]!;
    const { body, text } = await service.call<Test>('POST', '/v1/tests/raw', {
      body: typeof message === 'string' ? message : Uint8Array.from(message),
      headers: { 'content-type': 'message/rfc822' },
    });
    assert.equal(body.status, 'processing', text);
    const { score, checks, summary, auth_results, envelope, providers } = await service.getTest(
      body.id,
      '?wait=50',
    );
    const { text: html } = await service.call('GET', `/v1/tests/${body.id}/report.html`);
    assert.ok(checks.length > 40);
    const result = { score, checks, summary, auth_results, envelope, providers };
    // In pieces, so that a difference names its place. The service says when it analyzed the message.
    const pieces = html
      .replaceAll(body.id, 'TEST')
      .replace(/Analyzed <time[^>]*>[^<]*/, '')
      .split(/(?<=>)/);
    return { result, html: pieces };
  };
  for (const name of Object.keys(MESSAGES)) {
    clock.set(Date.UTC(2026, 10, 29, 12));
    const today = await upload(name);
    for (const [later, offsetMs] of LATER) {
      clock.set(Date.UTC(2026, 10, 29, 12) + offsetMs);
      const then = await upload(name);
      assert.deepEqual(then.result, today.result, `${name}, ${later} later`);
      const differences = then.html.filter((text, index) => text !== today.html[index]);
      assert.deepEqual(differences, [], `the report of ${name}, ${later} later`);
    }
  }
});
