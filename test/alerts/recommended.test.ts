/** Recommended rules: what each would have said lately, who gets them when, and that a deleted one stays deleted. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompiledQuery, type RootOperationNode } from 'kysely';
import { criticalHealth } from '../../src/alerts/conditions/domain-health.ts';
import { MAX_PAST_ROWS } from '../../src/alerts/conditions/history.ts';
import { CONDITION_IDS, CONDITIONS, type ConditionId } from '../../src/alerts/conditions/index.ts';
import { isAnyMissing, listRecommended, timesInWords } from '../../src/alerts/recommended.ts';
import type { Alert, RecommendedAlert } from '../../src/alerts/schema.ts';
import { owner } from '../../src/commands/owner.ts';
import { createIdGenerator } from '../../src/lib/ids.ts';
import { type Db, openStore } from '../../src/store/open.ts';
import { makeOwner } from '../../src/team/owner.ts';
import { runCommand } from '../commands/run.ts';
import { startTestService, temporaryFolder } from '../helpers/app.ts';
import { databaseEnvironment, databaseIn, skipOnPostgres } from '../helpers/store.ts';
import { ago, DOMAIN, dayAgo, NOW, startWorld, type World } from '../picture/world.ts';

type Listed = { data: RecommendedAlert[] };

const wordsOf = async (world: World, condition: ConditionId): Promise<string> => {
  const rules = await listRecommended(world.app);
  return timesInWords(rules.find((rule) => rule.condition === condition)!);
};

const newId = createIdGenerator({ now: () => NOW });
const event = (world: World, type: string, days: number, data: object = {}) =>
  world.db
    .insertInto('events')
    .values({
      id: createIdGenerator({ now: () => NOW - days * 86_400_000 })('evt'),
      type,
      livemode: 1,
      created_at: ago(days),
      position: null,
      data: JSON.stringify(data),
    })
    .execute();

const FROM = { from_domain: 'example.com' };

test('Without any data, no rule claims that it would have been silent', async (t) => {
  const world = await startWorld(t);
  const rules = await listRecommended(world.app);
  assert.ok(rules.length >= 10);
  for (const rule of rules) {
    assert.ok(CONDITION_IDS.includes(rule.condition));
    assert.deepEqual([rule.times, rule.days, rule.alert_id], [null, null, null]);
    assert.match(timesInWords(rule), /^not known: no /);
  }
});

test('Authentication of tests counts each failure after a pass, not each failing test', async (t) => {
  const world = await startWorld(t);
  const [good, bad] = [
    { spf: 'pass', dkim: 'pass', dmarc: 'pass' },
    { spf: 'pass', dkim: 'fail', dmarc: 'pass' },
  ] as const;
  await world.test({ spf: 'temperror' as never }, 20, FROM);
  assert.equal(await wordsOf(world, 'auth_fail'), 'not known: no test with known results');
  await world.test(good, 18, FROM);
  assert.equal(await wordsOf(world, 'auth_fail'), 'never in the last 30 days');
  for (const days of [15, 14, 13]) await world.test(bad, days, FROM);
  // Neither ends it.
  await world.test({ spf: 'temperror' as never }, 12, FROM);
  await world.test(bad, 11, FROM);
  assert.equal(await wordsOf(world, 'auth_fail'), 'once in the last 30 days');
  await world.test(good, 10, FROM);
  await world.test(bad, 9, FROM);
  await world.test(bad, 9, { from_domain: 'other.example' });
  // Too old, and of the test mode.
  await world.test(bad, 31, { from_domain: 'old.example' });
  await world.test(bad, 3, { from_domain: 'sandbox.example', livemode: 0 });
  assert.equal(await wordsOf(world, 'auth_fail'), '3 times in the last 30 days');
});

const listing = (status: string) =>
  JSON.stringify([
    {
      id: 'domain_blocklists',
      evidence: {
        domains: [{ name: 'example.com' }],
        lists: [
          { zone: 'dbl.list.example', name: 'A list', tier: 1, status, listed: ['example.com'] },
        ],
      },
    },
  ]);

test('Blocklists count listings in tests and in monitor runs about the same subject once', async (t) => {
  const world = await startWorld(t);
  const monitor = {
    id: newId('mon'),
    name: 'Lists',
    type: 'blocklist' as const,
    targets: '["example.com"]',
  };
  await world.db
    .insertInto('monitors')
    .values({ ...monitor, frequency: 'daily', enabled: 1, status: 'ok', created_at: ago(40) })
    .execute();
  const run = (days: number, isListed: boolean) =>
    world.db
      .insertInto('monitor_runs')
      .values({
        id: newId('run'),
        monitor_id: monitor.id,
        started_at: ago(days),
        finished_at: ago(days),
        status: isListed ? 'alerting' : 'ok',
        findings: JSON.stringify(
          isListed
            ? [
                {
                  target: 'example.com',
                  list: 'dbl.list.example',
                  list_name: 'A list',
                  tier: 1,
                  codes: [],
                  meaning: null,
                },
              ]
            : [],
        ),
        changes: JSON.stringify({
          new: [],
          resolved: [],
          unknown: [],
          targets: [{ target: 'example.com', known: true }],
        }),
      })
      .execute();
  assert.equal(
    await wordsOf(world, 'blocklist_hit'),
    'not known: no test or monitor run in which blocklists answered',
  );
  await world.test({}, 9, { ...FROM, checks: listing('error') });
  assert.match(await wordsOf(world, 'blocklist_hit'), /^not known/);
  await run(8, false);
  assert.equal(await wordsOf(world, 'blocklist_hit'), 'never in the last 30 days');
  await run(7, true);
  await world.test({}, 6, { ...FROM, checks: listing('listed') });
  await run(5, true);
  assert.equal(await wordsOf(world, 'blocklist_hit'), 'once in the last 30 days');
  await world.test({}, 4, { ...FROM, checks: listing('not_listed') });
  await world.test({}, 3, { ...FROM, checks: listing('listed') });
  assert.equal(await wordsOf(world, 'blocklist_hit'), '2 times in the last 30 days');
});

test('Events of feedback count only if reports arrive, and from the day since which events are kept', async (t) => {
  const world = await startWorld(t);
  const types = {
    feedback_stopped: 'feedback.stopped',
    new_source: 'feedback.new_source',
    source_failing: 'feedback.source_failing',
  } as const;
  for (const id of Object.keys(types) as (keyof typeof types)[])
    assert.equal(await wordsOf(world, id), 'not known: no DMARC or TLS report');
  await world.reporting(true, ago(2));
  for (const [id, type] of Object.entries(types) as [keyof typeof types, string][]) {
    assert.equal(await wordsOf(world, id), 'never in the last 30 days');
    await event(world, type, 29);
    await event(world, type, 4);
    await event(world, type, 31);
    assert.equal(await wordsOf(world, id), '2 times in the last 30 days');
  }
  world.app.config.EVENT_RETENTION = 7 * 86_400_000;
  assert.equal(await wordsOf(world, 'new_source'), 'once in the last 7 days');
});

test('The spam rate counts each day at the threshold after one below it', async (t) => {
  const world = await startWorld(t);
  await world.google(20, { dkim_rate: 1 });
  assert.equal(
    await wordsOf(world, 'spam_rate'),
    'not known: no spam rate from Google Postmaster Tools',
  );
  await world.google(19, { spam_rate: 0.0009 });
  assert.equal(await wordsOf(world, 'spam_rate'), 'never in the last 30 days');
  for (const [days, spam_rate] of [
    [18, 0.001],
    [17, 0.0031],
    [15, 0],
    [14, 0.0042],
    [9, null],
  ] as const)
    await world.google(days, { spam_rate });
  assert.equal(await wordsOf(world, 'spam_rate'), '2 times in the last 30 days');
});

test('Complaints need messages to compare them with, and a minimum', async (t) => {
  const world = await startWorld(t);
  const day = async (days: number, messages: number, complaints: number) => {
    await world.db
      .insertInto('dmarc_days')
      .values({
        domain_id: DOMAIN.id,
        day: dayAgo(days),
        messages,
        passed: messages,
        failed: 0,
        none: 0,
        quarantined: 0,
        rejected: 0,
        overridden: 0,
      })
      .execute();
    if (complaints > 0)
      await world.db
        .insertInto('feedback_message_sums')
        .values({
          domain_id: DOMAIN.id,
          subject: 'complaint kind',
          period: dayAgo(days),
          value: 'abuse',
          count: complaints,
        })
        .execute();
  };
  assert.equal(await wordsOf(world, 'complaint_rate'), 'not known: no DMARC report');
  await day(9, 1000, 4);
  assert.equal(await wordsOf(world, 'complaint_rate'), 'not known: no DMARC report');
  await day(8, 10_000, 5);
  assert.equal(await wordsOf(world, 'complaint_rate'), 'never in the last 30 days');
  await day(7, 1000, 5);
  await day(6, 1000, 12);
  await day(5, 1000, 0);
  await day(4, 1000, 6);
  assert.equal(await wordsOf(world, 'complaint_rate'), '2 times in the last 30 days');
});

test('A blocked address, its rating, and a block that has ended count by subject', async (t) => {
  const world = await startWorld(t);
  assert.equal(
    await wordsOf(world, 'sending_address_blocked'),
    'not known: no data from Microsoft SNDS',
  );
  await world.snds(12, { filter_result: 'GREEN' });
  assert.equal(await wordsOf(world, 'sending_address_blocked'), 'never in the last 30 days');
  await world.snds(11, { filter_result: 'RED' });
  await world.snds(10, { filter_result: 'RED' });
  assert.equal(await wordsOf(world, 'sending_address_blocked'), 'once in the last 30 days');
  await world.block('198.51.100.0', '198.51.100.255', 1);
  const status = { receiver: 'microsoft_snds', address: '203.0.113.9' };
  await event(world, 'receiver.status_changed', 8, { ...status, status: 'BLOCKED' });
  await event(world, 'receiver.status_changed', 7, { ...status, status: 'NOT_BLOCKED' });
  await event(world, 'receiver.status_changed', 7, { address: null, status: 'NEEDS_WORK' });
  assert.equal(await wordsOf(world, 'sending_address_blocked'), '3 times in the last 30 days');
});

test('Health counts each time that a domain becomes critical, and no domain without a check', async (t) => {
  const world = await startWorld(t);
  const timesNow = () => criticalHealth.timesSince({ ...world.app, since: ago(30) });
  assert.equal(await timesNow(), null);
  await world.health({ spf_record: 'pass' });
  assert.deepEqual(await timesNow(), { times: 0, since: ago(30) });
  for (const [status, days] of [
    ['critical', 31],
    ['critical', 20],
    ['unknown', 19],
    ['critical', 18],
    ['warning', 17],
    ['critical', 5],
  ] as const)
    await event(world, 'domain.health_changed', days, { id: DOMAIN.id, health: { status } });
  await event(world, 'domain.health_changed', 4, { id: 'dom_2', health: { status: 'critical' } });
  assert.deepEqual(await timesNow(), { times: 3, since: ago(30) });
});

test('TLS counts days with enough failing sessions', async (t) => {
  const world = await startWorld(t);
  const day = (days: number, succeeded: number, failed: number) =>
    world.db
      .insertInto('tls_days')
      .values({ domain_id: DOMAIN.id, day: dayAgo(days), succeeded, failed })
      .execute();
  await day(9, 20, 5);
  assert.equal(await wordsOf(world, 'tls_failing'), 'not known: no TLS report');
  await day(8, 2000, 5);
  assert.equal(await wordsOf(world, 'tls_failing'), 'never in the last 30 days');
  await day(7, 200, 50);
  await day(6, 200, 50);
  assert.equal(await wordsOf(world, 'tls_failing'), 'once in the last 30 days');
});

test('Where nothing else tells, a rule that has run for days tells for that time', async (t) => {
  const world = await startWorld(t);
  const rule = {
    id: newId('alt'),
    name: 'Seeds',
    condition: 'seed_failing',
    channels: '["email"]',
  } as const;
  await world.db
    .insertInto('alerts')
    .values({ ...rule, enabled: 1, created_at: ago(0.2) })
    .execute();
  assert.equal(
    await wordsOf(world, 'seed_failing'),
    'not known: no rule with this condition has run for a day',
  );
  await world.db
    .updateTable('alerts')
    .set({ created_at: ago(6) })
    .execute();
  assert.equal(await wordsOf(world, 'seed_failing'), 'never in the last 6 days');
  const incident = { alert_id: rule.id, condition: 'seed_failing', value: '{}' } as const;
  for (const [subject, days] of [
    ['a', 5],
    ['b', 1],
    ['c', 7],
  ] as const)
    await world.db
      .insertInto('alert_incidents')
      .values({ ...incident, id: newId('inc'), subject, status: 'open', opened_at: ago(days) })
      .execute();
  assert.equal(await wordsOf(world, 'seed_failing'), '2 times in the last 6 days');
  await world.db.updateTable('alerts').set({ enabled: 0 }).execute();
  assert.match(await wordsOf(world, 'seed_failing'), /^not known/);
});

/** The statements that `work` runs. */
async function statementsOf(db: Db, work: (db: Db) => Promise<unknown>): Promise<CompiledQuery[]> {
  const nodes: RootOperationNode[] = [];
  await work(
    db.withPlugin({
      transformQuery({ node }) {
        nodes.push(node);
        return node;
      },
      transformResult: async ({ result }) => result,
    }) as Db,
  );
  // The parts of a statement come before the whole.
  return nodes
    .filter(({ kind }) => kind === 'SelectQueryNode')
    .map((node) => db.getExecutor().compileQuery(node, { queryId: 'q' }));
}

