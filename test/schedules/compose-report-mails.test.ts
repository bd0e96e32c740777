/** The content of scheduled reports: their own domains, the worst first, and the incidents of the period. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isoTime } from '../../src/lib/clock.ts';
import { gatherReport } from '../../src/schedules/compose-report-mails.ts';
import { scheduleOr404 } from '../../src/schedules/queries.ts';
import { periodOf } from '../../src/schedules/times.ts';
import { startScheduling } from './scheduling.ts';

const SLOT = Date.UTC(2026, 10, 22, 8);

test('gatherReport includes only the schedule’s domains and incidents of its period', async (t) => {
  const { service, create } = await startScheduling(t, { mute: true });
  const { app, call } = service;
  const { db } = app;
  const health = { 'ok.example': 'healthy', 'bad.example': 'critical', 'new.example': 'unknown' };
  const ids: Record<string, string> = {};
  for (const [name, health_status] of Object.entries(health)) {
    const { body } = await call<{ id: string }>('POST', '/v1/domains', { json: { name } });
    ids[name] = body.id;
    await db
      .updateTable('domains')
      .set({ health_status: health_status as 'healthy', health_score: 50 })
      .where('id', '=', body.id)
      .execute();
  }
  const { body: alert } = await call<{ id: string }>('POST', '/v1/alerts', {
    json: { name: 'Low', condition: 'score_below', channels: ['email'] },
  });
  const incident = (subject: string, opened: number, resolved: number | null) =>
    db
      .insertInto('alert_incidents')
      .values({
        id: app.newId('inc'),
        alert_id: alert.id,
        subject,
        value: '{}',
        status: resolved === null ? 'open' : 'resolved',
        opened_at: isoTime(opened),
        resolved_at: resolved && isoTime(resolved),
        resolution: null,
        test_id: null,
        run_id: null,
        condition: 'score_below',
        threshold: 70,
      } as never)
      .execute();
  const hour = 3_600_000;
  // The period is 21 November. Open incidents are listed whenever they began.
  await incident('over.bad.example', SLOT - 15 * hour, SLOT - 14 * hour);
  await incident('bad.example', SLOT - 90 * hour, null);
  await incident('notbad.example', SLOT - 2 * hour, null);
  await incident('long-over.bad.example', SLOT - 90 * hour, SLOT - 80 * hour);
  await incident('later.bad.example', SLOT - 4 * hour, SLOT - 3 * hour);

  const gather = async (json: object) => {
    const row = await scheduleOr404(db, (await create(json)).id);
    const report = await gatherReport(app, row, periodOf(row, SLOT), '');
    const { domains, incidents } = report;
    for (const { condition } of incidents) assert.equal(condition, 'the score is too low');
    return [domains.map(({ name }) => name), incidents.map(({ subject }) => subject)];
  };
  assert.deepEqual(await gather({}), [
    ['bad.example', 'new.example', 'ok.example'],
    ['notbad.example', 'bad.example', 'over.bad.example'],
  ]);
  assert.deepEqual(await gather({ domains: [ids['ok.example'], ids['bad.example']] }), [
    ['bad.example', 'ok.example'],
    ['bad.example', 'over.bad.example'],
  ]);
  assert.deepEqual((await gather({ include_sections: ['summary'] }))[1], []);
});

test('A problem that only Google sees counts as one of the domain, which then comes first', async (t) => {
  const account = { receiver: 'google_postmaster', client_id: 'app', client_secret: 'secret' };
  const { service, create } = await startScheduling(t, {
    mute: true,
    env: { DELIVERABILITY_RECEIVERS: JSON.stringify([account]) },
  });
  const { app, call } = service;
  const { db } = app;
  const now = isoTime(app.clock.now());
  for (const name of ['a.example', 'b.example']) {
    const { body } = await call<{ id: string }>('POST', '/v1/domains', { json: { name } });
    await db
      .updateTable('domains')
      .set({
        health_status: 'healthy',
        health_score: 100,
        health_checked_at: now,
        status: 'verified',
        verified_at: now,
      })
      .where('id', '=', body.id)
      .execute();
  }
  const gather = async () => {
    const row = await scheduleOr404(db, (await create({ frequency: 'weekly' })).id);
    const period = periodOf(row, app.clock.now());
    return (await gatherReport(app, row, period, '')).domains;
  };
  assert.deepEqual(
    (await gather()).map(({ name, health }) => `${name} ${health}`),
    ['a.example healthy', 'b.example healthy'],
  );
  await db.updateTable('receivers').set({ fetched_at: now, attempted_at: now }).execute();
  await db
    .insertInto('receiver_domains')
    .values({
      receiver_id: 'google_postmaster',
      name: 'b.example',
      permission: 'OWNER',
      verification: 'VERIFIED',
      listed_at: now,
      days_at: now,
      requirements_at: now,
      problem: null,
      problem_detail: null,
    })
    .execute();
  await db
    .insertInto('receiver_days')
    .values({
      name: 'b.example',
      receiver_id: 'google_postmaster',
      spam_rate: 0.0041,
      day: isoTime(app.clock.now() - 2 * 86_400_000).slice(0, 10),
      fetched_at: now,
      spf_rate: null,
      dkim_rate: null,
      dmarc_rate: null,
      tls_rate: null,
      tls_messages: null,
      reject_rate: null,
      temp_fail_rate: null,
      errors: null,
      feedback_loops: null,
    })
    .execute();
  const [worst, other] = await gather();
  assert.deepEqual(
    [worst!.name, worst!.health, worst!.score, worst!.headline],
    [
      'b.example',
      'critical',
      100,
      'Gmail users report 0.41% of your mail as spam. The limit is 0.3%.',
    ],
  );
  assert.deepEqual([other!.name, other!.health], ['a.example', 'healthy']);
});

test('gatherReport compares with the previous month; without domains it counts nothing', async (t) => {
  const { service, create } = await startScheduling(t, { mute: true });
  const { app, call } = service;
  const { body } = await call<{ id: string }>('POST', '/v1/domains', {
    json: { name: 'a.example' },
  });
  const tally = async (day: string, domain_id: string) => {
    const zero = { scored: 1, score_sum: 80, grade_a: 0, grade_b: 1, grade_c: 0, grade_d: 0 };
    const rest = { grade_f: 0, spf_known: 0, spf_pass: 0, dkim_known: 0, dkim_pass: 0 };
    const hour = `${day}T12:00:00.000Z`;
    const row = { livemode: 1, domain_id, hour, tests: 1, ...zero, ...rest, dmarc_known: 0 };
    const more = {
      dmarc_pass: 0,
      placement_samples: 0,
      placement_inbox: 0,
      issues: '{}',
      placement_counts: '{}',
    };
    await app.db
      .insertInto('test_tallies')
      .values({ ...row, ...more })
      .execute();
  };
  // 29 January is within 31 days before March, but not in February.
  for (const day of ['2026-01-29', '2026-02-10', '2026-03-10', '2026-03-20']) await tally(day, '');
  const gather = async (json: object) => {
    const row = await scheduleOr404(app.db, (await create({ frequency: 'monthly', ...json })).id);
    await call('DELETE', `/v1/domains/${body.id}`);
    return gatherReport(app, row, periodOf(row, Date.UTC(2026, 3, 1, 8)), '');
  };
  const { summary: one } = await gather({ domains: [body.id] });
  assert.deepEqual([one.total_tests, one.previous.total_tests], [0, 0]);
  const { summary: all } = await gather({});
  assert.deepEqual([all.total_tests, all.previous.total_tests, all.trend.length], [2, 1, 31]);
});
