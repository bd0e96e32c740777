/** The order and the rate of address lookups, and addresses that need none. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Domain } from '../../../src/domains/schema.ts';
import { SOURCES_JOB } from '../../../src/feedback/sources/look-up-job.ts';
import { createDnsResolver } from '../../../src/net/dns/network-resolver.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { firstLookupsDone } from '../../domains/first-lookups.ts';
import { testClock } from '../../helpers/clock.ts';
import { type DnsTestServer, startDnsServer } from '../../helpers/dns-server.ts';
import { dmarc, record } from '../reading/builders.ts';
import { type FeedbackService, NOW, REPORTER_ZONE, startFeedback } from '../start.ts';

const ADDRESSES = 20_000;
const IN_REPORT = 5000;
const LARGEST = 100;
/** How long the DNS server takes for each response, by the clock of the test. */
const DELAY_MS = 2000;
/** More at a time would be most of the limit for background work. */
const MAX_CONCURRENT_QUERIES = 40;

/** The largest are in networks of Google, in every second place. */
const addressOf = (index: number): string =>
  index % 2 === 1 && index < 2 * LARGEST
    ? `209.85.${128 + (index >> 8)}.${index & 255}`
    : `203.0.${64 + (index >> 8)}.${index & 255}`;
const countOf = (index: number): number => ADDRESSES - index;

const reversed = (address: string): string =>
  `${address.split('.').reverse().join('.')}.in-addr.arpa`;

const ZONE: Zone = { ...REPORTER_ZONE };
for (let index = 0; index < 2 * LARGEST; index++) {
  ZONE[reversed(addressOf(index))] = { PTR: [`h${index}.sender.example.net`] };
  ZONE[`h${index}.sender.example.net`] = { A: [addressOf(index)] };
}

/** A slow DNS server, which counts how many queries wait at a time. */
async function slowServer(t: TestContext, clock: ReturnType<typeof testClock>) {
  const dns = await startDnsServer(ZONE);
  t.after(() => dns.close());
  const waiting: { due: number; answer(): void }[] = [];
  const slow = { dns, waiting, isSlow: false, most: 0 };
  dns.tamper = (reply) => {
    if (!slow.isSlow) return [reply];
    return new Promise((resolve) => {
      waiting.push({ due: clock.now() + DELAY_MS, answer: () => resolve([reply]) });
      slow.most = Math.max(slow.most, waiting.length);
    });
  };
  return slow;
}

const totalOf = ({ queries }: DnsTestServer): number =>
  [...queries.values()].reduce((sum, count) => sum + count, 0);

const namedIds = async ({ service }: FeedbackService): Promise<Set<string>> => {
  const rows = await service.app.db
    .selectFrom('feedback_addresses')
    .select('id')
    .where('source_id', 'is not', null)
    .execute();
  return new Set(rows.map(({ id }) => id));
};