/** Tables that grow with mail, and not only with domains, accounts or rules. */
const GROWING =
  /SCAN (?:tests|events|run|monitor_runs|tls_days|dmarc_days|days|alert_incidents|sums)\b(?! USING)/;

test('Each condition reads a bounded number of rows with few statements, through indexes', {
  skip: skipOnPostgres,
}, async (t) => {
  const world = await startWorld(t);
  const since = ago(30);
  let counted = 0;
  for (const { id, history } of CONDITIONS) {
    if (!history) continue;
    counted++;
    const statements = await statementsOf(world.db, (db) =>
      history.timesSince({ ...world.app, db, since }),
    );
    assert.ok(statements.length <= 8, `${id}: ${statements.length}`);
    for (const { sql, parameters } of statements) {
      const { rows } = await world.db.executeQuery<{ detail: string }>(
        CompiledQuery.raw(`EXPLAIN QUERY PLAN ${sql}`, [...parameters]),
      );
      const plan = rows.map(({ detail }) => detail).join('; ');
      assert.doesNotMatch(plan, GROWING, `${id}: ${sql}`);
    }
  }
  assert.ok(counted >= 9);
});

test('With more tests than are read, the period begins with the first one read', async (t) => {
  const world = await startWorld(t);
  const id = await world.test({ spf: 'fail' }, 20, FROM);
  const row = await world.db
    .selectFrom('tests')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const rows = Array.from({ length: MAX_PAST_ROWS }, (_, i) => ({
    ...row,
    id: `test_${i}`,
    token: `many${i}`,
    checks: '[]',
    completed_at: ago(9 - i / 2000),
    spf: 'pass',
    dkim: 'pass',
    dmarc: 'pass',
  }));
  for (let at = 0; at < rows.length; at += 500)
    await world.db
      .insertInto('tests')
      .values(rows.slice(at, at + 500))
      .execute();
  const startedAt = process.cpuUsage();
  assert.equal(await wordsOf(world, 'auth_fail'), 'never in the last 9 days');
  const { user, system } = process.cpuUsage(startedAt);
  t.diagnostic(`${((user + system) / 1000).toFixed(0)} ms for ${MAX_PAST_ROWS} tests`);
});

