/** Plays the story of 90 days: the reports of each day arrive over SMTP, and the jobs do their work. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { LOOKUP_JOB } from '../../../src/domains/feedback/lookup-job.ts';
import type { Domain } from '../../../src/domains/schema.ts';
import { announceStopped } from '../../../src/feedback/stopped-job.ts';
import { watchFeedback } from '../../../src/feedback/watch/watch-job.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import type { ServiceOptions } from '../../helpers/app.ts';
import { sendMail } from '../../helpers/send.ts';
import { makeKey, signMessage } from '../../helpers/signer.ts';
import { addConfirmed, type FeedbackService, named, startFeedback } from '../start.ts';
import { DAYS, DOMAINS, isSilent, sendersZone } from './domains.ts';
import { mailsAfter, mailsDuring, momentOf, SIGNERS, type StoryMail } from './mails.ts';

export const SEED = 2026;

export interface Story extends FeedbackService {
  /** By name. */
  domains: Record<string, Domain>;
  /**
   * Plays all days in order. `afterDay` is called on the morning after each day, at 10:00 UTC, when its reports were read, all
   * sources are named, and the records were looked up.
   */
  play(afterDay: (day: number) => Promise<void>): Promise<void>;
}

/**
 * A team with three domains, about which six reporters send reports for 90 days: from day 0, Monday 24 August 2026, to day 89.
 * One of them sends each two days, and the days of another begin at 05:00 UTC. All senders send from day 0 on, except those below.
 *
 * - `example.com` (p=none) sends through its own server, Mailchimp and SendGrid. Forward Email and a mailing list forward its
 *   messages; the list breaks their signatures. Few messages are spoofed, as no policy stops them. Two reporters send TLS reports.
 * - `shop.example` (p=quarantine) sends through its own server and Postmark, which does not sign for it.
 * - `bank.example` (p=reject) sends through its own server and Zendesk. A print shop signs only some messages. Most messages are spoofed.
 *
 * - Days 10–12, example.com: all messages of SendGrid fail, since its key was deleted from DNS. Receivers return some.
 * - Days 40–46, bank.example: no reports arrive, since its DMARC record lost `rua`.
 * - Day 45, shop.example: Postmark signs for the domain from now on.
 * - Day 50, example.com: a certificate has expired, and a fifth of the TLS sessions fail.
 * - Day 60, shop.example: Brevo is a new sender, which is set up well.
 * - Day 66, shop.example: seven complaints arrive. On other days, there is one at most.
 * - Day 70, example.com: the policy becomes quarantine.
 * - Day 75, shop.example: the policy becomes reject.
 *
 * New networks of spoofers begin on several days (`spoofers` in `domains.ts`). At example.com, each sends fewer than ten messages a day.
 * At the other domains, they are up to 400, and the policy stops all of them.
 */
export async function startStory(t: TestContext, options: ServiceOptions = {}): Promise<Story> {
  const key = makeKey();
  const zone: Zone = sendersZone();
  for (const name of SIGNERS) {
    zone[name] = { TXT: ['v=spf1 -all'] };
    zone[`s1._domainkey.${name}`] = { TXT: [key.record] };
  }
  const policies = DOMAINS.map((domain) => {
    const published = { TXT: [] as string[] };
    zone[`_dmarc.${domain.name}`] = published;
    return { domain, published };
  });
  const feedback = await startFeedback(t, { ...options, zone }, momentOf(0));
  const { service, clock } = feedback;
  // The others are known receivers.
  await addConfirmed(service, 'correo.example');
  const domains: Record<string, Domain> = { 'example.com': feedback.domain };
  for (const { name } of DOMAINS)
    domains[name] ??= (await service.call<Domain>('POST', '/v1/domains', { json: { name } })).body;
  const addressOf = (name: string) => domains[name]!.feedback.address;

  const publish = (day: number) => {
    for (const { domain, published } of policies) {
      const rua = isSilent(domain, day) ? '' : `; rua=mailto:${addressOf(domain.name)}`;
      published.TXT = [`v=DMARC1; p=${domain.policy(day)}${rua}`];
    }
  };

  const deliver = async (mails: StoryMail[]) => {
    await Promise.all(
      mails.map(async ({ to, signer, client, raw }) => {
        const signTime = clock.now() - 60_000;
        const message =
          signer === null
            ? raw
            : await signMessage(Buffer.from(raw), {
                domain: signer,
                selector: 's1',
                key,
                signTime,
              });
        await sendMail({
          port: service.smtp.port,
          to: addressOf(to),
          raw: message,
          plain: true,
          clientIp: client,
          mailFrom: signer === null ? '' : `bounce@${signer}`,
        });
      }),
    );
    await feedback.settled();
  };

  return {
    ...feedback,
    domains,
    async play(afterDay) {
      for (let day = 0; day < DAYS; day++) {
        clock.set(momentOf(day, 18));
        publish(day);
        await deliver(mailsDuring(day, addressOf));
        clock.set(momentOf(day + 1, 10));
        await deliver(mailsAfter(SEED, day, addressOf));
        await named(feedback);
        await recordsLookedUp(feedback);
        await announceStopped(service.app);
        await watchFeedback(service.app);
        await afterDay(day);
      }
    },
  };
}

async function recordsLookedUp({ service, clock }: FeedbackService): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt++) {
    const due = await service.app.db
      .selectFrom('feedback_domains')
      .select('id')
      .where('lookup_at', '<=', new Date(clock.now()).toISOString())
      .execute();
    if (due.length === 0) return;
    service.app.scheduler.wakeHere(LOOKUP_JOB);
    await pause(10);
  }
  assert.fail('records are not looked up');
}
