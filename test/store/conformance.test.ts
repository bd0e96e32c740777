/** SQLite, PGlite and PostgreSQL store and return the same. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { isUniqueViolation } from '../../src/store/errors.ts';
import {
  afterCommit,
  type Db,
  lockIn,
  lockRow,
  type PreparedParameter,
  passedOn,
  prepared,
  transact,
} from '../../src/store/open.ts';
import type { Tables } from '../../src/store/tables.generated.ts';
import { cleanText } from '../../src/store/text.ts';
import { DATABASES } from './databases.ts';

const TIME = '2026-11-21T10:00:00.000Z';

const member = (id: string, role: 'owner' | 'viewer' = 'viewer') => ({
  id,
  email: `${id}@example.com`,
  name: id,
  role,
  joined_at: TIME,
});

const event = (id: string, data = '{}') => ({
  id,
  type: 'test.completed',
  livemode: 1,
  created_at: TIME,
  data,
});

const tally = (hour: string, tests: number): Tables['test_tallies'] => ({
  livemode: 1,
  domain_id: '',
  hour,
  tests,
  scored: 1,
  score_sum: 2 ** 40,
  grade_a: 0,
  grade_b: 0,
  grade_c: 0,
  grade_d: 0,
  grade_f: 0,
  spf_known: 0,
  spf_pass: 0,
  dkim_known: 0,
  dkim_pass: 0,
  dmarc_known: 0,
  dmarc_pass: 0,
  placement_samples: 0,
  placement_inbox: 0,
  issues: '{}',
  placement_counts: '{}',
});

/** Tables and columns that store text from messages, requests and servers of other people. */
const OUTSIDE_TEXT = {
  members: ['name'],
  api_keys: ['name'],
  connected_assistants: ['client_id', 'name', 'redirect_uri'],
  sessions: ['user_agent'],
  audit_log: ['details'],
  idempotency_keys: ['response'],
  outbox: ['recipient', 'error', 'content'],
  // Not the name: members give it, it has at most 200 characters, and PostgreSQL limits what an index holds.
  tests: ['metadata', 'subject', 'summary', 'checks', 'envelope', 'from_address'],
  messages: ['recipient', 'envelope'],
  events: ['data'],
  webhook_endpoints: ['url', 'description'],
  webhook_attempts: ['response_headers', 'response_body', 'error'],
  domains: ['last_check_detail', 'health_checks', 'learnt_selectors'],
  monitors: ['name', 'targets'],
  monitor_runs: ['findings'],
  alerts: ['name'],
  alert_incidents: ['value'],
  alert_notifications: ['error'],
  shared_reports: ['title'],
  report_schedules: ['name'],
  report_copies: ['error'],
} as const satisfies { [T in keyof Tables]?: readonly (keyof Tables[T])[] };

const HOSTILE = {
  'a NUL': 'a\0b',
  'lone surrogates': '\uDC00 a \uD800',
  'an emoji': 'a 😀 b',
  'quotes and backslashes': `\\x00 '" $1 ?`,
  // Random, because PostgreSQL compresses what repeats.
  '1 MB': randomBytes(2 ** 20 * 0.75).toString('base64'),
};

/** Longer than any index entry. WebAssembly takes half a minute for a megabyte in each column. */
const PGLITE_LENGTH = 64 * 1024;

/** A row that has `value` in these columns, and any allowed values in other required ones. */
async function insertWith(db: Db, table: keyof typeof OUTSIDE_TEXT, value: string) {
  const columns = OUTSIDE_TEXT[table];
  const parents = parentRows[table];
  const row = {
    ...required[table],
    ...Object.fromEntries(columns.map((column) => [column, value])),
  };
  for (const [parent, parentRow] of parents ?? [])
    await db
      .insertInto(parent)
      .values(parentRow as never)
      .onConflict((c) => c.doNothing())
      .execute();
  await db
    .insertInto(table)
    .values(row as never)
    .execute();
  return db
    .selectFrom(table)
    .select(columns as never)
    .executeTakeFirstOrThrow();
}

const MEMBER = [['members', member('mem_1')]] as const;
const parentRows: { [T in keyof Tables]?: readonly (readonly [keyof Tables, object])[] } = {
  api_keys: MEMBER,
  connected_assistants: MEMBER,
  sessions: MEMBER,
  monitor_runs: [
    [
      'monitors',
      {
        id: 'mon_1',
        name: 'x',
        type: 'blocklist',
        frequency: 'daily',
        enabled: 1,
        status: 'ok',
        created_at: TIME,
      },
    ],
  ],
  report_copies: [
    ['report_schedules', { ...scheduleRow(), name: 'x' }],
    [
      'report_runs',
      {
        id: 'rpr_1',
        schedule_id: 'rps_1',
        trigger: 'manual',
        period_from: TIME,
        period_to: TIME,
        created_at: TIME,
      },
    ],
  ],
};