const conditionsOf = async (db: Db) =>
  (await db.selectFrom('alerts').select('condition').orderBy('id').execute()).map(
    ({ condition }) => condition,
  );

test('The command `owner` gives the first owner the rules once, by email to the owner and the admins', async (t) => {
  const folder = temporaryFolder(t);
  const env = {
    DELIVERABILITY_DATA_DIR: folder,
    DELIVERABILITY_INBOX_DOMAIN: 'inbox.example',
    ...(await databaseEnvironment(folder)),
  };
  const run = async (...args: string[]) =>
    assert.equal((await runCommand(owner, args, env)).code, 0);
  await run('ann@example.com');
  const store = await openStore(await databaseIn(folder));
  t.after(() => store.close());
  const { db } = store;
  const made = await db.selectFrom('alerts').selectAll().orderBy('id').execute();
  assert.ok(made.length >= 10);
  for (const rule of made) {
    assert.deepEqual(
      [rule.channels, rule.recipients, rule.domain_id, rule.enabled, rule.slack_webhook_url],
      ['["email"]', null, null, 1, null],
    );
    const { threshold } = CONDITIONS.find(({ id }) => id === rule.condition)!;
    assert.equal(rule.threshold, threshold?.default ?? null);
  }
  assert.equal(new Set(made.map(({ condition }) => condition)).size, made.length);
  const actions = await db.selectFrom('audit_log').select('action').orderBy('id').execute();
  assert.deepEqual(actions.map(({ action }) => action).slice(0, made.length + 1), [
    'member.created',
    ...made.map(() => 'alert.created'),
  ]);
  // Whoever deletes one does not want it, however often the owner is reset or replaced.
  await db.deleteFrom('alerts').where('condition', '=', 'blocklist_hit').execute();
  await run('ann@example.com');
  await run('bob@example.com', '--replace');
  assert.equal((await conditionsOf(db)).length, made.length - 1);
});

