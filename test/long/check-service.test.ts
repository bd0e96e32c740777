/** `check --wait`: waits for a test or an inbox on a service, with the output and the exit codes of `check`. */

// @one-database: about a command that opens no database.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Test } from '../../src/mailtests/schema.ts';
import { startTestService } from '../helpers/app.ts';
import { startHttpScript } from '../helpers/http-script.ts';
import { startImapServer } from '../helpers/imap-server.ts';
import { runProgram } from '../helpers/program.ts';
import { sendMail } from '../helpers/send.ts';
import { mailWith, offsetClock, sendToTest, startSeeding } from '../placement/seeding.ts';

test('check --wait-placement waits for result and placement, and prints them as text and JSON', async (t) => {
  const mailbox = await startImapServer(t, {
    folders: [
      { name: 'INBOX', messages: [] },
      { name: 'Junk', flags: ['\\Junk'], messages: [] },
    ],
  });
  const clock = offsetClock();
  const service = await startSeeding(t, {
    clock,
    seeds: [{ provider: 'gmx', address: 'seed@gmx.example', imap: mailbox.url }],
  });
  const env = { DELIVERABILITY_BASE_URL: service.url, DELIVERABILITY_API_KEY: service.key };
  const check = (args: string[], variables: Record<string, string> = env) =>
    runProgram(['check', ...args], variables);
  const created = await service.createTest({ placement: true });
  const waiting = check([created.id, '--wait-placement', '--json']);
  await sendToTest(service, created);
  await service.getTest(created.id, '?wait=20');
  // The result alone is not enough.
  const early = await check([created.id, '--wait-placement', '--timeout=1s']);
  assert.equal(early.code, 3);
  assert.match(early.stderr, /Placement is final for 0 of 1 seed mailboxes after 1 s/);
  const raw = mailWith({ To: created.seed_addresses[0]!.address });
  mailbox.script.folders[1]!.messages.push({ uid: 1, raw });
  const { code, stdout, stderr } = await waiting;
  assert.deepEqual([code, stderr], [0, '']);
  const result = JSON.parse(stdout) as Test;
  assert.deepEqual(
    [result.object, result.status, result.placement_status, result.inbox_placement],
    ['test', 'completed', 'settled', { gmx: 'spam' }],
  );
  const text = await check([created.id, '--wait-placement', '--fail-below=100']);
  assert.equal(text.code, 1);
  assert.match(text.stderr, /^test_\w+: The score is \d+, below the limit of 100\.\n$/);
  assert.match(text.stdout, /Inbox placement/);
  assert.match(text.stdout, /0 of 1 seed mailboxes received the message in the inbox/);
  const elsewhere = await startHttpScript(t, ({ path, response, json }) => {
    if (path.startsWith('/null/')) json(200, null);
    else if (path.startsWith('/other/')) json(200, { id: 'x' });
    else response.writeHead(path.startsWith('/away/') ? 502 : 404).end('<h1>A proxy</h1>');
  });
  const wrong: [args: string[], variables: Record<string, string>, code: number, why: RegExp][] = [
    [['message.eml'], env, 2, /needs the ID of a test or an inbox on a service/],
    [[created.id, '--offline'], env, 2, /--offline cannot be combined/],
    [[created.id, '--timeout=soon'], env, 2, /--timeout must be a duration/],
    [[created.id], { DELIVERABILITY_BASE_URL: service.url }, 2, /Set DELIVERABILITY_API_KEY/],
    [[created.id], { ...env, DELIVERABILITY_API_KEY: 'wrong' }, 2, /API key/],
    [['test_none'], env, 2, /No such test/],
    [
      [created.id, `--url=${elsewhere.url}`],
      env,
      2,
      /\(HTTP 404\) is not from this service\. Check --url\.$/m,
    ],
    [[created.id, `--url=${elsewhere.url}/null`], env, 2, /\(HTTP 200\) is not from this service/],
    [[created.id, `--url=${elsewhere.url}/other`], env, 2, /\(HTTP 200\) is not from this service/],
    [
      [created.id, `--url=${elsewhere.url}/away`, '--timeout=1s'],
      env,
      3,
      /\(HTTP 502\) is not from this service\.$/m,
    ],
    [
      [created.id, '--url=http://127.0.0.1:9', '--timeout=1s'],
      env,
      3,
      /reach http:\/\/127\.0\.0\.1:9/,
    ],
  ];
  for (const [args, variables, expected, why] of wrong) {
    const failed = await check([...args, '--wait-placement'], variables);
    assert.deepEqual([failed.code, failed.stdout], [expected, ''], failed.stderr);
    assert.match(failed.stderr, why);
  }
});

test('check --wait takes the next message to an inbox, and does not wait for a placement', async (t) => {
  const service = await startTestService(t);
  const { body: inbox } = await service.call<{ id: string; address: string }>('POST', '/v1/tests', {
    json: { reusable: true, name: 'Newsletter' },
  });
  const env = { DELIVERABILITY_BASE_URL: service.url, DELIVERABILITY_API_KEY: service.key };
  const check = (...args: string[]) => runProgram(['check', inbox.id, '--wait', ...args], env);
  const send = (subject: string) =>
    sendMail({ port: service.smtp.port, to: inbox.address, raw: mailWith({ Subject: subject }) });
  await send('Earlier');
  const since = new Date().toISOString();
  await send('First');
  await send('Second');
  const { code, stdout, stderr } = await check(`--since=${since}`, '--json');
  assert.equal(code, 0, stderr);
  const found = JSON.parse(stdout) as Test;
  assert.deepEqual([found.status, found.subject, found.name], ['completed', 'First', 'Newsletter']);
  const next = check('--fail-below=100', '--json');
  const none = await check('--timeout=1s');
  assert.deepEqual([none.code, none.stdout], [3, '']);
  assert.match(
    none.stderr,
    /^Still waiting for the message after 1 s\. To wait longer, set --timeout\.$/m,
  );
  await send('Third');
  const third = await next;
  assert.equal(third.code, 1, third.stderr);
  assert.equal((JSON.parse(third.stdout) as Test).subject, 'Third');
  // Pages are read to the last, whose last test is the first.
  const pages = await startHttpScript(t, ({ path, query, json }) => {
    const after = query.get('starting_after');
    if (path.startsWith('/v1/inboxes/')) json(200, { object: 'inbox' });
    else if (path === '/v1/tests')
      json(200, {
        object: 'list',
        data: [{ id: after === null ? 'test_newest' : 'test_oldest' }],
        has_more: after === null,
      });
    else json(200, { object: 'test', id: path.split('/').at(-1), status: 'failed', placement: [] });
  });
  const paged = await check(`--url=${pages.url}`, '--json');
  assert.equal((JSON.parse(paged.stdout) as Test).id, 'test_oldest');
  for (const [args, why] of [
    [['--since=yesterday'], /--since must be a time such as/],
    [['--baseline=x'], /--baseline cannot be combined with --wait/],
  ] as const) {
    const failed = await check(...args);
    assert.equal(failed.code, 2);
    assert.match(failed.stderr, why);
  }
  const unknown = await runProgram(['check', `${inbox.id}x`, '--wait'], env);
  assert.equal(unknown.code, 2);
});
