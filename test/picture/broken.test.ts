/** What is broken now: the same domains, headlines and steps as their pictures, the worst first. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SPAM_LIMIT_TEXT } from '../../src/figures/gmail.ts';
import { brokenDomains } from '../../src/picture/broken.ts';
import { pictureOf } from '../../src/picture/picture.ts';
import { SOURCES } from '../../src/picture/vocabulary.ts';
import { seededRandom } from '../helpers/random.ts';
import { onPostgres } from '../helpers/store.ts';
import { emptyWorld, fillRandomly } from './random-world.ts';
import { ADDRESS, ago, DOMAIN, startWorld, type World } from './world.ts';

/** PostgreSQL takes longer, and needs only a sample: the statements are the same. */
const SEEDS = onPostgres ? 25 : 100;

test('In random states, a domain is broken exactly if its picture fails or its record is missing', async (t) => {
  const world = await startWorld(t);
  const seen = new Set<string>();
  for (let seed = 1; seed <= SEEDS; seed++) {
    await emptyWorld(world);
    await fillRandomly(world, seededRandom(1000 + seed));
    const picture = await world.picture();
    const { missing_since } = await world.db
      .selectFrom('domains')
      .selectAll()
      .executeTakeFirstOrThrow();
    const kind = picture.state === 'fail' ? 'fail' : missing_since !== null ? 'lost' : 'fine';
    seen.add(kind);
    const failing = picture.sources.filter(({ state }) => state === 'fail');
    if (failing.length === 1) seen.add(`only ${failing[0]!.source}`);
    const expected = { pictures: kind === 'fine' ? [] : [picture], more: 0 };
    assert.deepEqual(await brokenDomains(world.app, 5), expected, `With seed ${seed}`);
  }
  if (onPostgres) return;
  // Each source decides alone in some state, so that none can be overlooked.
  for (const kind of ['fail', 'lost', 'fine', ...SOURCES.map((source) => `only ${source}`)])
    assert.ok(seen.has(kind), kind);
});

/** Another domain of the team. */
async function addDomain({ db }: World, name: string, change: object = {}) {
  const row = await db
    .selectFrom('domains')
    .selectAll()
    .where('id', '=', DOMAIN.id)
    .executeTakeFirstOrThrow();
  const added = { ...row, id: `dom_${name.padEnd(26, '0').replaceAll('.', '0')}`, name, ...change };
  await db.insertInto('domains').values(added).execute();
  return added;
}

test('A Gmail spam rate and a block at Outlook come first, with the headline of the page of the domain', async (t) => {
  const world = await startWorld(t);
  await world.health({ bimi: 'fail' });
  await addDomain(world, 'late.example', {
    status: 'failed',
    health_status: 'healthy',
    health_checks: '[]',
  });
  await addDomain(world, 'fine.example', { health_status: 'healthy', health_checks: '[]' });
  await addDomain(world, 'new.example', { status: 'pending', health_checks: '[]' });
  const reported = await addDomain(world, 'mail.example', {
    health_status: 'unknown',
    health_checks: '[]',
  });
  await world.google(1, { name: 'mail.example', spam_rate: 0.031 });
  const namesOf = async (limit = 9) => {
    const { pictures, more } = await brokenDomains(world.app, limit);
    return [...pictures.map(({ name, headline }) => `${name}: ${headline}`), more];
  };
  const spam = `mail.example: Gmail users report 3.1% of your mail as spam. The limit is ${SPAM_LIMIT_TEXT}.`;
  const bimi = 'example.com: bimi: fail.';
  const lost = 'late.example: Your domain is no longer verified.';
  assert.deepEqual(await namesOf(), [spam, bimi, lost, 0]);
  assert.deepEqual(await namesOf(1), [spam, 2]);
  // The latest test of the domain was sent from an address in the range.
  await world.test({ spf: 'pass' }, 1);
  await world.block('192.0.2.0', '192.0.2.255', 1);
  const [first] = (await brokenDomains(world.app, 1)).pictures;
  assert.equal(first!.headline, `Outlook blocks your sending address ${ADDRESS}.`);
  assert.ok(first!.first_step?.text);
  const row = await world.db
    .selectFrom('domains')
    .selectAll()
    .where('id', '=', reported.id)
    .executeTakeFirstOrThrow();
  const { pictures } = await brokenDomains(world.app, 9);
  assert.deepEqual(pictures[1], await pictureOf(world.app, row));
});

test('The result of a test counts until a later one of the same sender, and again after a reanalysis', async (t) => {
  const world = await startWorld(t);
  const headlines = async () =>
    (await brokenDomains(world.app, 5)).pictures.map(({ headline }) => headline);
  const id = await world.test({ spf: 'fail', dkim: 'pass' }, 3);
  assert.deepEqual(await headlines(), ['spf: fail.']);
  assert.deepEqual(await headlines(), ['spf: fail.']);
  const checks = JSON.stringify([
    { id: 'spf', status: 'pass', title: 'T', points: 3, gain: 0, fix: null },
  ]);
  await world.db
    .updateTable('tests')
    .set({ checks, completed_at: ago(2) })
    .where('id', '=', id)
    .execute();
  assert.deepEqual(await headlines(), []);
  await world.test({ dkim: 'fail' }, 1);
  assert.deepEqual(await headlines(), ['dkim: fail.']);
  await world.test({ dkim: 'pass' }, 0);
  assert.deepEqual(await headlines(), []);
});