test('A service with OWNER_EMAIL makes the rules at its first start only', async (t) => {
  const folder = temporaryFolder(t);
  const env = { DELIVERABILITY_OWNER_EMAIL: 'ann@example.com' };
  const first = await startTestService(t, { folder, env });
  const made = await conditionsOf(first.app.db);
  assert.ok(made.length >= 10);
  await first.call(
    'DELETE',
    `/v1/alerts/${(await first.call<{ data: Alert[] }>('GET', '/v1/alerts')).body.data[0]!.id}`,
  );
  await first.stop();
  const second = await startTestService(t, { folder, env });
  assert.deepEqual(await conditionsOf(second.app.db), made.slice(0, -1));
});

test('A member who joined before there was an owner gets the rules as the first owner', async (t) => {
  const service = await startTestService(t);
  const { app } = service;
  // The team that the helper made has an owner: only its transfer follows.
  await service.makeMember('admin');
  await makeOwner(app, 'admin1@example.com');
  assert.deepEqual(await conditionsOf(app.db), []);
  await app.db.updateTable('members').set({ role: 'admin' }).execute();
  await makeOwner(app, 'admin1@example.com');
  assert.ok((await conditionsOf(app.db)).length >= 10);
  await makeOwner(app, 'owner@example.com');
  const made = await conditionsOf(app.db);
  assert.equal(new Set(made).size, made.length);
});

