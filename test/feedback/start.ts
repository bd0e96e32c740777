/** A service with the domain example.com, and reporters that send it reports. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Domain } from '../../src/domains/schema.ts';
import type { ListedReport } from '../../src/feedback/schemas/report.ts';
import { type ServiceOptions, startTestService, type TestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { sendMail } from '../helpers/send.ts';
import { makeKey, signMessage } from '../helpers/signer.ts';

const KEY = makeKey();

/** Signs a message of receiver.example. */
export const signReport = (raw: Buffer, signTime: number): Promise<Buffer> =>
  signMessage(raw, { domain: 'receiver.example', selector: 's1', key: KEY, signTime });

/** receiver.example and stranger.example sign their mail; the signatures of broken.example do not match its key. */
export const REPORTER_ZONE = {
  'receiver.example': { TXT: ['v=spf1 -all'], A: ['192.0.2.80'] },
  's1._domainkey.receiver.example': { TXT: [KEY.record] },
  'stranger.example': { TXT: ['v=spf1 -all'], A: ['192.0.2.82'] },
  's1._domainkey.stranger.example': { TXT: [KEY.record] },
  'broken.example': { TXT: ['v=spf1 -all'], A: ['192.0.2.81'] },
  's1._domainkey.broken.example': { TXT: [makeKey().record] },
  'example.com': { A: ['192.0.2.1'] },
};

export const NOW = Date.UTC(2026, 10, 22, 10, 0, 0);

interface SendOptions {
  from?: string;
  suffix?: string;
  sign?: boolean;
  /** Whether to wait until it is read. */
  wait?: boolean;
}

export interface FeedbackService {
  service: TestService;
  clock: ReturnType<typeof testClock>;
  domain: Domain;
  /** Sends a message, signed for the domain of its From field; resolves once its reports are recorded. */
  send(raw: Uint8Array, options?: SendOptions): Promise<void>;
  /** Resolves once nothing waits to be read. */
  settled(): Promise<void>;
  /** The reports in the order of their arrival. */
  reports(query?: string): Promise<ListedReport[]>;
  upload(file: string | Uint8Array): Promise<ListedReport[]>;
}

/** A reporter that a person has confirmed, before its first report arrives. `label`: what it calls itself. */
export async function addConfirmed(
  { app }: Pick<TestService, 'app'>,
  domain: string,
  label: string | null = null,
): Promise<void> {
  const at = new Date(app.clock.now()).toISOString();
  await app.db
    .insertInto('feedback_reporters')
    .values({
      id: app.newId('rep'),
      name: `DKIM ${domain}`,
      kind: 'dkim',
      title: domain,
      label,
      trusted: 1,
      first_at: at,
      last_at: at,
      reports: 0,
      counted: 0,
    })
    .execute();
}

/** receiver.example is confirmed. */
export async function startFeedback(
  t: TestContext,
  options: ServiceOptions = {},
  now = NOW,
): Promise<FeedbackService> {
  const clock = testClock(now);
  const service = await startTestService(t, {
    clock,
    ...options,
    zone: { ...REPORTER_ZONE, ...options.zone },
  });
  await addConfirmed(service, 'receiver.example', 'receiver ltd');
  const { body: domain } = await service.call<Domain>('POST', '/v1/domains', {
    json: { name: 'example.com' },
  });
  const settled = async () => {
    for (let attempt = 0; attempt < 1000; attempt++) {
      const waiting = await service.app.db
        .selectFrom('feedback_mails')
        .select('id')
        .where('due_at', 'is not', null)
        .execute();
      if (waiting.length === 0) return;
      service.app.scheduler.wakeHere('feedback.read');
      await pause(10);
    }
    assert.fail('feedback is not read');
  };
  return {
    service,
    clock,
    domain,
    settled,
    async send(raw, { from = 'receiver.example', suffix, sign = true, wait = true } = {}) {
      const message = Buffer.from(raw).toString('latin1').replaceAll('receiver.example', from);
      const signed = sign
        ? await signMessage(Buffer.from(message, 'latin1'), {
            domain: from,
            selector: 's1',
            key: KEY,
            signTime: clock.now() - 60_000,
          })
        : Buffer.from(message, 'latin1');
      const address = domain.feedback.address;
      const to = suffix === undefined ? address : address.replace('@', `+${suffix}@`);
      await sendMail({
        port: service.smtp.port,
        to,
        raw: signed,
        mailFrom: `bounce@${from}`,
      });
      if (wait) await settled();
    },
    async reports(query = '') {
      const { body } = await service.call<{ data: ListedReport[] }>(
        'GET',
        `/v1/feedback/reports?limit=100${query}`,
      );
      return body.data.toReversed();
    },
    async upload(file) {
      const { status, body } = await service.call<{ data: ListedReport[] }>(
        'POST',
        '/v1/feedback/reports',
        { body: file, headers: { 'content-type': 'application/octet-stream' } },
      );
      assert.equal(status, 201, JSON.stringify(body));
      return body.data;
    },
  };
}

/** Looks up all addresses that are due. */
export async function named({ service, clock }: FeedbackService): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt++) {
    const due = await service.app.db
      .selectFrom('feedback_addresses')
      .select('id')
      .where('look_up_at', '<=', new Date(clock.now()).toISOString())
      .execute();
    if (due.length === 0) return;
    service.app.scheduler.wakeHere('feedback.sources');
    await pause(10);
  }
  assert.fail('sources are not named');
}