test('Of 20,000 new addresses, the 100 largest are named within a minute, and another domain is not kept waiting', async (t) => {
  const clock = testClock(NOW);
  const slow = await slowServer(t, clock);
  const resolver = createDnsResolver({
    servers: [slow.dns.address],
    clock,
    attemptMs: 60_000,
    timeoutMs: 60_000,
  });
  t.after(() => resolver.close());
  const feedback = await startFeedback(t, { clock, resolver: resolver.background });
  const { service, domain, upload } = feedback;
  const other = await service.call<Domain>('POST', '/v1/domains', {
    json: { name: 'other.example' },
  });
  await firstLookupsDone(service.app);
  slow.isSlow = true;
  for (let first = 0; first < ADDRESSES; first += IN_REPORT)
    await upload(
      dmarc({
        orgName: 'Google.com',
        id: `r-${first}`,
        records: Array.from({ length: IN_REPORT }, (_, at) =>
          record({
            source: addressOf(first + at),
            count: String(countOf(first + at)),
            dkim: 'fail',
            spf: 'fail',
            results: '',
          }),
        ).join(''),
      }),
    );
  await upload(
    dmarc({
      orgName: 'Google.com',
      id: 'r-other',
      policy: '<policy_published><domain>other.example</domain><p>none</p></policy_published>',
      records: record({ source: '198.51.100.9', count: '1' }),
    }),
  );
  const largest = Array.from({ length: LARGEST }, (_, index) => `${domain.id} ${addressOf(index)}`);
  const otherId = `${other.body.id} 198.51.100.9`;
  let otherAfter: number | null = null;
  let second = 0;
  let named = await namedIds(feedback);
  for (; second < 60 && !largest.every((id) => named.has(id)); second++) {
    service.app.scheduler.wakeHere('feedback.sources');
    await settled(feedback, slow.dns);
    clock.advance(1000);
    for (const reply of slow.waiting.filter(({ due }) => due <= clock.now())) {
      slow.waiting.splice(slow.waiting.indexOf(reply), 1);
      reply.answer();
    }
    await settled(feedback, slow.dns);
    named = await namedIds(feedback);
    if (named.has(otherId)) otherAfter ??= second;
  }
  assert.ok(
    largest.every((id) => named.has(id)),
    `${largest.filter((id) => named.has(id)).length} of ${LARGEST} after ${second} s`,
  );
  assert.ok(otherAfter !== null && otherAfter < 20, `the other domain after ${otherAfter} s`);
  // Most of what is named are large ones.
  assert.ok(named.size < 3 * LARGEST, String(named.size));
  assert.ok(
    slow.most > 10 && slow.most <= MAX_CONCURRENT_QUERIES,
    `${slow.most} questions at once`,
  );
  const asked = [...slow.dns.queries.keys()];
  assert.ok(asked.includes(`${reversed(addressOf(0))}/PTR`));
  assert.deepEqual(
    asked.filter((name) => name.includes('.128.85.209.in-addr.arpa')),
    [],
  );
  t.diagnostic(`${LARGEST} largest after ${second} s, ${slow.most} questions at once`);
  for (const { answer } of slow.waiting) answer();
  slow.isSlow = false;
});

/** Resolves once nothing more happens before the clock advances. */
async function settled(feedback: FeedbackService, dns: DnsTestServer): Promise<void> {
  const { db } = feedback.service.app;
  const count = db
    .selectFrom('feedback_addresses')
    .select(({ fn }) => fn.count('source_id').as('named'));
  const state = async () => `${totalOf(dns)} ${(await count.executeTakeFirstOrThrow()).named}`;
  for (
    let before = '', now = await state(), same = 0;
    same < 3;
    before = now, now = await state()
  ) {
    same = before === now ? same + 1 : 0;
    await pause(5);
  }
}

test('Addresses that another node is looking up do not keep others waiting', async (t) => {
  const { service, domain } = await startFeedback(t);
  const { db, clock } = service.app;
  const past = '2026-11-21T00:00:00.000Z';
  const later = new Date(clock.now() + 60_000).toISOString();
  const source_id = 'src_known';
  const known = { key: 'network 203.0.113.0/24', name: '203.0.113.0/24', evidence: '' };
  await db
    .insertInto('feedback_sources')
    .values({
      ...known,
      id: source_id,
      domain_id: domain.id,
      mark: null,
      claim: null,
      label: null,
      new_since: null,
      failing_since: null,
    })
    .execute();
  const idOf = (index: number) => `${domain.id} 203.0.113.${index}`;
  // The last one is due after those with a lease.
  await db
    .insertInto('feedback_addresses')
    .values(
      Array.from({ length: 41 }, (_, index) => ({
        id: idOf(index),
        domain_id: domain.id,
        address: `203.0.113.${index}`,
        first_day: '2026-11-20',
        last_day: '2026-11-20',
        messages: 1,
        passed: 0,
        source_id,
        look_up_at: index < 40 ? past : '2026-11-21T01:00:00.000Z',
        ...(index < 40 ? { lease: 'other', leased_until: later } : {}),
      })),
    )
    .execute();
  for (let attempt = 0; ; attempt++) {
    service.app.scheduler.wakeHere(SOURCES_JOB);
    const row = await db
      .selectFrom('feedback_addresses')
      .select('look_up_at')
      .where('id', '=', idOf(40))
      .executeTakeFirstOrThrow();
    if (row.look_up_at > past.replace('-21T00', '-21T01')) break;
    assert.ok(attempt < 200, 'It was not looked up.');
    await pause(10);
  }
});
