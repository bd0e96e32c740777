/** The digest of a domain says what its picture says, and is read again when something about the domain changes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refreshDue } from '../../src/domain-table/refresh.ts';
import { SPAM_LIMIT_TEXT } from '../../src/figures/gmail.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { policyOf } from '../../src/picture/published-policy.ts';
import { seededRandom } from '../helpers/random.ts';
import { onPostgres } from '../helpers/store.ts';
import { emptyWorld, fillRandomly } from '../picture/random-world.ts';
import { ADDRESS, ago, DOMAIN, dayAgo, NOW, startWorld, type World } from '../picture/world.ts';

/** PostgreSQL takes longer, and needs only a sample: the statements are the same. */
const SEEDS = onPostgres ? 15 : 60;

const digestIn = ({ db }: World, id = DOMAIN.id) =>
  db.selectFrom('domain_digests').selectAll().where('id', '=', id).executeTakeFirst();

/** Reads it as if an hour had passed. */
async function readAgain(world: World) {
  await world.db.deleteFrom('domain_digests').execute();
  await refreshDue(world.app);
  return (await digestIn(world))!;
}

test('In random states, the digest has the state, the headline and the first step of the picture', async (t) => {
  const world = await startWorld(t);
  const states = new Set<string>();
  for (let seed = 1; seed <= SEEDS; seed++) {
    await emptyWorld(world);
    await fillRandomly(world, seededRandom(1000 + seed));
    const picture = await world.picture();
    const digest = await readAgain(world);
    states.add(picture.state);
    assert.deepEqual(
      [digest.state, digest.headline, digest.since, digest.step, digest.step_path, digest.cost],
      [
        picture.state,
        picture.headline,
        picture.since,
        picture.first_step?.text ?? null,
        picture.first_step?.path ?? null,
        picture.problems[0]?.cost ?? 0,
      ],
      `With seed ${seed}`,
    );
  }
  assert.ok(states.has('fail') && (onPostgres || states.has('warn')));
});

test('A digest is read once, again after a check, and after an hour; what cannot be read yet is missing', async (t) => {
  const world = await startWorld(t);
  assert.equal(await digestIn(world), undefined);
  await refreshDue(world.app);
  const first = (await digestIn(world))!;
  assert.equal(first.read_at, isoTime(NOW));
  await world.google(1, { spam_rate: 0.031 });
  await refreshDue(world.app);
  assert.equal((await digestIn(world))!.spam_rate, null, 'nothing says that it has changed');
  world.app.clock.advance(3_600_000);
  await refreshDue(world.app);
  const later = (await digestIn(world))!;
  assert.equal(later.spam_rate, 0.031);
  assert.equal(
    later.headline,
    `Gmail users report 3.1% of your mail as spam. The limit is ${SPAM_LIMIT_TEXT}.`,
  );
  await world.setDomain({ health_checked_at: isoTime(NOW + 3_600_001) });
  world.app.clock.advance(60_000);
  await refreshDue(world.app);
  assert.equal((await digestIn(world))!.read_at, isoTime(NOW + 3_660_000));
});

test('Without reports, days at Google and tests, the figures are null, and not 0', async (t) => {
  const world = await startWorld(t);
  const digest = await readAgain(world);
  const { messages, spf_rate, dkim_rate, dmarc_rate, spam_rate, samples, inbox_rate, policy } =
    digest;
  assert.deepEqual(
    { messages, spf_rate, dkim_rate, dmarc_rate, spam_rate, samples, inbox_rate, policy },
    {
      messages: 0,
      spf_rate: null,
      dkim_rate: null,
      dmarc_rate: null,
      spam_rate: null,
      samples: 0,
      inbox_rate: null,
      policy: null,
    },
  );
  assert.deepEqual([digest.state, digest.step], ['unknown', null]);
});

test('Reports in which nothing passes are 0, those older than 30 days do not count, and two samples are no rate', async (t) => {
  const world = await startWorld(t);
  await world.sender({ messages: 50, passed: 0 });
  await world.google(3, { spam_rate: 0 });
  await world.google(2, { spam_rate: null });
  await world.placement(1, { 'gmail spam': 2 });
  const digest = await readAgain(world);
  assert.deepEqual(
    [digest.messages, digest.spf_rate, digest.dkim_rate, digest.dmarc_rate],
    [50, 0, 0, 0],
  );
  assert.deepEqual([digest.spam_rate, digest.spam_day], [0, dayAgo(3)]);
  assert.deepEqual([digest.samples, digest.inbox_rate], [2, null]);
  await emptyWorld(world);
  await world.sender({ messages: 50, passed: 40 }, { days: 30 });
  assert.equal((await readAgain(world)).dmarc_rate, null);
  await world.sender({ messages: 50, passed: 40 }, { days: 29 });
  assert.equal((await readAgain(world)).dmarc_rate, 0.8);
});

