/** `feedback`: prints reports, and sends files and mailboxes to a service. */

// @one-database: about a command that calls operations.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { feedback } from '../../../src/commands/feedback/feedback.ts';
import { MAILBOXES, PRIVATE_MAIL, startMailboxes } from '../../feedback/mailboxes/mailboxes.ts';
import {
  arf,
  dmarc,
  gzip,
  mail,
  record,
  text,
  tls,
  tlsFailure,
  tlsPolicy,
} from '../../feedback/reading/builders.ts';
import { NOW, signReport, startFeedback } from '../../feedback/start.ts';
import { temporaryFolder } from '../../helpers/app.ts';
import { DOVECOT_PASSWORD } from '../../helpers/dovecot.ts';
import { skipUnlessInstalled } from '../../helpers/installed.ts';
import { runCommand } from '../run.ts';

const message = (id: string): Buffer =>
  Buffer.from(
    mail([text('A report.'), { type: 'application/gzip', content: gzip(dmarc({ id })) }]),
  );

function files(t: TestContext): string {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'more'));
  writeFileSync(join(folder, 'a.xml'), dmarc({ id: 'a' }));
  writeFileSync(
    join(folder, 'b.xml.gz'),
    gzip(dmarc({ id: 'b', records: record({ count: '7' }) })),
  );
  writeFileSync(join(folder, 'more', 'c.eml'), message('c'));
  const mbox = ['d', 'e'].map(
    (id) =>
      `From reports@receiver.example Sun Nov 22 01:00:00 2026\n${message(id).toString('latin1')}\n`,
  );
  writeFileSync(join(folder, 'more', 'old.mbox'), mbox.join(''), 'latin1');
  return folder;
}

test('feedback parse prints each report as a person reads it', async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'r.xml');
  writeFileSync(
    path,
    dmarc({
      email: '<reports@receiver.example>',
      records:
        record({ count: '40' }) +
        record({
          source: '203.0.113.9',
          count: '1',
          dkim: 'fail',
          spf: 'fail',
          disposition: 'reject',
        }),
    }),
  );
  const { code, stdout, stderr } = await runCommand(feedback, ['parse', path], {});
  assert.deepEqual([code, stderr], [0, '']);
  assert.equal(
    stdout.replace(path, 'r.xml'),
    `r.xml
  DMARC report by receiver ltd about example.com, 2026-11-21
  41 messages: 40 passed, 1 failed. Policy: none.
  192.0.2.1: 40 messages, pass (DKIM pass, SPF pass), none
  203.0.113.9: 1 message, fail (DKIM fail, SPF fail), reject
  Repaired: angle brackets in an address.

`,
  );
});

test('feedback parse explains TLS failures, and exits with 1 for a file that is refused', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'a.json'), tls({}, [tlsPolicy({}, {}, [tlsFailure()])]));
  writeFileSync(join(folder, 'b.xml'), dmarc({ declaration: '<!DOCTYPE feedback>' }));
  const { code, stdout } = await runCommand(feedback, ['parse', folder], {});
  assert.equal(code, 1);
  assert.match(stdout, /sts: 100 sessions succeeded, 3 failed/);
  assert.match(
    stdout,
    /3 × certificate-expired\. The certificate of the mail server\s+has expired\./,
  );
  assert.match(stdout, /✗ The XML has a DOCTYPE\./);
});

test('feedback parse --json prints a line for each report, also from standard input', async () => {
  const { code, stdout } = await runCommand(
    feedback,
    ['parse', '-', '--json'],
    {},
    {
      stdin: async () => Buffer.from(arf('Feedback-Type: abuse\nSource-IP: 192.0.2.9\n')),
    },
  );
  assert.equal(code, 0);
  const [item] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    [item.file, item.ok, item.report.type, item.report.kind],
    ['-', true, 'complaint', 'abuse'],
  );
});

test('feedback import sends files, folders and mbox files; again, all are duplicates', async (t) => {
  const { service, reports } = await startFeedback(t);
  const folder = files(t);
  const env = { DELIVERABILITY_BASE_URL: service.url, DELIVERABILITY_API_KEY: service.key };
  const first = await runCommand(feedback, ['import', folder], env);
  assert.deepEqual(first, { code: 0, stdout: '5 files: 5 counted.\n', stderr: '' });
  const again = await runCommand(feedback, ['import', folder], env);
  assert.deepEqual(again, { code: 0, stdout: '5 files: 5 duplicate.\n', stderr: '' });
  assert.deepEqual(
    (await reports('&status=counted')).map(({ report_id, messages, source }) => [
      report_id,
      messages,
      source,
    ]),
    [
      ['a', 2, 'upload'],
      ['b', 7, 'upload'],
      ['c', 2, 'upload'],
      ['d', 2, 'upload'],
      ['e', 2, 'upload'],
    ],
  );
});

