/** For tests of alert rules: a service with manually run jobs, a Slack receiver, a mail server, and test results. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { notifyJob } from '../../src/alerts/channels/posts.ts';
import { sendReminders } from '../../src/alerts/reminders.ts';
import type { Alert, AlertIncident } from '../../src/alerts/schema.ts';
import type { App } from '../../src/app.ts';
import { observed } from '../../src/events/observations.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { observeTest } from '../../src/mailtests/observe.ts';
import { sendMailJob } from '../../src/outbox/send.ts';
import { transact } from '../../src/store/open.ts';
import type { TestRow } from '../../src/store/tables.generated.ts';
import { type ServiceOptions, startTestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { startMailSink } from '../outbox/mail-sink.ts';

export type Alerting = Awaited<ReturnType<typeof startAlerting>>;

/** The variable points to the receiver as Slack; email goes to the sink. */
export async function startAlerting(t: TestContext, { env, ...options }: ServiceOptions = {}) {
  const clock = testClock();
  const slack = await startReceiver(t);
  const sink = await startMailSink(t);
  const service = await startTestService(t, {
    clock,
    ...options,
    env: {
      ...slack.env,
      DELIVERABILITY_SLACK_WEBHOOK_URL: slack.url,
      DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
      DELIVERABILITY_MAIL_FROM: 'no-reply@example.com',
      ...env,
    },
  });
  const { app } = service;
  await app.scheduler.stop();
  return { service, app, clock, slack, sink, ...stepsOf(service) };
}

export async function completeTest(app: App, row: Partial<TestRow>): Promise<TestRow> {
  const id = app.newId('test');
  const now = isoTime(app.clock.now());
  const token = id.slice(-16);
  return transact(app.db, async (tx) => {
    const test = await tx
      .insertInto('tests')
      .values({
        id,
        token,
        livemode: 1,
        kind: 'auto',
        metadata: '{}',
        status: 'completed',
        created_at: now,
        expires_at: now,
        received_at: now,
        completed_at: now,
        from_address: 'news@example.com',
        from_domain: 'example.com',
        subject: 'News <of> spring',
        spf: 'pass',
        dkim: 'pass',
        dmarc: 'pass',
        score: 95,
        checks: '[]',
        search: '',
        line_ends_converted: 0,
        analysis_attempts: 0,
        placement_status: 'none',
        placement_samples: 0,
        placement_inbox: 0,
        ...row,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await app.subscribers.publish(observed, tx, observeTest(test));
    return test;
  });
}

function stepsOf(service: Awaited<ReturnType<typeof startTestService>>) {
  const { app, call } = service;
  const jobs = [notifyJob(app), sendMailJob(app)];
  return {
    /** Email is the default channel. */
    async makeAlert(json: object = {}): Promise<Alert> {
      const body = { name: 'Low score', condition: 'score_below', channels: ['email'], ...json };
      const made = await call<Alert>('POST', '/v1/alerts', { json: body });
      assert.equal(made.status, 201, made.text);
      return made.body;
    },
    /** Stores a completed live test of example.com and publishes the result, in one transaction. */
    complete: (row: Partial<TestRow> = {}): Promise<TestRow> => completeTest(app, row),
    async incidents(query = ''): Promise<AlertIncident[]> {
      const { body } = await call<{ data: AlertIncident[] }>('GET', `/v1/alert_incidents${query}`);
      return body.data;
    },
    async events(): Promise<{ type: string; data: AlertEvent }[]> {
      const { body } = await call<{ data: { type: string; data: AlertEvent }[] }>(
        'GET',
        '/v1/events',
      );
      return body.data.filter(({ type }) => type.startsWith('alert.')).reverse();
    },
    /** Queues the reminders that are due by the clock. */
    remind: (): Promise<void> => sendReminders(app),
    /** Sends what is due by the clock and waits until it is done. */
    async sendDue(): Promise<void> {
      for (const job of jobs) {
        await job.run();
        await job.idle?.();
      }
    },
  };
}

export type AlertEvent = AlertIncident & {
  alert: Alert;
  test?: { id: string; object: string };
  monitor_run?: { id: string; object: string };
};