test('A change of records is remembered after its event was deleted', async (t) => {
  const world = await startWorld(t);
  const changes = [
    { name: `_dmarc.${DOMAIN.name}`, type: 'TXT' },
    { name: DOMAIN.name, type: 'TXT' },
    { name: `s1._domainkey.${DOMAIN.name}`, type: 'TXT' },
    { name: DOMAIN.name, type: 'MX' },
  ];
  const event = { type: 'domain.records_changed', livemode: 1, position: null } as const;
  await world.db
    .insertInto('events')
    .values({
      ...event,
      id: 'evt_1',
      created_at: ago(2),
      data: JSON.stringify({ id: DOMAIN.id, changes }),
    })
    .execute();
  await refreshDue(world.app);
  await world.db.deleteFrom('events').execute();
  world.app.clock.advance(3_600_000);
  await refreshDue(world.app);
  const { changed, changed_at } = (await digestIn(world))!;
  assert.deepEqual([changed_at, changed], [ago(2), 'DMARC, SPF, DKIM, MX']);
});

test('An address that Outlook blocks comes first', async (t) => {
  const world = await startWorld(t);
  await world.health({ bimi: 'fail' });
  const before = await readAgain(world);
  assert.equal(before.headline, 'bimi: fail.');
  await world.test({ spf: 'pass' }, 1);
  await world.block('192.0.2.0', '192.0.2.255', 1);
  const after = await readAgain(world);
  assert.equal(after.headline, `Outlook blocks your sending address ${ADDRESS}.`);
  assert.ok(after.cost > before.cost);
});

test('The policy is that of the last look, inherited with sp, and unknown before any lookup', () => {
  const watched = (...values: string[]) =>
    policyOf({
      name: 'example.com',
      health_checks: '[]',
      watched: JSON.stringify({ sets: { 'DMARC record': { values } }, failures: 0 }),
    });
  const read = (p: object) => Object.values(p);
  assert.deepEqual(read(watched('v=DMARC1; p=reject; sp=none; pct=50')), ['reject', 'none', 50]);
  assert.deepEqual(read(watched('v=DMARC1; p=Quarantine')), ['quarantine', null, 100]);
  assert.deepEqual(read(watched('v=DMARC1; p=reject; sp=none (at _dmarc.example.com)')), [
    'none',
    null,
    100,
  ]);
  assert.deepEqual(read(watched()), ['missing', null, null]);
  assert.deepEqual(read(watched('v=DMARC1; p=none', 'v=DMARC1; p=reject')), [
    'missing',
    null,
    null,
  ]);
  assert.deepEqual(read(watched('v=DMARC1; rua=mailto:a@example.com')), ['missing', null, null]);
  const checked = (check: object) =>
    read(
      policyOf({
        name: 'example.com',
        watched: null,
        health_checks: JSON.stringify([{ id: 'dmarc_policy', evidence: {}, ...check }]),
      }),
    );
  assert.deepEqual(checked({ status: 'error' }), [null, null, null]);
  assert.deepEqual(checked({ status: 'fail' }), ['missing', null, null]);
  assert.deepEqual(
    checked({ status: 'warn', evidence: { record: 'v=DMARC1; p=none', tag: 'p' } }),
    ['none', null, 100],
  );
});

test('A domain that cannot be read does not keep others from being read', async (t) => {
  const world = await startWorld(t);
  const row = await world.db.selectFrom('domains').selectAll().executeTakeFirstOrThrow();
  const broken = { ...row, id: 'dom_01broken', name: 'broken.example', health_checks: 'no JSON' };
  await world.db.insertInto('domains').values(broken).execute();
  const failed: unknown[] = [];
  const log = { error: (_: string, { domain }: { domain: string }) => failed.push(domain) };
  await refreshDue({ ...world.app, log: log as never });
  assert.ok(await digestIn(world));
  assert.equal(await digestIn(world, broken.id), undefined);
  assert.ok(failed.includes(broken.id));
});
