/** The table of domains through the API: the columns, sorting, filters, groups, pages, CSV, and tags of many. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { KyselyPlugin } from 'kysely';
import { SORTS } from '../../src/domain-table/columns.ts';
import { countGroups, tableCounts, tablePage } from '../../src/domain-table/queries.ts';
import { refreshDue } from '../../src/domain-table/refresh.ts';
import type { TableRow } from '../../src/domain-table/schema.ts';
import type { Domain } from '../../src/domains/schema.ts';
import { appendEvent } from '../../src/events/events.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { transact } from '../../src/store/open.ts';
import { storeTest } from '../dashboard/stored-tests.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';

const NOW = Date.UTC(2026, 10, 22, 10);
const DAY = 86_400_000;
const at = (days: number) => isoTime(NOW - days * DAY);
const dayAt = (days: number) => at(days).slice(0, 10);

async function start(t: TestContext) {
  const service = await startTestService(t, { clock: testClock(NOW) });
  // From here on, only the test refreshes.
  await service.app.scheduler.stop();
  return service;
}

async function add({ call, app }: TestService, name: string, tags: string[], columns: object = {}) {
  const { body } = await call<Domain>('POST', '/v1/domains', { json: { name, tags } });
  const verified = { status: 'verified', verified_at: at(90), ...columns } as object;
  await app.db.updateTable('domains').set(verified).where('id', '=', body.id).execute();
  return body.id;
}

const watched = (record: string) =>
  JSON.stringify({ sets: { 'DMARC record': { values: [record] } }, failures: 0 });

/** A finding of the health check, as it is stored. */
const NO_SPF = JSON.stringify([
  {
    id: 'spf_record',
    label: 'SPF record',
    category: 'authentication',
    status: 'fail',
    severity: 'critical',
    title: 'There is no SPF record.',
    detail: '',
    evidence: {},
    points: 3,
    gain: 10,
    reference: { name: 'RFC 7208', url: 'https://rfc.example' },
    fix: { text: 'Publish an SPF record that names your servers.' },
  },
]);

/** A healthy domain, one in trouble, and one about which nothing is known. */
async function threeDomains(service: TestService) {
  const { db } = service.app;
  const good = await add(service, 'good.example', ['client:acme', 'newsletter'], {
    health_status: 'healthy',
    health_checked_at: at(0.1),
    watched: watched('v=DMARC1; p=reject; sp=quarantine'),
  });
  const bad = await add(service, 'bad.example', ['client:beta', 'client:acme'], {
    health_status: 'critical',
    health_checked_at: at(0.1),
    watched: watched('v=DMARC1; p=none; pct=20'),
    health_checks: NO_SPF,
  });
  const blank = await add(service, 'blank.example', [], { health_status: 'unknown' });
  const sums = { none: 0, quarantined: 0, rejected: 0, overridden: 0 };
  for (const [id, passed, spf, dkim] of [
    [good, 99, 80, 98],
    [bad, 30, 10, 20],
  ] as const) {
    await db
      .insertInto('dmarc_days')
      .values({
        ...sums,
        domain_id: id,
        day: dayAt(2),
        messages: 100,
        passed,
        failed: 100 - passed,
      })
      .execute();
    const source = { name: 'mail', evidence: '', mark: null, label: null, new_since: null };
    await db
      .insertInto('feedback_sources')
      .values({
        ...source,
        id: `src_${id}`,
        domain_id: id,
        key: 'host m.example',
        failing_since: null,
      })
      .execute();
    await db
      .insertInto('feedback_source_days')
      .values({
        source_id: `src_${id}`,
        domain_id: id,
        day: dayAt(2),
        messages: 100,
        passed,
        spf,
        dkim,
        quarantined: 0,
        rejected: 0,
        forwarded: 0,
      })
      .execute();
  }
  const figures = { spf_rate: null, dkim_rate: null, dmarc_rate: null, tls_rate: null };
  for (const [name, spam_rate] of [
    ['good.example', 0],
    ['bad.example', 0.0042],
  ] as const)
    await db
      .insertInto('receiver_days')
      .values({
        ...figures,
        name,
        spam_rate,
        day: dayAt(1),
        receiver_id: 'google_postmaster',
        tls_messages: null,
        reject_rate: null,
        temp_fail_rate: null,
        errors: null,
        feedback_loops: null,
        fetched_at: at(0),
      })
      .execute();
  await storeTest(service.app, {
    domain_id: good,
    from_domain: 'good.example',
    placement_samples: 4,
    placement_inbox: 3,
    placement_counts: '{"gmail inbox":3,"gmail spam":1}',
  } as never);
  await db
    .insertInto('events')
    .values({
      id: 'evt_1',
      type: 'domain.records_changed',
      livemode: 1,
      created_at: at(3),
      position: 1,
      data: JSON.stringify({ id: bad, changes: [{ name: '_dmarc.bad.example', type: 'TXT' }] }),
    })
    .execute();
  await refreshDue(service.app);
  return { good, bad, blank };
}