test('feedback import skips an empty file and one that is too large, and says so', async (t) => {
  const { service } = await startFeedback(t);
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'a.xml'), '');
  writeFileSync(join(folder, 'b.xml'), Buffer.alloc(15 * 1024 * 1024 + 1));
  writeFileSync(join(folder, 'c.xml'), dmarc({ id: 'c' }));
  const env = { DELIVERABILITY_BASE_URL: service.url, DELIVERABILITY_API_KEY: service.key };
  const { code, stdout, stderr } = await runCommand(feedback, ['import', folder], env);
  assert.deepEqual([code, stdout], [1, '3 files: 1 counted.\n']);
  assert.equal(
    stderr.replaceAll(folder, ''),
    '/a.xml: skipped. The file is empty.\n/b.xml: skipped. The file is larger than 15 MiB.\n',
  );
});

/** Passes requests on to a service, up to the given number of them; refuses the others. */
async function startGate(t: TestContext, url: string) {
  const gate = { url: '', allowed: 0, files: 0, cutsAnswer: false, onRequest: () => {} };
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    gate.onRequest();
    const isAllowed = gate.allowed > 0;
    gate.allowed -= 1;
    const { 'content-type': type = '', authorization = '' } = request.headers;
    const answer = isAllowed
      ? await fetch(url + request.url, {
          method: 'POST',
          headers: { 'content-type': type, authorization },
          body,
        })
      : new Response('{}', { status: 502 });
    if (isAllowed) gate.files += body.toString('latin1').split('filename=').length - 1;
    const bytes = Buffer.from(await answer.arrayBuffer());
    const length = { 'content-length': bytes.length, 'content-type': 'application/json' };
    response.writeHead(answer.status, length);
    if (!gate.cutsAnswer) response.end(bytes);
    else response.write(bytes.subarray(0, 20), () => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  gate.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return gate;
}

test('feedback import resumes after an interruption, and lists why reports were refused', async (t) => {
  const { service, reports } = await startFeedback(t);
  const folder = temporaryFolder(t);
  const home = temporaryFolder(t);
  const ids = Array.from({ length: 120 }, (_, index) => String(index).padStart(3, '0'));
  for (const id of ids)
    writeFileSync(
      join(folder, `${id}.xml`),
      Number(id) < 12 ? dmarc({ id }).replaceAll('example.com', 'example.net') : dmarc({ id }),
    );
  const gate = await startGate(t, service.url);
  const env = {
    HOME: home,
    DELIVERABILITY_BASE_URL: gate.url,
    DELIVERABILITY_API_KEY: service.key,
  };
  const run = () => runCommand(feedback, ['import', folder], env);
  gate.allowed = 1;
  const interrupted = await run();
  assert.deepEqual([interrupted.code, interrupted.stdout], [3, '']);
  assert.match(interrupted.stderr, /Run the command again to resume\.\n$/);
  assert.equal(gate.files, 50);
  // The process was killed while it wrote.
  const [journal] = readdirSync(join(home, '.local', 'state', 'deliverability'));
  appendFileSync(join(home, '.local', 'state', 'deliverability', journal!), '\n{"hash":"');
  gate.allowed = 100;
  const { code, stdout, stderr } = await run();
  assert.deepEqual([code, stdout], [1, '120 files: 108 counted, 12 refused.\n']);
  assert.match(stderr, /^Resuming an interrupted import: 50 files already sent\.\n/);
  assert.match(stderr, /\n12 × refused\. The report is about .* example\.net\.\n$/);
  assert.equal(gate.files, 120);
  assert.equal((await reports('&status=counted')).length, 100);
  assert.equal((await reports('&status=duplicate')).length, 0);
  assert.deepEqual(readdirSync(join(home, '.local', 'state', 'deliverability')), []);
});

test('Files are sent again if the response was cut off', async (t) => {
  const { service } = await startFeedback(t);
  const folder = files(t);
  const gate = await startGate(t, service.url);
  gate.allowed = 10;
  gate.cutsAnswer = true;
  const env = {
    HOME: temporaryFolder(t),
    DELIVERABILITY_BASE_URL: gate.url,
    DELIVERABILITY_API_KEY: service.key,
  };
  const cutOff = await runCommand(feedback, ['import', folder], env);
  assert.deepEqual([cutOff.code, cutOff.stdout], [3, '']);
  assert.match(
    cutOff.stderr,
    /The response of the service about .* was cut off\. Run the command again/,
  );
  gate.cutsAnswer = false;
  const again = await runCommand(feedback, ['import', folder], env);
  assert.deepEqual(again, { code: 0, stdout: '5 files: 5 duplicate.\n', stderr: '' });
});

const HASH = 'a'.repeat(64);
/** `when`: before the import, or while the service has the file. */
const SPOILED: [what: string, spoil: (path: string) => void, when?: 'later'][] = [
  ['null', (path) => writeFileSync(path, 'null\n5\n"a"\n[]\n')],
  ['a line without reports', (path) => writeFileSync(path, `{"hash":"${HASH}"}\n`)],
  [
    'lines of something else',
    (path) =>
      writeFileSync(path, `{"hash":1,"reports":[]}\n{"hash":"${HASH}","reports":[[1]]}\n\0\xff`),
  ],
  ['a folder', (path) => mkdirSync(path)],
  ['a link to nowhere', (path) => symlinkSync('/nowhere/at/all', path)],
  ['a folder by the time it is written', (path) => mkdirSync(path), 'later'],
];

for (const [what, spoil, when] of SPOILED)
  test(`feedback import works beside a journal that is ${what}`, async (t) => {
    const { service } = await startFeedback(t);
    const folder = temporaryFolder(t);
    const home = temporaryFolder(t);
    writeFileSync(join(folder, '1.xml'), dmarc({ id: '1' }));
    const gate = await startGate(t, service.url);
    const env = {
      HOME: home,
      DELIVERABILITY_BASE_URL: gate.url,
      DELIVERABILITY_API_KEY: service.key,
    };
    const run = () => runCommand(feedback, ['import', folder], env);
    // A run that fails leaves its journal, whose name the next one uses too.
    gate.allowed = 0;
    assert.equal((await run()).code, 3);
    const state = join(home, '.local', 'state', 'deliverability');
    const path = join(state, readdirSync(state)[0]!);
    rmSync(path);
    const spoilNow = () => {
      rmSync(path, { force: true });
      spoil(path);
    };
    if (when === 'later') gate.onRequest = spoilNow;
    else spoilNow();
    gate.allowed = 100;
    const { code, stdout } = await run();
    assert.deepEqual([code, stdout], [0, '1 file: 1 counted.\n']);
  });

test('feedback import names what is missing or wrong', async (t) => {
  const { service } = await startFeedback(t);
  const folder = files(t);
  const env = { DELIVERABILITY_BASE_URL: service.url, DELIVERABILITY_API_KEY: 'wrong' };
  const cases: [string[], Record<string, string>, RegExp][] = [
    [['import', folder], {}, /Set DELIVERABILITY_API_KEY/],
    [['import', join(folder, 'missing')], env, /Cannot read .*missing/],
    [['import'], env, /PATH/],
    [['read', folder], env, /Unknown action "read": use parse PATH… or import/],
    [
      ['import', '--imap', 'https://x'],
      env,
      /--imap must be the name of a report mailbox, or a URL/,
    ],
    [['parse', folder, '--url', 'http://x'], env, /only for import/],
  ];
  for (const [args, environment, problem] of cases)
    await assert.rejects(runCommand(feedback, args, environment), problem);
  const refused = await runCommand(feedback, ['import', folder], env);
  assert.equal(refused.code, 3);
  assert.match(refused.stderr, /The service refused .*Run the command again to resume\./s);
});

test('feedback import --imap lets the service import from a mailbox, and prints the result', {
  skip: skipUnlessInstalled('dovecot'),
}, async (t) => {
  const { service, dovecot, client, reports } = await startMailboxes(t);
  for (const id of ['a', 'b', 'c'])
    await client.append('Reports', await signReport(message(id), NOW - 60_000));
  // Anyone could have sent it to the mailbox.
  await client.append('Reports', message('d'));
  const env = { DELIVERABILITY_BASE_URL: service.url, DELIVERABILITY_API_KEY: service.key };
  const run = (environment: object, ...args: string[]) =>
    runCommand(feedback, ['import', '--imap', ...args], { ...env, ...environment });
  const url = `${dovecot.url('ann')}/Reports`;
  const name = 'ann on 127.0.0.1: Reports';
  assert.deepEqual(await run({}, url), {
    code: 0,
    stdout: '4 messages: 3 counted, 1 unverified.\n',
    stderr: `Added the report mailbox ${name}.\n`,
  });
  await client.append('Reports', PRIVATE_MAIL);
  assert.equal((await run({}, name)).stdout, '1 message: 1 without a report.\n');
  assert.equal((await run({}, url)).stdout, '0 messages: nothing new.\n');
  assert.equal((await reports()).length, 4);
  assert.equal((await service.call<{ data: object[] }>('GET', MAILBOXES)).body.data.length, 1);

  const wrong = await run({}, url.replace(/:[^:@/]*@/, ':wrong@'));
  assert.equal(wrong.code, 3);
  assert.match(wrong.stderr, /127\.0\.0\.1 rejects the user name or password/);
  const again = await run(
    { DELIVERABILITY_IMAP_PASSWORD: DOVECOT_PASSWORD },
    url.replace(/:[^:@/]*@/, '@'),
  );
  assert.deepEqual([again.code, again.stdout], [0, '0 messages: nothing new.\n']);
  const shown = JSON.parse((await run({}, name, '--json')).stdout);
  assert.equal(shown.import.status, 'completed');

  const key = await service.makeKey('viewer');
  const viewer = await run({ DELIVERABILITY_API_KEY: key }, name);
  assert.equal(viewer.code, 3);
  assert.match(viewer.stderr, /member/);
});
