/** `kill -9` between a result and its notifications: email, Slack message and event are sent after the restart. */

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { NOTIFY_JOB } from '../../src/alerts/notify.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { ANALYZE_JOB } from '../../src/mailtests/queries.ts';
import { SEND_JOB } from '../../src/outbox/queue.ts';
import { DELIVER_JOB } from '../../src/webhooks/enqueue.ts';
import { SENDER_ZONE } from '../e2e/sender.ts';
import { startTestService, temporaryFolder } from '../helpers/app.ts';
import { startDnsServer } from '../helpers/dns-server.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { type Random, seededRandom } from '../helpers/random.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ownerKey, type ServeOptions, spawnServe } from '../helpers/serve-process.ts';
import { SAME_NODE } from '../helpers/store.ts';
import { startMailSink } from '../outbox/mail-sink.ts';

/** An alert sends at most twenty emails per hour, and each test here triggers one: six rounds at most. */
const ROUNDS = 6;
const TESTS_PER_ROUND = 3;
const MAX_LIFETIME_MS = 500;

test(`${ROUNDS} SIGKILLs lose no alert email, Slack message or event`, {
  timeout: 300_000 + ROUNDS * 30_000,
}, async (t) => {
  const seed = Number(process.env.KILL_SEED ?? randomInt(2 ** 31));
  t.diagnostic(`KILL_SEED=${seed}`);
  const random = seededRandom(seed);
  const receiver = await startReceiver(t);
  const sink = await startMailSink(t);
  const dns = await startDnsServer(SENDER_ZONE);
  t.after(() => dns.close());
  const folder = temporaryFolder(t);
  const env = {
    ...receiver.env,
    ...SAME_NODE,
    DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
    DELIVERABILITY_SECRET_KEY: 'a secret key for the tests of kills, long enough',
    DELIVERABILITY_BLOCKLISTS: '-all',
    DELIVERABILITY_WORKERS: '1',
    DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
    DELIVERABILITY_MAIL_FROM: 'no-reply@example.com',
    DELIVERABILITY_SLACK_WEBHOOK_URL: receiver.url.replace('/hooks', '/slack'),
  };
  const { key, rules } = await prepare({ folder, env }, receiver.url);
  const accepted: string[] = [];
  for (let round = 0; round < ROUNDS; round++)
    accepted.push(...(await runAndKill({ folder, env }, key, random, round)));
  const incidents = await finishAll(t, folder, env);

  const found = new Set(incidents.map(({ test_id }) => test_id));
  assert.deepEqual(
    accepted.filter((id) => !found.has(id)),
    [],
    'each accepted test has its incident',
  );
  assert.ok(incidents.length > 0);
  const mails = sink.taken.map(({ raw }) => raw.toString().replaceAll('=\r\n', ''));
  const bodiesAt = (path: string) =>
    receiver.requests.filter((request) => request.path === path).map(({ body }) => body);
  const [posts, events] = [bodiesAt('/slack'), bodiesAt('/hooks')];
  for (const { id, alert_id } of incidents) {
    const byMail = alert_id === rules.mail;
    assert.equal(
      mails.some((text) => text.includes(id)),
      byMail,
      `email of ${id}`,
    );
    assert.equal(
      posts.some((text) => text.includes(id)),
      byMail,
      `Slack message of ${id}`,
    );
    assert.equal(
      events.some((text) => text.includes(id)),
      !byMail,
      `event of ${id}`,
    );
  }
  const counts = {
    rounds: ROUNDS,
    incidents: incidents.length,
    mails: mails.length,
    posts: posts.length,
  };
  t.diagnostic(JSON.stringify({ ...counts, events: events.length }));
});

/** The first owner has recommended rules, which would send mail too. */
async function deleteRules(api: string, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const listed = await fetch(`${api}/v1/alerts?limit=100`, { headers });
  const { data } = (await listed.json()) as { data: { id: string }[] };
  assert.ok(data.length > 0);
  for (const { id } of data) {
    const { status } = await fetch(`${api}/v1/alerts/${id}`, { method: 'DELETE', headers });
    assert.ok(status < 300, `${status}`);
  }
}