const rowsOf = async ({ call }: TestService, query = '') =>
  (await call<{ data: TableRow[]; has_more: boolean }>('GET', `/v1/domains/table${query}`)).body;
const namesOf = async (service: TestService, query = '') =>
  (await rowsOf(service, query)).data.map(({ name }) => name.split('.')[0]);

test('Each column has the right value, and what is not known is null', async (t) => {
  const service = await start(t);
  const { good, bad, blank } = await threeDomains(service);
  const { data } = await rowsOf(service, '?sort=name');
  assert.deepEqual(
    data.map(({ id }) => id),
    [bad, blank, good],
  );
  const [second, third, first] = data as [TableRow, TableRow, TableRow];
  const known = ({
    headline,
    since,
    next_step,
    read_at,
    headline_state,
    checked_at,
    check_detail,
    ...row
  }: TableRow) => row;
  assert.deepEqual([data[0]!.checked_at, data[1]!.checked_at], [at(0.1), null]);
  assert.deepEqual(known(first), {
    id: good,
    object: 'domain_table_row',
    name: 'good.example',
    state: 'healthy',
    tags: ['client:acme', 'newsletter'],
    group: null,
    policy: { p: 'reject', sp: 'quarantine', pct: 100 },
    pass_rates: { messages: 100, spf: 0.8, dkim: 0.98, dmarc: 0.99 },
    spam_rate: { rate: 0, day: dayAt(1) },
    placement: { samples: 4, inbox_rate: 0.75 },
    last_change: null,
  });
  assert.deepEqual(known(second), {
    id: bad,
    object: 'domain_table_row',
    name: 'bad.example',
    state: 'critical',
    tags: ['client:acme', 'client:beta'],
    group: null,
    policy: { p: 'none', sp: null, pct: 20 },
    pass_rates: { messages: 100, spf: 0.1, dkim: 0.2, dmarc: 0.3 },
    spam_rate: { rate: 0.0042, day: dayAt(1) },
    placement: null,
    last_change: { at: at(3), records: 'DMARC' },
  });
  assert.equal(second.headline, 'There is no SPF record.');
  assert.equal(second.next_step!.text, 'Publish an SPF record that names your servers.');
  assert.equal(second.headline_state, 'fail');
  assert.equal(second.next_step!.path, `/domains/${bad}#health`);
  assert.deepEqual(known(third), {
    id: blank,
    object: 'domain_table_row',
    name: 'blank.example',
    state: 'unknown',
    tags: [],
    group: null,
    policy: null,
    pass_rates: { messages: 0, spf: null, dkim: null, dmarc: null },
    spam_rate: null,
    placement: null,
    last_change: null,
  });
  assert.deepEqual([third.next_step, third.headline_state], [null, 'unknown']);
});