function scheduleRow() {
  return {
    id: 'rps_1',
    frequency: 'daily',
    recipients: '[]',
    include_sections: '[]',
    format: 'html',
    send_hour: 1,
    timezone: 'UTC',
    weekday: 'monday',
    day_of_month: 1,
    enabled: 1,
    created_at: TIME,
  };
}

const required: Record<keyof typeof OUTSIDE_TEXT, object> = {
  members: member('mem_2'),
  api_keys: {
    id: 'key_1',
    member_id: 'mem_1',
    role: 'viewer',
    livemode: 1,
    hash: 'h',
    prefix: 'p',
    created_at: TIME,
  },
  connected_assistants: {
    id: 'con_1',
    member_id: 'mem_1',
    host: 'x',
    role: 'viewer',
    livemode: 1,
    writes: 0,
    resource: 'r',
    code_hash: 'h',
    code_challenge: 'c',
    created_at: TIME,
    expires_at: TIME,
  },
  sessions: {
    id: 'ses_1',
    member_id: 'mem_1',
    hash: 'h',
    created_at: TIME,
    last_seen_at: TIME,
    expires_at: TIME,
  },
  audit_log: { id: 'aud_1', created_at: TIME, action: 'a', object_type: 'o', object_id: 'i' },
  idempotency_keys: { caller: 'c', key: 'k', request_hash: 'h', created_at: TIME },
  outbox: { id: 'mail_1', created_at: TIME, status: 'queued' },
  tests: {
    id: 'test_1',
    token: 't',
    livemode: 1,
    kind: 'auto',
    status: 'waiting',
    created_at: TIME,
    expires_at: TIME,
  },
  messages: { id: 'msg_1', sha256: 's', size: 1, received_at: TIME },
  events: { id: 'evt_1', type: 't', livemode: 1, created_at: TIME },
  webhook_endpoints: { id: 'whe_1', events: '[]', enabled: 1, secret: 's', created_at: TIME },
  webhook_attempts: {
    delivery_id: 'whd_1',
    number: 1,
    trigger: 'event',
    started_at: TIME,
    url: 'u',
    request_headers: '{}',
  },
  domains: {
    id: 'dom_1',
    name: 'example.com',
    status: 'pending',
    token: 't',
    created_at: TIME,
    pending_since: TIME,
    given_selectors: '[]',
    health_status: 'unknown',
  },
  monitors: {
    id: 'mon_2',
    type: 'blocklist',
    frequency: 'daily',
    enabled: 1,
    status: 'ok',
    created_at: TIME,
  },
  monitor_runs: {
    id: 'run_1',
    monitor_id: 'mon_1',
    started_at: TIME,
    finished_at: TIME,
    status: 'ok',
    changes: '{}',
  },
  alerts: { id: 'alt_1', condition: 'auth_fail', channels: '[]', enabled: 1, created_at: TIME },
  alert_incidents: {
    id: 'inc_1',
    alert_id: 'alt_1',
    subject: 's',
    status: 'open',
    opened_at: TIME,
    condition: 'auth_fail',
  },
  alert_notifications: {
    id: 'ntf_1',
    alert_id: 'alt_1',
    news: 'test',
    channel: 'slack',
    status: 'failed',
    created_at: TIME,
  },
  shared_reports: {
    id: 'rpt_1',
    livemode: 1,
    token_hash: 'h',
    token: 't',
    created_at: TIME,
    expires_at: TIME,
  },
  report_schedules: scheduleRow(),
  report_copies: { run_id: 'rpr_1', recipient: 'r', status: 'failed' },
};