/** Creates an owner, an endpoint and two alerts: one by email and Slack, one by webhook. */
async function prepare({ folder, env }: ServeOptions, url: string) {
  const key = await ownerKey({ folder, env });
  const service = await spawnServe({ folder, env });
  const api = String((await service.nextLine('ready'))!.api);
  const post = async (path: string, json: object): Promise<{ id: string }> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = JSON.stringify(json);
    const response = await fetch(api + path, { method: 'POST', headers, body });
    assert.equal(response.status, 201);
    return response.json() as Promise<{ id: string }>;
  };
  await deleteRules(api, key);
  await post('/v1/webhooks/endpoints', { url, events: ['alert.triggered'] });
  const rule = { name: 'Authentication', condition: 'auth_fail' };
  const mail = await post('/v1/alerts', { ...rule, channels: ['email', 'slack'] });
  const hook = await post('/v1/alerts', { ...rule, channels: ['webhook'] });
  service.signal('SIGTERM');
  await service.ended;
  return { key, rules: { mail: mail.id, hook: hook.id } };
}

/** Returns the IDs of the tests created with 201, each with its own From domain. */
async function runAndKill(
  options: ServeOptions,
  key: string,
  random: Random,
  round: number,
): Promise<string[]> {
  const service = await spawnServe(options);
  const ready = await service.nextLine('ready');
  assert.ok(ready, `the service did not restart: ${JSON.stringify(service.log)}`);
  const accepted: string[] = [];
  const load = Array.from({ length: TESTS_PER_ROUND }, async (_, i) => {
    const body = goodMessage().replaceAll('@example.com', `@r${round}t${i}.example`);
    try {
      const response = await fetch(
        `${ready.api}/v1/tests?client_ip=192.0.2.1&helo=mx.example.com`,
        {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'message/rfc822' },
          body,
        },
      );
      const { id } = (await response.json()) as { id: string };
      if (response.status === 201) accepted.push(id);
    } catch {
      // Interrupted by the kill.
    }
  });
  // A slow machine accepts nothing before the kill, so every other round begins with the first answer.
  if (round % 2 === 0) await Promise.race(load);
  await pause(random.below(MAX_LIFETIME_MS));
  service.signal('SIGKILL');
  await service.ended;
  await Promise.all(load);
  return accepted;
}

/** Restarts on the same database and advances the clock until nothing is due; returns the incidents. */
async function finishAll(t: TestContext, folder: string, env: Record<string, string>) {
  let ahead = 0;
  const clock = { now: () => systemClock.now() + ahead };
  const { app } = await startTestService(t, { folder, env, clock });
  const { db } = app;
  for (;;) {
    const waiting = await Promise.all([
      db
        .selectFrom('tests')
        .select('analysis_due_at as due_at')
        .where('analysis_due_at', 'is not', null)
        .execute(),
      db.selectFrom('outbox').select('due_at').where('due_at', 'is not', null).execute(),
      db
        .selectFrom('alert_notifications')
        .select('due_at')
        .where('due_at', 'is not', null)
        .execute(),
      db
        .selectFrom('webhook_deliveries')
        .select('due_at')
        .where('due_at', 'is not', null)
        .execute(),
    ]);
    const times = waiting.flat().map(({ due_at }) => Date.parse(due_at!));
    if (times.length === 0) break;
    ahead = Math.max(ahead, Math.min(...times) - systemClock.now());
    for (const job of [ANALYZE_JOB, SEND_JOB, NOTIFY_JOB, DELIVER_JOB]) app.scheduler.wake(job);
    await pause(20);
  }
  return db.selectFrom('alert_incidents').select(['id', 'alert_id', 'test_id']).execute();
}
