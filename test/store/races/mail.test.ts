/** Messages for postmaster, learned selectors, and results of analyses, on two nodes at once. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { App } from '../../../src/app.ts';
import { learnSelectors } from '../../../src/domains/selectors.ts';
import { isoTime } from '../../../src/lib/clock.ts';
import { requestReanalysis, testOr404 } from '../../../src/mailtests/queries.ts';
import { recordOutcome } from '../../../src/mailtests/record.ts';
import { countTest } from '../../../src/mailtests/tally.ts';
import { newLease } from '../../../src/store/leases.ts';
import { transact } from '../../../src/store/open.ts';
import type { TestRow } from '../../../src/store/tables.generated.ts';
import { completeTest } from '../../alerts/alerting.ts';
import type { TestService } from '../../helpers/app.ts';
import { deliver } from '../../helpers/deliver.ts';
import { startMailSink } from '../../outbox/mail-sink.ts';
import { linger, ROUNDS, SETUPS } from './nodes.ts';

const MAX_MAILBOX_BYTES = 256 * 1024 * 1024;
const OUTCOME = { ok: false, reason: 'unreadable', detail: 'too slow' } as const;

/** A test that a node is analyzing. */
async function claimedTest(app: App, status: TestRow['status']) {
  const now = isoTime(app.clock.now());
  const lease = newLease(app);
  const row = await completeTest(app, {
    status,
    lease,
    leased_until: now,
    analysis_due_at: now,
    ...(status === 'processing' ? { completed_at: null, checks: null, score: null } : {}),
  });
  await transact(app.db, (tx) => countTest(tx, row, 1));
  return { ...row, lease };
}

const envelope = { mail_from: 'ann@example.org', client_ip: '192.0.2.1', helo: null, tls: null };
/** Of many other networks, so that only the total limit applies. */
const others = (i: number) => ({ ...envelope, client_ip: `198.${18 + (i % 2)}.${i % 250}.1` });

/** Of the same length for both texts. */
const mailOf = (text: 'one' | 'two') =>
  Buffer.from(`From: ann@example.org\r\nSubject: ${text}\r\n\r\n`);

const toPostmaster = ({ app }: TestService, text: 'one' | 'two') =>
  deliver(app, {
    envelope,
    recipient: 'postmaster@inbox.test',
    raw: mailOf(text),
  });

/** Stores messages for postmaster directly. */
async function fillMailbox({ app }: TestService, count: number, size = 1): Promise<void> {
  await app.db
    .insertInto('messages')
    .values(
      Array.from({ length: count }, (_, i) => ({
        id: `msg_${i}`,
        test_id: null,
        recipient: 'postmaster@inbox.test',
        sha256: `${i}`,
        size,
        envelope: JSON.stringify(others(i)),
        received_at: isoTime(app.clock.now()),
      })),
    )
    .execute();
}

for (const { on, skip, start } of SETUPS) {
  test(`Concurrent messages do not exceed the limit of postmaster's mailbox (${on})`, {
    skip,
  }, async (t) => {
    const [a, b] = await start(t);
    for (let round = 0; round < ROUNDS / 2; round++) {
      await a.app.db.deleteFrom('messages').execute();
      // There is room for one more.
      await fillMailbox(a, 1, MAX_MAILBOX_BYTES - mailOf('one').length);
      const outcomes = await Promise.all([toPostmaster(a, 'one'), toPostmaster(b, 'two')]);
      assert.deepEqual(outcomes.map(({ accept }) => accept).toSorted(), [false, true]);
    }
  });

  test(`Concurrent messages to postmaster do not exceed the number forwarded per day (${on})`, {
    skip,
  }, async (t) => {
    const sink = await startMailSink(t);
    const [a, b] = await start(t, {
      env: {
        DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
        DELIVERABILITY_MAIL_FROM: 'notices@example.com',
      },
    });
    const { db } = a.app;
    for (let round = 0; round < ROUNDS / 2; round++) {
      await db.deleteFrom('messages').execute();
      await db.deleteFrom('outbox').execute();
      // One less than the limit.
      await fillMailbox(a, 49);
      const outcomes = await Promise.all([toPostmaster(a, 'one'), toPostmaster(b, 'two')]);
      assert.deepEqual(
        outcomes.map(({ accept }) => accept),
        [true, true],
      );
      assert.equal((await db.selectFrom('outbox').select('id').execute()).length, 1);
    }
  });

  test(`A domain learns the selectors of concurrent results (${on})`, { skip }, async (t) => {
    const [a, b] = await start(t);
    const { db } = a.app;
    for (let round = 0; round < ROUNDS; round++) {
      const name = `domain${round}.example`;
      await a.call('POST', '/v1/domains', { json: { name } });
      const learn = ({ app }: TestService, selector: string) =>
        transact(app.db, async (tx) => {
          const signatures = [{ domain: name, selector }];
          await learnSelectors(tx, { fromDomain: name, signatures, at: app.clock.now() });
          await linger(tx);
        });
      await Promise.all([learn(a, 'one'), learn(b, 'two')]);
      const { learnt_selectors } = await db
        .selectFrom('domains')
        .select('learnt_selectors')
        .where('name', '=', name)
        .executeTakeFirstOrThrow();
      const learned: { selector: string }[] = JSON.parse(learnt_selectors);
      assert.deepEqual(learned.map(({ selector }) => selector).toSorted(), ['one', 'two']);
    }
  });

  test(`A reanalysis requested while a result is recorded stays due (${on})`, {
    skip,
  }, async (t) => {
    const [a, b] = await start(t);
    const { db } = a.app;
    for (let round = 0; round < ROUNDS; round++) {
      const claimed = await claimedTest(a.app, 'completed');
      await Promise.all([
        recordOutcome(a.app, claimed, OUTCOME),
        transact(b.app.db, async (tx) => {
          const row = await testOr404({ db: tx }, claimed.id, true);
          await requestReanalysis(tx, b.app, row, 'marketing');
          await linger(tx);
        }),
      ]);
      const { kind, analysis_due_at, lease } = await db
        .selectFrom('tests')
        .select(['kind', 'analysis_due_at', 'lease'])
        .where('id', '=', claimed.id)
        .executeTakeFirstOrThrow();
      assert.deepEqual([kind, lease], ['marketing', null]);
      assert.ok(analysis_due_at !== null, 'the reanalysis is due');
    }
  });

  test(`A reanalysis without a kind keeps the kind that a concurrent one sets (${on})`, {
    skip,
  }, async (t) => {
    const [a, b] = await start(t);
    for (let round = 0; round < ROUNDS; round++) {
      const { id } = await completeTest(a.app, {});
      const request = ({ app }: TestService, kind?: TestRow['kind']) =>
        transact(app.db, async (tx) => {
          const row = await testOr404({ db: tx }, id, true);
          await requestReanalysis(tx, app, row, kind);
          await linger(tx);
        });
      await Promise.all([request(a, 'marketing'), request(b)]);
      const { kind } = await a.app.db
        .selectFrom('tests')
        .select('kind')
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      assert.equal(kind, 'marketing');
    }
  });

  test(`Two nodes with the same claim record one result (${on})`, { skip }, async (t) => {
    const [a, b] = await start(t);
    for (let round = 0; round < ROUNDS; round++) {
      const claimed = await claimedTest(a.app, 'processing');
      await Promise.all([a, b].map(({ app }) => recordOutcome(app, claimed, OUTCOME)));
      const events = await a.app.db.selectFrom('events').select('type').execute();
      assert.deepEqual(events, [{ type: 'test.failed' }]);
      await a.app.db.deleteFrom('events').execute();
    }
  });
}