for (const { name, skip, open } of DATABASES)
  describe(`The store on ${name}`, { skip }, () => {
    it('stores any text in every column that takes text from outside', async (t) => {
      for (const [what, value] of Object.entries(HOSTILE)) {
        const db = await open(t);
        for (const table of Object.keys(OUTSIDE_TEXT) as (keyof typeof OUTSIDE_TEXT)[]) {
          const text = name === 'PGlite' ? value.slice(0, PGLITE_LENGTH) : value;
          const stored = Object.values(await insertWith(db, table, text));
          assert.equal(stored.length, OUTSIDE_TEXT[table].length);
          for (const found of stored) assert.ok(found === cleanText(text), `${what} in ${table}`);
        }
      }
    });

    it('finds text by the parameter that stored it', async (t) => {
      const db = await open(t);
      await db.insertInto('service_facts').values({ name: 'a\0\uD800', value: 'x' }).execute();
      const find = (key: string) =>
        db.selectFrom('service_facts').select('value').where('name', '=', key).executeTakeFirst();
      assert.deepEqual(await find('a\0\uD800'), { value: 'x' });
      assert.deepEqual(await find('a\uFFFD\uFFFD'), { value: 'x' });
    });

    it('returns numbers for counts, sums, integers and fractions', async (t) => {
      const db = await open(t);
      await db
        .insertInto('test_tallies')
        .values([tally('1', 3), tally('2', 4)])
        .execute();
      const figures = await db
        .selectFrom('test_tallies')
        .select(({ fn }) => [
          fn.countAll<number>().as('count'),
          fn.sum<number>('score_sum').as('sum'),
          fn.max('tests').as('max'),
        ])
        .executeTakeFirstOrThrow();
      assert.deepEqual({ ...figures }, { count: 2, sum: 2 ** 41, max: 4 });
      const none = await db
        .selectFrom('test_tallies')
        .select(({ fn }) => fn.sum<number | null>('tests').as('sum'))
        .where('tests', '<', 0)
        .executeTakeFirstOrThrow();
      assert.equal(none.sum, null);
      await db
        .insertInto('tests')
        .values({ ...required.tests, metadata: '{}', coverage: 0.1 } as never)
        .execute();
      const { coverage, livemode } = await db
        .selectFrom('tests')
        .select(['coverage', 'livemode'])
        .executeTakeFirstOrThrow();
      assert.deepEqual([coverage, livemode], [0.1, 1]);
    });

    it('returns bytes as they were stored', async (t) => {
      const db = await open(t);
      const bytes = Buffer.from(Array.from({ length: 512 }, (_, i) => i % 256));
      await db
        .insertInto('message_chunks')
        .values({ message_id: 'm', position: 0, bytes })
        .execute();
      const row = await db.selectFrom('message_chunks').select('bytes').executeTakeFirstOrThrow();
      assert.ok(row.bytes instanceof Uint8Array);
      assert.ok(bytes.equals(row.bytes));
    });

    it('reports affected rows as bigints for each kind of write', async (t) => {
      const db = await open(t);
      const insert = await db
        .insertInto('events')
        .values([event('evt_1'), event('evt_2')])
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow();
      assert.equal(insert.numInsertedOrUpdatedRows, 2n);
      const again = await db
        .insertInto('events')
        .values(event('evt_1'))
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow();
      assert.equal(again.numInsertedOrUpdatedRows, 0n);
      const update = await db.updateTable('events').set({ data: '[]' }).executeTakeFirstOrThrow();
      assert.equal(update.numUpdatedRows, 2n);
      const none = await db
        .deleteFrom('events')
        .where('id', '=', 'evt_3')
        .executeTakeFirstOrThrow();
      assert.equal(none.numDeletedRows, 0n);
      const returned = await db
        .deleteFrom('events')
        .where('id', '=', 'evt_1')
        .returning('id')
        .execute();
      assert.deepEqual(
        returned.map((row) => ({ ...row })),
        [{ id: 'evt_1' }],
      );
    });

    it('sorts and compares text by its bytes', async (t) => {
      const db = await open(t);
      const ids = ['b', 'B', 'a_1', 'a1', 'A', 'é', 'a-1', 'z'];
      await db
        .insertInto('events')
        .values(ids.map((id) => event(id)))
        .execute();
      const rows = await db.selectFrom('events').select('id').orderBy('id').execute();
      assert.deepEqual(
        rows.map(({ id }) => id),
        ['A', 'B', 'a-1', 'a1', 'a_1', 'b', 'z', 'é'],
      );
      const after = await db
        .selectFrom('events')
        .select('id')
        .where('id', '>', 'a_1')
        .orderBy('id')
        .execute();
      assert.deepEqual(
        after.map(({ id }) => id),
        ['b', 'z', 'é'],
      );
    });

    it('rejects duplicates and a second owner as unique violations', async (t) => {
      const db = await open(t);
      await db.insertInto('members').values(member('mem_1', 'owner')).execute();
      for (const row of [member('mem_1'), member('mem_2', 'owner')])
        await assert.rejects(db.insertInto('members').values(row).execute(), isUniqueViolation);
    });

    it('stores a public test with both its hash and its client, and each hash once', async (t) => {
      const db = await open(t);
      const insert = (id: string, columns: Partial<Tables['tests']>) =>
        db
          .insertInto('tests')
          .values({ ...required.tests, metadata: '{}', id, token: id, ...columns } as never)
          .execute();
      await insert('test_1', { public_hash: 'a', public_client: 'c' });
      await insert('test_2', { public_hash: 'b', public_client: 'c' });
      await assert.rejects(
        insert('test_3', { public_hash: 'a', public_client: 'd' }),
        isUniqueViolation,
      );
      for (const half of [{ public_hash: 'e' }, { public_client: 'e' }])
        await assert.rejects(insert('test_4', half), /check/i);
    });

    it('deletes the tags of a test with the test', async (t) => {
      const db = await open(t);
      for (const id of ['test_1', 'test_2']) {
        const test = { ...required.tests, metadata: '{}', id, token: id };
        await db
          .insertInto('tests')
          .values(test as never)
          .execute();
        await db.insertInto('test_tags').values({ test_id: id, livemode: 1, tag: 'a' }).execute();
      }
      await db.deleteFrom('tests').where('id', '=', 'test_1').execute();
      const tags = await db.selectFrom('test_tags').select('test_id').execute();
      assert.deepEqual(tags, [{ test_id: 'test_2' }]);
    });

    it('rolls back the whole transaction and skips its afterCommit steps', async (t) => {
      const db = await open(t);
      let steps = 0;
      const failing = transact(db, async (tx) => {
        afterCommit(tx, () => steps++);
        await tx.insertInto('events').values(event('evt_1')).execute();
        throw new Error('no');
      });
      await assert.rejects(failing, /^Error: no$/);
      assert.deepEqual(await db.selectFrom('events').select('id').execute(), []);
      await transact(db, async (tx) => {
        afterCommit(tx, () => steps++);
        await tx.insertInto('events').values(event('evt_1')).execute();
      });
      assert.equal(steps, 1);
    });

    it('repeats a transaction after a conflict, with its afterCommit steps once', async (t) => {
      const db = await open(t);
      let [attempts, steps] = [0, 0];
      await transact(db, async (tx) => {
        afterCommit(tx, () => steps++);
        await tx.insertInto('events').values(event('evt_1')).execute();
        if (++attempts < 3) throw Object.assign(new Error('deadlock'), { code: '40P01' });
      });
      assert.deepEqual([attempts, steps], [3, 1]);
      assert.equal((await db.selectFrom('events').select('id').execute()).length, 1);
    });

    it('locks rows with lockRow and lockIn', async (t) => {
      const db = await open(t);
      await db.insertInto('members').values(member('mem_1')).execute();
      await transact(db, async (tx) => {
        assert.equal(await lockRow(tx, 'members', 'mem_1'), true);
        assert.equal(await lockRow(tx, 'members', 'mem_2'), false);
        const rows = await lockIn(tx, tx.selectFrom('members').select('id')).skipLocked().execute();
        assert.equal(rows.length, 1);
      });
    });

    it('runs a prepared query with the values of each call, also in a transaction', async (t) => {
      const find = prepared((db, parameter: PreparedParameter<{ id: string; mode: number }>) =>
        db
          .selectFrom('events')
          .select(['id', passedOn(db, 'data').as('data')])
          .where('id', '=', parameter('id'))
          .where('type', '=', 'test.completed')
          .where('livemode', '=', parameter('mode')),
      );
      const db = await open(t);
      for (const id of ['evt_1', 'evt_\uFFFD'])
        await db
          .insertInto('events')
          .values(event(id, `{"é":"${id}"}`))
          .execute();
      const texts = async (reader: Db, id: string, mode: number) =>
        (await find(reader, { id, mode })).map(({ data }) => Buffer.from(data!).toString());
      assert.deepEqual(await texts(db, 'evt_1', 1), ['{"é":"evt_1"}']);
      assert.deepEqual(await texts(db, 'evt_1', 0), []);
      assert.deepEqual(await texts(db, 'evt_\0', 1), ['{"é":"evt_\uFFFD"}']);
      await transact(db, async (tx) => {
        await tx.insertInto('events').values(event('evt_2', '1')).execute();
        assert.deepEqual(await texts(tx, 'evt_2', 1), ['1']);
      });
    });

    it('accepts 30,000 parameters in a query', async (t) => {
      const db = await open(t);
      const ids = Array.from({ length: 30_000 }, (_, i) => `evt_${i}`);
      const rows = await db.selectFrom('events').select('id').where('id', 'in', ids).execute();
      assert.deepEqual(rows, []);
    });
  });