test('Every column sorts both ways, with what is not known last', async (t) => {
  const service = await start(t);
  await threeDomains(service);
  const orders: Record<string, [asc: string[], desc: string[]]> = {
    name: [
      ['bad', 'blank', 'good'],
      ['good', 'blank', 'bad'],
    ],
    state: [
      ['bad', 'blank', 'good'],
      ['good', 'blank', 'bad'],
    ],
    tags: [
      ['bad', 'good', 'blank'],
      ['good', 'bad', 'blank'],
    ],
    policy: [
      ['bad', 'good', 'blank'],
      ['good', 'bad', 'blank'],
    ],
    spf: [
      ['bad', 'good', 'blank'],
      ['good', 'bad', 'blank'],
    ],
    dkim: [
      ['bad', 'good', 'blank'],
      ['good', 'bad', 'blank'],
    ],
    dmarc: [
      ['bad', 'good', 'blank'],
      ['good', 'bad', 'blank'],
    ],
    spam_rate: [
      ['good', 'bad', 'blank'],
      ['bad', 'good', 'blank'],
    ],
    placement: [
      ['good', 'bad', 'blank'],
      ['good', 'bad', 'blank'],
    ],
    last_change: [
      ['bad', 'blank', 'good'],
      ['bad', 'blank', 'good'],
    ],
    next_step: [
      ['good', 'bad', 'blank'],
      ['bad', 'good', 'blank'],
    ],
  };
  assert.deepEqual(Object.keys(orders).sort(), [...SORTS].sort());
  for (const [sort, [asc, desc]] of Object.entries(orders)) {
    assert.deepEqual(await namesOf(service, `?sort=${sort}&order=asc`), asc, `${sort} asc`);
    assert.deepEqual(await namesOf(service, `?sort=${sort}&order=desc`), desc, `${sort} desc`);
  }
  assert.deepEqual(await namesOf(service), ['bad', 'good', 'blank'], 'what costs most comes first');
  assert.deepEqual(await namesOf(service, '?sort=dmarc'), ['bad', 'good', 'blank']);
  const { status } = await service.call('GET', '/v1/domains/table?sort=secret');
  assert.equal(status, 422);
});

test('Filters combine, and groups are by state or by the first tag of a kind', async (t) => {
  const service = await start(t);
  await threeDomains(service);
  assert.deepEqual(await namesOf(service, '?q=OOD'), ['good']);
  assert.deepEqual(await namesOf(service, '?state=critical'), ['bad']);
  assert.deepEqual(await namesOf(service, '?tag=client:acme'), ['bad', 'good']);
  assert.deepEqual(await namesOf(service, '?tag=Client:ACME&state=healthy'), ['good']);
  assert.deepEqual(await namesOf(service, '?tag=client:ac'), [], 'a part of a tag is not the tag');
  assert.deepEqual(await namesOf(service, '?next_step=no'), ['blank']);
  assert.deepEqual(await namesOf(service, '?next_step=yes&q=good'), ['good']);
  const groups = async (query: string) =>
    (await rowsOf(service, query)).data.map(({ name, group }) => `${group}: ${name.split('.')[0]}`);
  await service.call('PATCH', `/v1/domains/${(await rowsOf(service, '?q=good')).data[0]!.id}`, {
    json: { tags: ['client:alpha', 'newsletter'] },
  });
  assert.deepEqual(await groups('?group=client&sort=name&order=desc'), [
    'client:acme: bad',
    'client:alpha: good',
    'null: blank',
  ]);
  assert.deepEqual(await groups('?group=state&sort=name'), [
    'critical: bad',
    'unknown: blank',
    'healthy: good',
  ]);
  const { db } = service.app;
  const counts = await countGroups(db, { sort: 'name', group: 'client' });
  assert.deepEqual(Object.fromEntries(counts), { 'client:acme': 1, 'client:alpha': 1, null: 1 });
  assert.deepEqual(await tableCounts(db), {
    total: 3,
    states: { critical: 1, failed: 0, warning: 0, pending: 0, unknown: 1, healthy: 1 },
    tags: ['client:acme', 'client:alpha', 'client:beta', 'newsletter'],
  });
});

