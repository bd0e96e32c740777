/** Operations on report mailboxes: roles, validation, and secrets. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReportMailbox } from '../../../src/feedback/mailboxes/schema.ts';
import { IMPORT_JOB } from '../../../src/feedback/mailboxes/stored.ts';
import { newMember } from '../../dashboard/member.ts';
import { mainOf } from '../../dashboard/pages.ts';
import { startTestService } from '../../helpers/app.ts';
import { startImapServer } from '../../helpers/imap-server.ts';
import { startTokenServer } from '../../helpers/token-server.ts';
import { startFeedback } from '../start.ts';
import { MAILBOXES, reportMail } from './mailboxes.ts';

/** A port of the loopback address, which is not allowed here. */
const SETTINGS = {
  name: 'Reports',
  host: '127.0.0.1',
  username: 'ann',
  password: 'the secret password',
};

test('Viewers see no report mailboxes, members start imports, and admins change them', async (t) => {
  const service = await startTestService(t);
  const { body } = await service.call<ReportMailbox>('POST', MAILBOXES, { json: SETTINGS });
  const path = `${MAILBOXES}/${body.id}`;
  const EXPECTED = {
    viewer: [403, 403, 403, 403, 403, 403],
    member: [200, 200, 200, 403, 403, 403],
    admin: [200, 200, 200, 200, 201, 200],
  };
  for (const [role, statuses] of Object.entries(EXPECTED)) {
    const key = await service.makeKey(role as 'viewer');
    const ask = async (method: string, at: string, json?: object) =>
      (await service.call(method, at, { key, ...(json ? { json } : {}) })).status;
    const found = [
      await ask('GET', MAILBOXES),
      await ask('GET', path),
      await ask('POST', `${path}/import`),
      await ask('PATCH', path, { schedule: 'daily' }),
      await ask('POST', MAILBOXES, { ...SETTINGS, name: 'Other' }),
      await ask('DELETE', path),
    ];
    assert.deepEqual(found, statuses, role);
  }
  assert.equal((await service.call('GET', MAILBOXES, { key: null })).status, 401);
});

const INVALID: [settings: object, params: string[]][] = [
  [{ host: null }, ['host']],
  [{ username: null }, ['username']],
  [{ password: undefined }, ['password']],
  [{ sign_in: 'nobody' }, ['sign_in', 'sign_in']],
  [{ sign_in: 'nobody', host: null, password: undefined }, ['sign_in']],
  [{ folder: 'A', move_to: 'A' }, ['move_to']],
  [{ port: 70_000 }, ['port']],
  ...['', ' ', '.com', '.', 'mx.example.com; dkim=pass', 'dkim=pass', 'a (b)'].map(
    (authserv_id): [object, string[]] => [{ authserv_id }, ['authserv_id']],
  ),
  [{ schedule: 'yearly' }, ['schedule']],
  [{ name: '' }, ['name']],
];

test('Invalid settings of a report mailbox are rejected with the names of the fields', async (t) => {
  const service = await startTestService(t);
  for (const [settings, params] of INVALID) {
    const { status, body } = await service.call<{ errors: { param: string }[] }>(
      'POST',
      MAILBOXES,
      { json: { ...SETTINGS, ...settings } },
    );
    assert.equal(status, 422, JSON.stringify(settings));
    assert.deepEqual(
      body.errors.map(({ param }) => param),
      params,
    );
  }
});

test('The password of a report mailbox is encrypted, and in neither responses nor the audit log', async (t) => {
  const service = await startTestService(t);
  const { body, text } = await service.call<ReportMailbox>('POST', MAILBOXES, { json: SETTINGS });
  await service.call('PATCH', `${MAILBOXES}/${body.id}`, { json: { password: 'another secret' } });
  const row = await service.app.db
    .selectFrom('report_mailboxes')
    .selectAll()
    .executeTakeFirstOrThrow();
  const audit = await service.call('GET', '/v1/audit_log');
  for (const shown of [text, JSON.stringify(row), audit.text]) assert.doesNotMatch(shown, /secret/);
  assert.match(audit.text, /report_mailbox\.created/);
  assert.match(audit.text, /"password":"changed"/);
});

test('The stored password goes to no other server than the one it was entered for', async (t) => {
  const service = await startTestService(t);
  const { body } = await service.call<ReportMailbox>('POST', MAILBOXES, { json: SETTINGS });
  const change = (json: object) =>
    service.call<{ errors?: { param: string }[] }>('PATCH', `${MAILBOXES}/${body.id}`, { json });
  for (const other of [
    { host: 'imap.evil.example' },
    { host: '127.0.0.1.evil.example', username: 'eve' },
    { port: 4000 },
    { host: 'imap.evil.example', sign_in: null },
  ]) {
    const refused = await change(other);
    assert.equal(refused.status, 422, JSON.stringify(other));
    assert.deepEqual(
      refused.body.errors?.map(({ param }) => param),
      ['password'],
    );
    assert.equal((await change({ ...other, password: 'entered again' })).status, 200);
    assert.equal((await change({ ...SETTINGS, port: 993 })).status, 200);
  }
  for (const same of [{ host: SETTINGS.host }, { port: 993 }, { folder: 'A' }, { username: 'bob' }])
    assert.equal((await change(same)).status, 200, JSON.stringify(same));
});

