/** What explains the figures of a domain: changes of its DNS and health, and the first of what fails in a row. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { findDomain, presentListed } from '../../src/domains/queries.ts';
import type { RecordChange } from '../../src/domains/schema.ts';
import { appendEvent } from '../../src/events/events.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { eventsOf } from '../../src/picture/explaining-events.ts';
import { transact } from '../../src/store/open.ts';
import { storeTest } from '../dashboard/stored-tests.ts';
import { startTestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';

const DAY_MS = 86_400_000;
const BEGIN = Date.UTC(2026, 10, 1, 10);

async function start(t: TestContext) {
  const clock = testClock(BEGIN);
  const service = await startTestService(t, { clock });
  const { app } = service;
  const { body } = await service.call<{ id: string }>('POST', '/v1/domains', {
    json: { name: 'example.com' },
  });
  const domainId = body.id;
  return {
    app,
    domainId,
    service,
    onDay: (day: number) => clock.set(BEGIN + (day - 1) * DAY_MS),
    async event(type: 'domain.records_changed' | 'domain.health_changed', more: object) {
      const row = (await findDomain(app.db, domainId))!;
      const data = { ...presentListed(row), ...more };
      await transact(app.db, (tx) => appendEvent(tx, { type, livemode: true, data }, app));
    },
    async found(from = '2026-11-01', to = '2026-11-30', isMember = true) {
      const actor = { role: isMember ? 'member' : 'viewer' } as const;
      const events = await eventsOf({ app, actor }, domainId, { from, to });
      return events.map(
        ({ at, text, isProblem, href }) =>
          `${at.slice(8, 10)}: ${text}${isProblem ? ' (problem)' : ''}${href ? ` ${href}` : ''}`,
      );
    },
  };
}

const dmarc = (before: string[], after: string[], id: string | null = null): RecordChange => ({
  name: '_dmarc.example.com',
  type: 'TXT',
  before,
  after,
  dns_change_id: id,
});

test('Changes of policy, records and health are in words, in order, and within the period', async (t) => {
  const { onDay, event, found, domainId } = await start(t);
  onDay(2);
  await event('domain.records_changed', { changes: [dmarc([], ['v=DMARC1; p=none'])] });
  onDay(9);
  await event('domain.records_changed', {
    changes: [
      dmarc(['v=DMARC1; p=none'], ['v=DMARC1; p=quarantine']),
      { name: 'example.com', type: 'TXT', before: ['v=spf1 -all'], after: ['v=spf1 mx -all'] },
      { name: 'example.com', type: 'MX', before: ['1 a'], after: [] },
    ].map((change) => ({ dns_change_id: null, ...change })),
  });
  onDay(12);
  const health = (status: string) => ({ status, score: null, checked_at: null });
  await event('domain.health_changed', { previous_health: 'healthy', health: health('critical') });
  onDay(13);
  await event('domain.health_changed', { previous_health: 'critical', health: health('healthy') });
  await event('domain.health_changed', { previous_health: 'healthy', health: health('unknown') });
  onDay(14);
  await event('domain.records_changed', {
    changes: [dmarc(['v=DMARC1; p=none; rua=mailto:a@example.com'], ['v=DMARC1; p=none'])],
  });
  const path = `/domains/${domainId}#history`;
  assert.deepEqual(await found(), [
    `02: DMARC policy none published ${path}`,
    `09: DMARC policy changed from none to quarantine; TXT example.com changed; 1 more record ${path}`,
    `12: Health: critical, was healthy (problem) ${path}`,
    `13: Health: healthy, was critical ${path}`,
    `14: DMARC record changed ${path}`,
  ]);
  assert.equal((await found('2026-11-09', '2026-11-12')).length, 2);
  // Viewers see what happened, and have no page of a domain.
  assert.equal((await found('2026-11-14', '2026-11-14', false))[0], '14: DMARC record changed');
});

test('A change that this service published is said once', async (t) => {
  const { app, onDay, event, found, domainId } = await start(t);
  onDay(5);
  const change = async (name: string, status: 'applied' | 'failed') => {
    const id = app.newId('chg');
    const at = isoTime(app.clock.now());
    await app.db
      .insertInto('dns_changes')
      .values({
        id,
        server_id: 'dns_1',
        domain_id: domainId,
        zone: 'example.com',
        name,
        type: 'TXT',
        before: '{}',
        after: '{}',
        reason: '',
        status,
        error: null,
        undoes: null,
        created_at: at,
        finished_at: at,
        leased_until: null,
      })
      .execute();
    return id;
  };
  const id = await change('_dmarc.example.com', 'applied');
  await change('_smtp._tls.example.com', 'applied');
  await change('default._bimi.example.com', 'failed');
  onDay(6);
  await event('domain.records_changed', {
    changes: [dmarc(['v=DMARC1; p=none'], ['v=DMARC1; p=reject'], id)],
  });
  assert.deepEqual(await found(), [
    '05: TXT _smtp._tls.example.com published by this service',
    `06: DMARC policy changed from none to reject by this service /domains/${domainId}#history`,
  ]);
});

test('Of tests that fail in a row, the first is a mark', async (t) => {
  const { app, onDay, found, domainId } = await start(t);
  const results = ['pass', 'fail', 'fail', 'pass', 'none', 'fail'];
  const ids: string[] = [];
  for (const [index, dmarcResult] of results.entries()) {
    onDay(10 + index);
    ids.push(
      await storeTest(app, { hoursAgo: 0, domain_id: domainId, dmarc: dmarcResult as 'pass' }),
    );
  }
  await storeTest(app, { hoursAgo: 0, dmarc: 'fail' });
  assert.deepEqual((await found()).toSorted(), [
    `11: A test failed DMARC (problem) /tests/${ids[1]}`,
    `15: A test failed DMARC (problem) /tests/${ids[5]}`,
  ]);
});
