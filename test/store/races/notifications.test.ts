/** Alerts, webhooks, monitors, and reports: what two nodes do at once happens once. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sendDigests } from '../../../src/alerts/channels/alert-mail.ts';
import { appendEvent } from '../../../src/events/events.ts';
import { isoTime } from '../../../src/lib/clock.ts';
import { unknownOutcome } from '../../../src/monitors/findings.ts';
import { claimDueMonitors, recordRun, resumeMonitors } from '../../../src/monitors/run.ts';
import { unsubscribeToken } from '../../../src/schedules/recipients.ts';
import { transact } from '../../../src/store/open.ts';
import {
  lockChangingEndpoints,
  recordEndpointHealth,
} from '../../../src/webhooks/endpoint-health.ts';
import { completeTest } from '../../alerts/alerting.ts';
import type { TestService } from '../../helpers/app.ts';
import { testClock } from '../../helpers/clock.ts';
import { startMailSink } from '../../outbox/mail-sink.ts';
import { ROUNDS, SETUPS, statusesOf } from './nodes.ts';

async function mailEnvironment(t: TestContext): Promise<Record<string, string>> {
  const sink = await startMailSink(t);
  return {
    DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
    DELIVERABILITY_MAIL_FROM: 'notices@example.com',
  };
}

const RULE = { name: 'Low', condition: 'score_below', channels: ['email'] };

async function makeRule({ call }: TestService, json: object = {}): Promise<string> {
  const { body, text } = await call<{ id: string }>('POST', '/v1/alerts', {
    json: { ...RULE, ...json },
  });
  assert.ok(body.id, text);
  return body.id;
}

for (const { on, skip, start } of SETUPS) {
  test(`Two results open and resolve an incident once (${on})`, { skip }, async (t) => {
    const [a, b] = await start(t, { env: await mailEnvironment(t) });
    await makeRule(a);
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.all([a, b].map(({ app }) => completeTest(app, { score: 1 })));
      const open = await a.app.db
        .selectFrom('alert_incidents')
        .select('id')
        .where('status', '=', 'open')
        .execute();
      assert.equal(open.length, 1);
      await Promise.all([a, b].map(({ app }) => completeTest(app, { score: 99 })));
      const notifications = await a.app.db
        .selectFrom('alert_notifications')
        .select('news')
        .where('incident_id', '=', open[0]!.id)
        .orderBy('news')
        .execute();
      assert.deepEqual(notifications, [{ news: 'resolved' }, { news: 'triggered' }]);
    }
  });

  test(`A disabled rule has no open incident (${on})`, { skip }, async (t) => {
    const [a, b] = await start(t);
    for (let round = 0; round < ROUNDS; round++) {
      const id = await makeRule(a);
      const [, disabled] = await Promise.all([
        completeTest(a.app, { score: 1 }),
        b.call('PATCH', `/v1/alerts/${id}`, { key: a.key, json: { enabled: false } }),
      ]);
      assert.equal(disabled.status, 200, disabled.text);
      const open = await a.app.db
        .selectFrom('alert_incidents')
        .select('id')
        .where('alert_id', '=', id)
        .where('status', '=', 'open')
        .execute();
      assert.deepEqual(open, []);
    }
  });

  test(`Concurrent alerts keep to the hourly mail limit, and the digest is sent once (${on})`, {
    skip,
  }, async (t) => {
    const [a, b] = await start(t, { env: await mailEnvironment(t) });
    await makeRule(a, { recipients: ['ann@example.com'] });
    const domains = Array.from({ length: 24 }, (_, i) => `from${i}.example`);
    await Promise.all(
      domains.map((from_domain, i) => completeTest([a, b][i % 2]!.app, { score: 1, from_domain })),
    );
    const mails = () => a.app.db.selectFrom('outbox').select('id').execute();
    assert.equal((await mails()).length, 20);
    await Promise.all([sendDigests(a.app), sendDigests(b.app)]);
    assert.equal((await mails()).length, 21);
  });

  test(`A disabled endpoint has no pending delivery (${on})`, { skip }, async (t) => {
    const [a, b] = await start(t);
    for (let round = 0; round < ROUNDS; round++) {
      const { body } = await a.call<{ id: string }>('POST', '/v1/webhooks/endpoints', {
        json: { url: 'https://example.com/hook', events: ['*'] },
      });
      const event = { type: 'test.failed', livemode: true, data: {} } as const;
      const [, disabled] = await Promise.all([
        transact(a.app.db, (tx) => appendEvent(tx, event, a.app)),
        b.call('PATCH', `/v1/webhooks/endpoints/${body.id}`, {
          key: a.key,
          json: { enabled: false },
        }),
      ]);
      assert.equal(disabled.status, 200, disabled.text);
      const pending = await a.app.db
        .selectFrom('webhook_deliveries')
        .select('id')
        .where('endpoint_id', '=', body.id)
        .where('status', '=', 'pending')
        .execute();
      assert.deepEqual(pending, []);
    }
  });

  test(`A failing endpoint is disabled once, with one email (${on})`, { skip }, async (t) => {
    const [a, b] = await start(t, { env: await mailEnvironment(t) });
    const { db, clock } = a.app;
    for (let round = 0; round < ROUNDS; round++) {
      const { body } = await a.call<{ id: string }>('POST', '/v1/webhooks/endpoints', {
        json: { url: 'https://example.com/hook', events: ['*'] },
      });
      const failing_since = isoTime(clock.now() - 6 * 86_400_000);
      await db
        .updateTable('webhook_endpoints')
        .set({ failing_since })
        .where('id', '=', body.id)
        .execute();
      const before = (await db.selectFrom('outbox').select('id').execute()).length;
      const outcome = { endpointId: body.id, startedAt: clock.now(), succeeded: false };
      await Promise.all(
        [a, b].map(({ app }) =>
          transact(app.db, async (tx) => {
            const endpoints = await lockChangingEndpoints(tx, [outcome]);
            await recordEndpointHealth(tx, app, [outcome], endpoints);
          }),
        ),
      );
      assert.equal((await db.selectFrom('outbox').select('id').execute()).length, before + 1);
    }
  });

  test(`Concurrent recoveries and resends start one round of attempts (${on})`, {
    skip,
  }, async (t) => {
    const [a, b] = await start(t);
    const { db } = a.app;
    const { body } = await a.call<{ id: string }>('POST', '/v1/webhooks/endpoints', {
      json: { url: 'https://example.com/hook', events: ['*'] },
    });
    for (let round = 0; round < ROUNDS; round++) {
      const event = { type: 'test.failed', livemode: true, data: {} } as const;
      await transact(db, (tx) => appendEvent(tx, event, a.app));
      const failed = { status: 'failed', due_at: null } as const;
      await db.updateTable('webhook_deliveries').set(failed).execute();
      const { id } = await db
        .selectFrom('webhook_deliveries')
        .select('id')
        .orderBy('id', 'desc')
        .executeTakeFirstOrThrow();
      const json = { since: '2020-01-01T00:00:00Z' };
      const recover = (node: TestService) =>
        node.call<{ recovered: number }>('POST', `/v1/webhooks/endpoints/${body.id}/recover`, {
          key: a.key,
          json,
        });
      const resend = b.call('POST', `/v1/webhooks/deliveries/${id}/resend`, { key: a.key });
      const [first, second, resent] = await Promise.all([recover(a), recover(b), resend]);
      assert.deepEqual(statusesOf([first, second, resent]), [200, 200, 200]);
      const recovered = first.body.recovered + second.body.recovered;
      // A resend before the recoveries leaves one delivery less to them.
      assert.ok([round, round + 1].includes(recovered), `${recovered} of ${round + 1}`);
    }
  });

  test(`A run is recorded once, and a starting node does not postpone it (${on})`, {
    skip,
  }, async (t) => {
    const clock = testClock();
    const [a, b] = await start(t, { clock });
    for (let round = 0; round < ROUNDS; round++) {
      const { body, text } = await a.call<{ id: string }>('POST', '/v1/monitors', {
        json: { name: 'M', type: 'blocklist', targets: ['203.0.114.9'], frequency: 'hourly' },
      });
      assert.ok(body.id, text);
      const [claimed] = await claimDueMonitors(a.app, 'blocklist', 1);
      clock.advance(20 * 60_000);
      const outcome = unknownOutcome(['203.0.114.9']);
      await Promise.all([
        recordRun(a.app, claimed!, outcome),
        recordRun(b.app, claimed!, outcome),
        resumeMonitors(b.app),
      ]);
      const runs = await a.app.db
        .selectFrom('monitor_runs')
        .select('id')
        .where('monitor_id', '=', body.id)
        .execute();
      assert.equal(runs.length, 1);
      await a.app.db.deleteFrom('monitors').execute();
    }
  });

  test(`After unsubscribing nobody gets the report that is being sent (${on})`, {
    skip,
  }, async (t) => {
    const [a, b] = await start(t, { env: await mailEnvironment(t) });
    const { db } = a.app;
    const email = 'ann@example.com';
    const json = { name: 'Daily', frequency: 'daily', recipients: [email], timezone: 'UTC' };
    for (let round = 0; round < ROUNDS / 2; round++) {
      const { body } = await a.call<{ id: string }>('POST', '/v1/reports/schedules', { json });
      const send = () => a.call('POST', `/v1/reports/schedules/${body.id}/send`, { key: a.key });
      assert.equal((await send()).status, 200);
      const token = unsubscribeToken(a.app, body.id, email);
      const [sent, left] = await Promise.all([
        send(),
        fetch(`${b.url}/unsubscribe/${token}`, {
          method: 'POST',
          body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
        }),
      ]);
      assert.deepEqual([sent.status, left.status], [200, 200]);
      const queued = await db
        .selectFrom('outbox')
        .select('id')
        .where('recipient', '=', email)
        .where('status', '=', 'queued')
        .execute();
      assert.deepEqual(queued, []);
    }
  });
}
