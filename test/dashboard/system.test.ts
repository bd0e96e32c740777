/** The page of the system: states of parts, queues, counts, configuration without secrets, and its speed. */

// @one-database: about pages; the operations behind them run on both.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig, settingsOf } from '../../src/config/config.ts';
import { exampleText, OPTIONAL_PARTS, partOf } from '../../src/dashboard/system/dependencies.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { testClock } from '../helpers/clock.ts';
import { newMember, startWithOwner } from './member.ts';
import { mainOf } from './pages.ts';

test('The system page shows versions, parts, and how to set up what is missing', async (t) => {
  const { service, owner } = await startWithOwner(t, { nodeVersion: '24.1.2' });
  const { html, status } = await owner.get('/system');
  assert.equal(status, 200);
  const text = mainOf(html);
  assert.match(text, /Deliverability0\.0\.0-testNode\.js24\.1\.2/);
  assert.match(text, /DELIVERABILITY_MAIL_URL=smtp:\/\/user:password@mail\.example\.com:587/);
  assert.match(text, /DELIVERABILITY_OIDC_ISSUER=https:\/\/login\.example\.com/);
  assert.match(html, /<span class="state unset">/);
  assert.match(text, /DELIVERABILITY_INBOX_DOMAIN.*inbox\.test/s);
  assert.match(text, /Domains0Monitors0/);
  const admin = await newMember(service, 'admin');
  assert.equal((await admin.get('/system')).status, 200);
  const member = await newMember(service, 'member');
  assert.equal((await member.get('/system')).status, 403);
});

test('The system page shows no secret', async (t) => {
  const { owner } = await startWithOwner(t, {
    env: {
      DELIVERABILITY_MAIL_URL: 'smtp://user:s3cret-word@127.0.0.1:1',
      DELIVERABILITY_MAIL_FROM: 'no-reply@example.com',
      DELIVERABILITY_SLACK_WEBHOOK_URL: 'https://hooks.slack.com/services/T0/B0/s3cret-word',
      DELIVERABILITY_SPAMHAUS_DQS_KEY: 's3cretword1234567890abcdef',
      DELIVERABILITY_BLOCKLISTS: '+zen.spamhaus.org',
    },
  });
  const { html } = await owner.get('/system');
  assert.doesNotMatch(html, /s3cret/);
  const text = mainOf(html);
  assert.match(text, /DELIVERABILITY_MAIL_URL.*\*{8}/s);
  // Nothing listens on port 1, and no list works without DNS.
  assert.match(text, /Outgoing emailDegraded.*Check DELIVERABILITY_MAIL_URL/s);
  assert.match(html, /id="blocklists"/);
});

test('Settings name their source, and mask secrets', () => {
  const { config } = readConfig({
    DELIVERABILITY_INBOX_DOMAIN: 'inbox.test',
    DELIVERABILITY_SECRET_KEY: 'correct horse battery staple, and then some',
    DELIVERABILITY_DATABASE_URL: 'postgres://user:pass@db.example.com/mail?sslmode=require',
  });
  const settingOf = (name: string) =>
    settingsOf(config).find((setting) => setting.name === `DELIVERABILITY_${name}`)!;
  const shown = (name: string) => [settingOf(name).value, settingOf(name).source];
  assert.deepEqual(shown('INBOX_DOMAIN'), ['inbox.test', 'environment']);
  assert.deepEqual(shown('SECRET_KEY'), ['********', 'environment']);
  assert.deepEqual(shown('DATABASE_URL'), ['postgres://db.example.com/mail', 'environment']);
  assert.deepEqual(shown('HTTP_PORT'), ['8080', 'default']);
  assert.deepEqual(shown('MAIL_URL'), ['', 'default']);
  assert.deepEqual(settingsOf({ ...config }), []);
});

test('Queues and their oldest entries are counted, at most once in a few seconds', async (t) => {
  const clock = testClock();
  const { service, owner } = await startWithOwner(t, { clock });
  const { app } = service;
  const queue = async () =>
    /Queued(more than )?([\d,]+)Failed/.exec(mainOf((await owner.get('/system')).html))![2];
  assert.equal(await queue(), '0');
  const created_at = isoTime(clock.now() - 7_200_000);
  const mail = { recipient: 'a@example.com', content: 'x', attempts: 1, bulk: 0, created_at };
  const insert = (status: 'queued' | 'failed', count: number) =>
    app.db
      .insertInto('outbox')
      .values(
        Array.from({ length: count }, () => ({
          ...mail,
          id: app.newId('mail'),
          status,
          due_at: status === 'queued' ? isoTime(clock.now() + 3_600_000) : null,
        })),
      )
      .execute();
  await insert('queued', 3);
  await insert('failed', 2);
  assert.equal(await queue(), '0', 'from the cache');
  clock.advance(6_000);
  assert.equal(await queue(), '3');
  const text = mainOf((await owner.get('/system')).html);
  assert.match(text, /Failed in the last 24 hours2Oldest2 h ago/);
  for (let i = 0; i < 4; i++) await insert('queued', 300);
  clock.advance(6_000);
  assert.match(mainOf((await owner.get('/system')).html), /Queuedmore than 1,000Failed/);
});

test('The four states of a part are told apart, and what is broken says what to do', () => {
  const part = (
    name: string,
    status: 'up' | 'degraded' | 'down' | 'disabled',
    detail: string | null,
  ) => partOf({ name, status, detail, latency_ms: null });
  assert.equal(part('dns', 'up', null).state, 'fine');
  assert.equal(part('dns', 'degraded', 'No response yet.').state, 'waiting');
  assert.equal(part('blocklists', 'degraded', 'Not tested yet: A, B.').state, 'waiting');
  assert.equal(part('outgoing_smtp', 'disabled', 'Not configured.').state, 'unset');
  const broken = part('database', 'down', 'Not reachable.');
  assert.equal(broken.state, 'broken');
  assert.match(broken.advice!, /^Check that the database server is running/);
  const full = part(
    'mail_listener',
    'degraded',
    'The connection limit was reached within the last minute.',
  );
  assert.match(full.advice!, /DELIVERABILITY_SMTP_MAX_CONNECTIONS/);
  assert.match(part('constructor', 'down', 'x').name, /^constructor$/);
});

test('Examples of variables are accepted by the configuration', () => {
  const examples = [
    ...OPTIONAL_PARTS.map(({ example }) => example),
    ...['outgoing_smtp', 'blocklists'].map(
      (name) => partOf({ name, status: 'disabled', detail: null, latency_ms: null }).example!,
    ),
  ];
  for (const example of examples) {
    const env = Object.fromEntries(
      example
        .filter(([name]) => !name.endsWith('_FILE'))
        .map(([name, value]) => [`DELIVERABILITY_${name}`, value.replace('…', 'T0/B0/x')]),
    );
    // The example for DKIM names a file that does not exist here.
    if (exampleText(example).includes('DKIM')) continue;
    assert.doesNotThrow(() => readConfig(env), exampleText(example));
  }
});