test('Pages in every order have each domain once, forwards and backwards', async (t) => {
  const service = await start(t);
  const { db } = service.app;
  await threeDomains(service);
  for (let i = 0; i < 20; i++)
    await add(service, `d${i}.example`, i % 3 === 0 ? [] : [`client:c${i % 4}`]);
  await refreshDue(service.app);
  // Equal and unknown values, so that pages end within them.
  const ids = await db.selectFrom('domains').select('id').orderBy('id').execute();
  for (const [i, { id }] of ids.entries())
    await db
      .updateTable('domain_digests')
      .set({
        dmarc_rate: i % 3 === 0 ? null : (i % 4) / 7,
        changed_at: i % 2 === 0 ? null : at(i % 5),
        cost: (i % 3) * 10,
      })
      .where('id', '=', id)
      .execute();
  for (const sort of SORTS)
    for (const order of ['asc', 'desc'] as const)
      for (const group of [undefined, 'client', 'state']) {
        const query = { sort, order, group };
        const all = (await tablePage(db, { ...query, limit: 1000 })).rows.map(({ id }) => id);
        assert.equal(new Set(all).size, ids.length);
        const forwards: string[] = [];
        for (let starting_after: string | undefined; ; ) {
          const page = await tablePage(db, { ...query, limit: 7, starting_after });
          forwards.push(...page.rows.map(({ id }) => id));
          if (!page.hasMore) break;
          starting_after = forwards.at(-1);
        }
        assert.deepEqual(forwards, all, `${sort} ${order} ${group}`);
        const backwards: string[] = [all.at(-1)!];
        for (;;) {
          const page = await tablePage(db, { ...query, limit: 7, ending_before: backwards[0] });
          backwards.unshift(...page.rows.map(({ id }) => id));
          if (!page.hasMore) break;
        }
        assert.deepEqual(backwards, all, `${sort} ${order} ${group} backwards`);
      }
  const { body } = await service.call<{ code: string }>(
    'GET',
    '/v1/domains/table?starting_after=dom_nothing',
  );
  assert.equal(body.code, 'invalid_cursor');
});

