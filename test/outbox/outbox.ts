/** A service that sends mail to a server on loopback. Tests run its jobs manually. */

import type { TestContext } from 'node:test';
import type { App } from '../../src/app.ts';
import { type OutgoingMail, queueMail } from '../../src/outbox/queue.ts';
import { sendMailJob } from '../../src/outbox/send.ts';
import { type ServiceOptions, startTestService, type TestService } from '../helpers/app.ts';
import { type TestClock, testClock } from '../helpers/clock.ts';
import { type MailSink, startMailSink } from './mail-sink.ts';

export const TOKEN = 'kJ8vS2cWm4qpQe7TnYx0bGf1ZrLd9oHaUi3EyXwAqNk';
export const MAIL: OutgoingMail = {
  to: 'reader@example.net',
  subject: 'An invitation of great secrecy',
  text: `Come in: https://app.example/invitations/${TOKEN}\n`,
  html: `<p><a href="https://app.example/invitations/${TOKEN}">Come in</a></p>`,
};

export const PASSWORD = 'correct horse';

export interface OutboxService {
  service: TestService;
  app: App;
  sink: MailSink;
  clock: TestClock;
  /** Queues an email in its own transaction. */
  queue(mail?: Partial<OutgoingMail>, usefulUntil?: string): Promise<string>;
  /** Sends all due emails. */
  run(): Promise<void>;
  row(id: string): ReturnType<typeof findRow>;
}

/** The scheduler is stopped: the test controls time and jobs. */
export async function startOutbox(
  t: TestContext,
  options: ServiceOptions = {},
  sink?: MailSink,
): Promise<OutboxService> {
  const clock = testClock();
  const mailSink = sink ?? (await startMailSink(t));
  const service = await startTestService(t, {
    clock,
    ...options,
    env: {
      DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${mailSink.port}`,
      DELIVERABILITY_MAIL_FROM: 'The Service <notices@example.com>',
      ...options.env,
    },
  });
  const { app } = service;
  await app.scheduler.stop();
  return {
    service,
    app,
    sink: mailSink,
    clock,
    async queue(mail = {}, usefulUntil) {
      const id = await app.db
        .transaction()
        .execute((tx) => queueMail(tx, app, { ...MAIL, ...mail }, usefulUntil));
      if (id === null) throw new Error('outgoing mail is not configured');
      return id;
    },
    async run() {
      const job = sendMailJob(app);
      await job.run();
      await job.idle?.();
    },
    row: (id) => findRow(app, id),
  };
}

function findRow({ db }: App, id: string) {
  return db.selectFrom('outbox').selectAll().where('id', '=', id).executeTakeFirst();
}
