/** A service for tests of schedules, with a test clock, jobs run by hand and a mail server on loopback. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { App } from '../../src/app.ts';
import { sendMailJob } from '../../src/outbox/send.ts';
import type { Job } from '../../src/scheduler/scheduler.ts';
import type { ReportRun, Schedule } from '../../src/schedules/schema.ts';
import { sendReportsJob } from '../../src/schedules/send.ts';
import { type ServiceOptions, startTestService, type TestService } from '../helpers/app.ts';
import { type TestClock, testClock } from '../helpers/clock.ts';
import { type MailSink, startMailSink } from '../outbox/mail-sink.ts';
import type { List } from '../team/team-service.ts';

export const SCHEDULES = '/v1/reports/schedules';
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export interface Scheduling {
  service: TestService;
  clock: TestClock;
  sink: MailSink;
  /** Default: daily at eight to one recipient. */
  create(json?: object): Promise<Schedule>;
  get(id: string): Promise<Schedule>;
  /** Newest first. */
  runs(id: string): Promise<ReportRun[]>;
  /** Composes all due reports. */
  makeDue(): Promise<void>;
  /** Sends all due emails. */
  sendDue(): Promise<void>;
}

interface Options extends ServiceOptions {
  clock?: TestClock;
  sink?: MailSink;
  /** Outgoing mail is not configured. */
  mute?: true;
}

export async function runToEnd(job: Job): Promise<void> {
  await job.run();
  await job.idle?.();
}

export async function startScheduling(t: TestContext, options: Options = {}): Promise<Scheduling> {
  const { clock = testClock(), env, mute, sink: given, ...rest } = options;
  const sink = given ?? (await startMailSink(t));
  const mail = {
    DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
    DELIVERABILITY_MAIL_FROM: 'reports@example.com',
  };
  const service = await startTestService(t, {
    clock,
    ...rest,
    env: { ...(mute ? {} : mail), ...env },
  });
  const { app, call } = service;
  await app.scheduler.stop();
  const [reports, outgoing] = [sendReportsJob(app), sendMailJob(app)];
  return {
    service,
    clock,
    sink,
    async create(json = {}) {
      const body = { name: 'Ours', frequency: 'daily', recipients: ['ann@example.com'], ...json };
      const made = await call<Schedule>('POST', SCHEDULES, { json: body });
      assert.equal(made.status, 201, made.text);
      return made.body;
    },
    get: async (id) => (await call<Schedule>('GET', `${SCHEDULES}/${id}`)).body,
    async runs(id) {
      const { body } = await call<List<ReportRun>>('GET', `${SCHEDULES}/${id}/runs?limit=100`);
      return body.data;
    },
    makeDue: () => runToEnd(reports),
    sendDue: () => runToEnd(outgoing),
  };
}

/** Stores the tally of an hour with one completed test. */
export async function tally({ db }: App, hour: string): Promise<void> {
  const grades = { grade_a: 0, grade_b: 1, grade_c: 0, grade_d: 0, grade_f: 0 };
  const auth = { spf_known: 0, spf_pass: 0, dkim_known: 0, dkim_pass: 0, dmarc_known: 0 };
  const rest = {
    dmarc_pass: 0,
    placement_samples: 0,
    placement_inbox: 0,
    issues: '{}',
    placement_counts: '{}',
  };
  const counted = { tests: 1, scored: 1, score_sum: 80, ...grades, ...auth, ...rest };
  await db
    .insertInto('test_tallies')
    .values({ livemode: 1, domain_id: '', hour, ...counted })
    .execute();
}

/** A header field of a received email, unfolded. */
export function fieldOf(raw: Buffer, name: string): string | undefined {
  const [head = ''] = raw.toString('latin1').split('\r\n\r\n');
  const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  const line = lines.find((one) => one.toLowerCase().startsWith(`${name.toLowerCase()}:`));
  return line?.slice(name.length + 1).trim();
}

/** The path of the unsubscribe link in an email. */
export function unsubscribePath(raw: Buffer): string {
  const link = /^<(.*)>$/.exec(fieldOf(raw, 'List-Unsubscribe') ?? '')?.[1];
  assert.ok(link, 'no List-Unsubscribe');
  return new URL(link).pathname;
}