test('Two first owners at the same time leave one set of rules', async (t) => {
  const { app } = await startTestService(t);
  await app.db.deleteFrom('api_keys').execute();
  await app.db.deleteFrom('members').execute();
  await Promise.all(['ann', 'bob', 'cat'].map((name) => makeOwner(app, `${name}@example.com`)));
  const made = await conditionsOf(app.db);
  assert.ok(made.length >= 10);
  assert.equal(new Set(made).size, made.length);
});

test('The button makes only what is missing: rules for one domain do not replace one for all', async (t) => {
  const { app, call, makeKey } = await startTestService(t);
  const path = '/v1/alerts/recommended';
  const create = (input: object) =>
    call<Alert>('POST', '/v1/alerts', { json: { channels: ['webhook'], ...input } });
  const { body: domain } = await call<{ id: string }>('POST', '/v1/domains', {
    json: { name: 'example.com' },
  });
  const own = await create({ name: 'Mine', condition: 'spam_rate', threshold: 3, enabled: false });
  await create({ name: 'One domain', condition: 'tls_failing', domain_id: domain.id });
  assert.ok(await isAnyMissing(app.db));
  const before = (await call<Listed>('GET', path)).body.data;
  const stated = before.filter(({ alert_id }) => alert_id !== null);
  assert.deepEqual(
    stated.map(({ condition, alert_id }) => [condition, alert_id]),
    [['spam_rate', own.body.id]],
  );
  for (const role of ['viewer', 'member'] as const)
    assert.equal((await call('POST', path, { key: await makeKey(role) })).status, 403);
  const created = await call<{ data: Alert[] }>('POST', path);
  assert.equal(created.status, 200);
  assert.deepEqual(
    created.body.data.map(({ condition }) => condition),
    before.flatMap(({ condition, alert_id }) => (alert_id === null ? [condition] : [])),
  );
  for (const rule of created.body.data)
    assert.deepEqual([rule.channels, rule.recipients], [['email'], null]);
  assert.equal((await call<{ data: Alert[] }>('POST', path)).body.data.length, 0);
  assert.ok(!(await isAnyMissing(app.db)));
  for (const { alert_id } of (await call<Listed>('GET', path)).body.data) assert.ok(alert_id);
  // The author is in the audit log.
  const entries = await app.db
    .selectFrom('audit_log')
    .selectAll()
    .where('action', '=', 'alert.created')
    .execute();
  assert.ok(entries.every(({ member_email }) => member_email === 'owner@example.com'));
});