test('A page of a hundred rows is one query, as is a page of one', async (t) => {
  const service = await start(t);
  const { db } = service.app;
  for (let i = 0; i < 103; i++) await add(service, `d${i}.example`, ['client:acme']);
  await refreshDue(service.app);
  let queries = 0;
  const counting: KyselyPlugin = {
    transformQuery({ node }) {
      queries++;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const counted = db.withPlugin(counting);
  for (const limit of [1, 100]) {
    queries = 0;
    const { rows } = await tablePage(counted, { sort: 'dmarc', group: 'client', limit });
    assert.equal(rows.length, limit);
    assert.equal(queries, 1, `${limit} rows`);
  }
});

test('The export has all matching rows, empty cells for what is not known, and no formulas', async (t) => {
  const service = await start(t);
  await threeDomains(service);
  await add(service, 'more.example', ['=cmd()', '+1']);
  await refreshDue(service.app);
  const response = await fetch(`${service.url}/v1/domains/export?sort=name`, {
    headers: { authorization: `Bearer ${service.key}` },
  });
  assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8');
  assert.match(response.headers.get('content-disposition')!, /filename="domains-2026-11-22\.csv"/);
  const lines = (await response.text()).trim().split('\r\n');
  assert.match(lines[0]!, /^name,state,tags,policy,subdomain_policy,pct,messages,spf,dkim,dmarc,/);
  assert.ok(
    lines[1]!.startsWith(
      'bad.example,critical,"client:acme, client:beta",none,,20,100,0.1,0.2,0.3,0.0042,',
    ),
    lines[1],
  );
  assert.match(lines[2]!, /^blank\.example,unknown,,,,,0,,,,,,0,,,,/);
  assert.match(lines[4]!, /^more\.example,unknown,/);
  assert.ok(lines[4]!.includes("'+1, =cmd()"), lines[4]);
  const filtered = await fetch(`${service.url}/v1/domains/export?tag=client:beta`, {
    headers: { authorization: `Bearer ${service.key}` },
  });
  assert.equal((await filtered.text()).trim().split('\r\n').length, 2);
});

test('Tags of many domains change together, with an audit entry each, or not at all', async (t) => {
  const service = await start(t);
  const { call, app } = service;
  const ids = [
    await add(service, 'a.example', ['client:acme', 'old']),
    await add(service, 'b.example', ['old']),
    await add(service, 'c.example', []),
  ];
  const tag = (json: object) =>
    call<{ changed: number; detail: string; code: string }>('POST', '/v1/domains/tags', { json });
  const tagsOf = async () => (await rowsOf(service, '?sort=name')).data.map(({ tags }) => tags);
  const changed = await tag({ ids, add: ['Client:ACME'], remove: ['old'] });
  assert.deepEqual([changed.status, changed.body.changed], [200, 3]);
  assert.deepEqual(await tagsOf(), [['client:acme'], ['client:acme'], ['client:acme']]);
  assert.equal((await tag({ ids, add: ['client:acme'] })).body.changed, 0);
  const entries = await app.db
    .selectFrom('audit_log')
    .select('object_id')
    .where('action', '=', 'domain.changed')
    .execute();
  assert.deepEqual(entries.map(({ object_id }) => object_id).sort(), ids.toSorted());

  const missing = await tag({ ids: [ids[0], 'dom_01kag5z7m8q4x2c9n6t3r1w5y0'], add: ['x'] });
  assert.equal(missing.status, 404);
  await call('PATCH', `/v1/domains/${ids[2]}`, {
    json: { tags: Array.from({ length: 10 }, (_, i) => `t${i}`) },
  });
  const tooMany = await tag({ ids, add: ['one-more'] });
  assert.equal(tooMany.status, 422);
  assert.match(tooMany.body.detail, /c\.example more than 10 tags/);
  assert.deepEqual((await tagsOf()).slice(0, 2), [['client:acme'], ['client:acme']]);
  assert.equal((await tag({ ids, add: ['a'], remove: ['a'] })).status, 422);
  assert.equal((await tag({ ids: [], add: ['a'] })).status, 422);
  const viewer = await service.makeMember('viewer');
  for (const [method, path] of [
    ['POST', '/v1/domains/tags'],
    ['GET', '/v1/domains/table'],
    ['GET', '/v1/domains/export'],
  ] as const)
    assert.equal(
      (
        await call(method, path, {
          key: viewer.key,
          ...(method === 'POST' && { json: { ids, add: ['a'] } }),
        })
      ).status,
      403,
      path,
    );
});

test('A deleted domain leaves no row, and one that changes is read before the next page', async (t) => {
  const service = await start(t);
  const { good, bad } = await threeDomains(service);
  await service.call('DELETE', `/v1/domains/${good}`);
  assert.deepEqual(await namesOf(service, '?sort=name'), ['bad', 'blank']);
  const left = await service.app.db.selectFrom('domain_digests').select('id').execute();
  assert.ok(!left.some(({ id }) => id === good));
  // A completed test is an event that names the domain.
  await service.app.db
    .updateTable('domain_digests')
    .set({ headline: 'Outdated' })
    .where('id', '=', bad)
    .execute();
  await transact(service.app.db, async (tx) => {
    const event = { type: 'test.completed', livemode: true, data: { domain_id: bad } } as const;
    await appendEvent(tx, event, service.app);
  });
  const [row] = (await rowsOf(service, '?q=bad')).data;
  assert.equal(row!.headline, 'There is no SPF record.');
});
