/** New ids continue from the newest id of any kind, even if the clock was set back since the last run. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createApp } from '../../src/app.ts';
import { readConfig } from '../../src/config/config.ts';
import { createIdGenerator } from '../../src/lib/ids.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import type { Store } from '../../src/store/open.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { openTestStore } from '../helpers/store.ts';

const tail = (id: string) => id.slice(id.indexOf('_'));
const TIME = '2026-11-21T10:00:00.000Z';

/** A database whose newest id is of this kind, a day after all others. */
async function storeWith(t: TestContext, kind: keyof ReturnType<typeof rowsOf>) {
  const store = await openTestStore(t);
  const clock = testClock();
  const newId = createIdGenerator(clock);
  const member = { id: newId('mem'), email: 'ann@example.com', name: 'A', joined_at: TIME };
  await store.db
    .insertInto('members')
    .values({ ...member, role: 'viewer' })
    .execute();
  clock.advance(86_400_000);
  const row = rowsOf(newId, member.id)[kind];
  await store.db.insertInto(kind).values(row).execute();
  return { store, newest: tail(row.id) };
}

function rowsOf(newId: ReturnType<typeof createIdGenerator>, member_id: string) {
  const hash = 'x';
  const role = 'viewer' as const;
  return {
    members: { id: newId('mem'), email: 'bob@example.com', name: 'B', role, joined_at: TIME },
    api_keys: {
      id: newId('key'),
      member_id,
      name: 'x',
      role,
      livemode: 1,
      hash,
      prefix: 'x',
      created_at: TIME,
    },
    invitations: {
      id: newId('inv'),
      email: 'bob@example.com',
      role,
      hash,
      invited_by: member_id,
      created_at: TIME,
      expires_at: TIME,
    },
    sessions: {
      id: newId('ses'),
      member_id,
      hash,
      created_at: TIME,
      last_seen_at: TIME,
      expires_at: TIME,
    },
    audit_log: {
      id: newId('aud'),
      created_at: TIME,
      action: 'x.done',
      object_type: 'x',
      object_id: 'x',
      details: '{}',
    },
  };
}

async function idAfterRestart(t: TestContext, store: Store) {
  const { config } = readConfig({
    DELIVERABILITY_DATA_DIR: temporaryFolder(t),
    DELIVERABILITY_BLOCKLISTS: '-all',
    DELIVERABILITY_WORKERS: '1',
  });
  const clock = testClock();
  const { app, close } = await createApp(config, '0.0.0-test', {
    store,
    clock,
    resolver: zoneResolver({}),
  });
  t.after(close);
  return tail(app.newId('evt'));
}

for (const kind of ['members', 'api_keys', 'invitations', 'sessions', 'audit_log'] as const)
  test(`New IDs sort after the newest ID in ${kind} after a restart`, async (t) => {
    const { store, newest } = await storeWith(t, kind);
    assert.ok((await idAfterRestart(t, store)) > newest);
  });