test('Names of report mailboxes are unique, and a team can have at most 20', async (t) => {
  const service = await startTestService(t);
  const add = async (name: string) =>
    (await service.call('POST', MAILBOXES, { json: { ...SETTINGS, name } })).status;
  assert.equal(await add('0'), 201);
  assert.equal(await add('0'), 409);
  for (let index = 1; index < 20; index++) assert.equal(await add(String(index)), 201);
  assert.equal(await add('20'), 409);
});

test('An import with the sign-in of a seed mailbox uses its access token, and trusts its provider', async (t) => {
  const tokens = await startTokenServer(t);
  const results = 'mx.google.com; dkim=pass header.i=@google.com header.b="AbCd+/=="';
  const raws = [
    reportMail('a', { results }),
    reportMail('b', { results: 'mx.google.com.evil.example; dkim=pass header.d=google.com' }),
  ];
  const messages = raws.map((raw, index) => ({ uid: index + 7, raw: raw.toString('latin1') }));
  const imap = await startImapServer(t, {
    folders: [
      { name: 'INBOX', messages: [] },
      { name: 'DMARC', messages },
    ],
    acceptsToken: (token, user) =>
      user === 'reports@acme.example' && tokens.accessTokens.has(token),
  });
  const seeds = [
    {
      name: 'acme',
      provider: 'gmail',
      address: 'reports@acme.example',
      imap: `imap://127.0.0.1:${imap.port}`,
      client_id: 'app',
      token_url: tokens.url,
      refresh_token: 'first-refresh-token',
    },
  ];
  const { service } = await startFeedback(t, {
    env: { DELIVERABILITY_SEED_MAILBOXES: JSON.stringify(seeds) },
  });
  const json = { name: 'Reports', sign_in: 'acme', folder: 'DMARC' };
  const { body } = await service.call<ReportMailbox>('POST', MAILBOXES, { json });
  assert.deepEqual(body.trusted_servers, ['google.com']);
  let shown = body;
  for (let attempt = 0; attempt < 500 && shown.import.finished_at === null; attempt++) {
    service.app.scheduler.wakeHere(IMPORT_JOB);
    await new Promise((resolve) => setTimeout(resolve, 20));
    shown = (await service.call<ReportMailbox>('GET', `${MAILBOXES}/${body.id}`)).body;
  }
  assert.deepEqual(
    [shown.problem, shown.import.reports],
    [
      null,
      [
        { status: 'counted', count: 1 },
        { status: 'unverified', count: 1 },
      ],
    ],
  );
  // The folder was only examined.
  assert.ok(imap.commands.some((line) => /^EXAMINE "?DMARC/.test(line)));
  assert.ok(
    imap.commands.every((line) => !/^(SELECT|UID STORE|UID MOVE|UID COPY|EXPUNGE)/i.test(line)),
  );
  assert.ok(imap.commands.every((line) => !/BODY\[/i.test(line) || /BODY\.PEEK/i.test(line)));
});

test('On the pages, an admin adds a report mailbox, sees why it fails, corrects it and deletes it', async (t) => {
  const service = await startTestService(t);
  const admin = await newMember(service, 'admin');
  assert.match(mainOf((await admin.get('/feedback/mailboxes')).html), /No report mailboxes yet/);
  assert.match((await admin.get('/feedback/mailboxes/new')).html, /name="password"/);
  const fields = { ...SETTINGS, tls: 'implicit', folder: 'INBOX', schedule: 'off' };
  const refused = await admin.post('/feedback/mailboxes', { ...fields, host: '' });
  assert.equal(refused.status, 422);
  assert.match(mainOf(refused.html), /The IMAP server is required without a sign-in/);
  assert.doesNotMatch(refused.html, /the secret password/);
  const added = await admin.post('/feedback/mailboxes', fields);
  assert.equal(added.status, 303, mainOf(added.html));
  const path = added.location!.split('?')[0]!;
  for (let attempt = 0; attempt < 200; attempt++) {
    if (/Failed/.test((await admin.get(path)).html)) break;
    service.app.scheduler.wakeHere(IMPORT_JOB);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const page = await admin.get(path);
  assert.match(mainOf(page.html), /Can’t connect to 127\.0\.0\.1: the IP address is not public/);
  const saved = await admin.post(path, { ...fields, password: '', name: 'Renamed' });
  assert.equal(saved.status, 303, mainOf(saved.html));
  const started = await admin.post(`${path}/import`, {});
  assert.equal(started.status, 303);
  const member = await newMember(service, 'member');
  const seen = await member.get(path);
  assert.doesNotMatch(seen.html, /name="password"/);
  assert.match(mainOf(seen.html), /Renamed/);
  const viewer = await newMember(service, 'viewer');
  assert.equal((await viewer.get(path)).status, 403);
  assert.doesNotMatch((await viewer.get('/feedback')).html, /\/feedback\/mailboxes/);
  const deleted = await admin.post(`${path}/delete`, {});
  assert.equal(deleted.status, 303);
  assert.match(mainOf((await admin.get(deleted.location!)).html), /Mailbox deleted/);
});
