/** A genuine message of a known receiver, which anyone can send again, and a flood of messages that take long to verify. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { zoneResolver } from '../../../src/net/dns/zone.ts';
import type { ServiceOptions } from '../../helpers/app.ts';
import { dmarc, gzip, mail, text } from '../reading/builders.ts';
import { REPORTER_ZONE, startFeedback } from '../start.ts';
import { GOOGLE, mailFrom, SIGNER_ZONE, YAHOO } from '../strangers.ts';
import { fillWithStrangers, padded, SMALL, sizes } from './full.ts';

const FOREIGN = '<policy_published><domain>foreign.example</domain><p>none</p></policy_published>';
const full = { responseCode: 452 };

const start = (t: TestContext, options: ServiceOptions = {}) =>
  startFeedback(t, { zone: SIGNER_ZONE, ...options });

const files = (...reports: string[]) =>
  mail([
    text('Reports.'),
    ...reports.map((report) => ({ type: 'application/gzip', content: gzip(report) })),
  ]);

test('While the share of strangers is full, a known receiver adds what is new, and neither copies nor reports about domains of others', async (t) => {
  const feedback = await start(t, { env: SMALL });
  await fillWithStrangers(feedback, [120 * 1024, 8 * 1024, 0]);
  const google = { from: GOOGLE };
  await mailFrom(feedback, files(dmarc({ id: 'g-1' })), google);
  const worthless = [
    ['the same', files(dmarc({ id: 'g-1' }))],
    ['other figures', files(dmarc({ id: 'g-1', records: '' }))],
    ['foreign', files(dmarc({ id: 'g-2', policy: FOREIGN }))],
    ['both', files(dmarc({ id: 'g-1' }), dmarc({ id: 'g-3', policy: FOREIGN }))],
    ['no report', mail([text('Reports. '.repeat(1000))])],
  ] as const;
  for (const [what, raw] of worthless)
    await assert.rejects(mailFrom(feedback, raw, google), full, what);
  await mailFrom(feedback, files(dmarc({ id: 'g-1' }), dmarc({ id: 'g-4' })), google);
  await mailFrom(feedback, files(dmarc({ id: 'g-1' })), { from: YAHOO });
  const counted = (await feedback.reports('&status=counted')).map(({ reporter }) => reporter);
  assert.deepEqual(counted, ['google.com', 'google.com', 'yahoo.com']);
});

test('Of copies and of reports about domains of others, no bytes are kept', async (t) => {
  const feedback = await start(t);
  const google = { from: GOOGLE };
  await mailFrom(feedback, files(dmarc()), google);
  await mailFrom(feedback, files(dmarc()), google);
  await mailFrom(feedback, files(dmarc({ id: 'r-2', policy: FOREIGN }), dmarc()), google);
  await mailFrom(
    feedback,
    files(dmarc({ id: 'r-3', policy: FOREIGN }), dmarc({ id: 'r-4' })),
    google,
  );
  await feedback.upload(files(dmarc()));
  assert.deepEqual(
    (await sizes(feedback)).map((size) => size > 0),
    [true, false, false, true, true],
  );
});

test('What was refused makes room before the originals of reports that count', async (t) => {
  const feedback = await start(t, { env: SMALL });
  const broken = { close: '</unfinished>' };
  const refused = 2;
  for (let count = 0; count < refused; count++)
    await feedback.send(mail([{ type: 'application/gzip', content: gzip(dmarc(broken)) }]));
  for (let count = 0; ; count++) {
    await feedback.send(padded(`k-${count}`, 400 * 1024));
    const kept = (await sizes(feedback)).map((size) => size > 0);
    if (!kept.includes(false)) continue;
    assert.ok(count > 3, String(count));
    assert.deepEqual(kept.slice(0, refused), [false, false]);
    return;
  }
});

test('Messages whose DNS does not answer hold some slots of strangers for 5 s, and none of known receivers', async (t) => {
  const up = zoneResolver({ ...REPORTER_ZONE, ...SIGNER_ZONE });
  const asked = new Set<string>();
  const feedback = await start(t, {
    env: SMALL,
    resolver: (name, type) => {
      if (!name.endsWith('.slow.example')) return up(name, type);
      asked.add(name);
      return new Promise(() => {});
    },
  });
  await fillWithStrangers(feedback, [120 * 1024, 8 * 1024, 0]);
  const held: Promise<void>[] = [];
  /** Resolves once DNS is asked for it. */
  const flood = async (count: number, network: number) => {
    for (let number = 0; number < count; number++) {
      const signer = `${held.length}.slow.example`;
      const before = asked.size;
      const clientIp = `198.51.${network + number}.7`;
      const from = `reports@${signer}`;
      const sent = mailFrom(feedback, files(dmarc()), { from, signer, clientIp });
      held.push(assert.rejects(sent, { responseCode: 451 }));
      while (asked.size === before) await pause(5);
    }
  };
  /** The reply to a stranger, who gets 452 if verified, else 451. */
  const replyTo = (clientIp: string) =>
    mailFrom(feedback, files(dmarc()), { from: 'reports@honest.example', clientIp }).then(
      () => 250,
      ({ responseCode }) => responseCode,
    );
  await flood(1, 1);
  await flood(1, 1);
  assert.equal(await replyTo('198.51.1.8'), 451);
  assert.equal(await replyTo('198.51.2.8'), 452);
  await flood(6, 10);
  assert.equal(await replyTo('198.51.2.8'), 451);
  // Anyone can write the From address of a known receiver, but nobody else's servers are asked about it.
  const before = asked.size;
  for (let number = 0; number < 10; number++) {
    const signer = `forged-${number}.slow.example`;
    const clientIp = `198.51.${number}.9`;
    const forged = { from: GOOGLE, signer, mailFrom: `a@${signer}`, clientIp };
    await assert.rejects(mailFrom(feedback, files(dmarc()), forged));
  }
  assert.equal(asked.size, before);
  await mailFrom(feedback, files(dmarc()), { from: GOOGLE });
  assert.equal((await feedback.reports()).at(-1)!.reporter, 'google.com');
  await Promise.all(held);
  assert.equal(await replyTo('198.51.2.8'), 452);
});
