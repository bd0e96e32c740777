/** `kill -9` of a service under all loads, at the moments that tell most: nothing is lost, doubled or invented. */

// @alone: under other load, the service achieves little before it is killed.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { temporaryFolder } from '../../helpers/app.ts';
import { type Random, seededRandom } from '../../helpers/random.ts';
import { onPostgres } from '../../helpers/store.ts';
import { assertConsistent } from '../stored-messages.ts';
import { startLoads, verifyAll } from './all-loads.ts';
import type { Figures, Load, Moment } from './load.ts';
import { STARTING, stoppingAt } from './moments.ts';
import { prepareService } from './one-service.ts';

/** About three seconds each. All moments come in the first ten; before a release, run two hundred. */
const MIN_ROUNDS = 10;
const ROUNDS = Number(process.env.KILL_ROUNDS ?? MIN_ROUNDS);
const MAX_MORE_ROUNDS = 5;

test(`${ROUNDS} SIGKILLs under all loads lose nothing, repeat nothing that was recorded, and invent nothing`, {
  timeout: 900_000 + ROUNDS * 60_000,
}, async (t) => {
  const seed = Number(process.env.KILL_SEED ?? randomInt(2 ** 31));
  t.diagnostic(`KILL_SEED=${seed}`);
  const random = seededRandom(seed);
  const { loads, env } = await startLoads(t, random, { ofOneService: true });
  const folder = temporaryFolder(t);
  const startedAt = performance.now();
  const service = await prepareService(t, { folder, env, loads, random });
  const hits: Figures = {};
  let rounds = 0;
  const kill = async (moments: Moment[]) => {
    rounds += 1;
    for (const name of await service.runAndKill(moments)) hits[name] = (hits[name] ?? 0) + 1;
  };
  const plan = planRounds(loads, random);
  for (const moments of plan.slice(0, ROUNDS)) await kill(moments);
  // On a slow machine, what was held may have been given up before the other moment came.
  const missed = () => plan.flat().filter(({ name }) => !hits[name]);
  for (let more = 0; more < MAX_MORE_ROUNDS && ROUNDS >= MIN_ROUNDS && missed().length > 0; more++)
    await kill([missed()[0]!]);
  let figures: Figures = {};
  await service.finish(async (db) => {
    figures = await verifyAll(loads, db, service.site);
  });
  if (!onPostgres) assertConsistent(service.location);
  t.diagnostic(JSON.stringify(hits));
  if (ROUNDS >= MIN_ROUNDS) {
    assert.deepEqual(missed(), [], 'no kill came at these moments');
    assert.ok(figures.interrupted! > 0, 'no kill interrupted a webhook attempt');
    assert.ok(figures.cutShort! > 0, 'no kill happened while reports were sent');
    assert.ok(figures.repeatedMails! > 0, 'no kill came between an email and its record');
  }
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  t.diagnostic(JSON.stringify({ rounds, seconds, ...figures }));
});

/**
 * The moments of each round. All come once in the first `MIN_ROUNDS`: a kill comes at a moment of one load while the work of
 * another is held.
 */
function planRounds(loads: Load[], random: Random): Moment[][] {
  const all = loads.flatMap(({ moments = [] }) => moments);
  const analysis = all.find(({ name }) => name === 'analysis')!;
  const passing = [...all.filter(({ holds, once }) => !holds && !once), stoppingAt(analysis)];
  const rounds: Moment[][] = [];
  while (rounds.length < ROUNDS) {
    const held = shuffled(
      all.filter(({ holds }) => holds),
      random,
    );
    const ordered = shuffled(passing, random).map((moment, index) => [
      held[index % held.length]!,
      moment,
    ]);
    const single = [STARTING, ...all.filter(({ once }) => once)].map((moment) => [moment]);
    rounds.push(...shuffled([...ordered, ...single], random));
  }
  return rounds;
}

function shuffled<T>(items: T[], random: Random): T[] {
  return items
    .map((item) => ({ item, place: random.below(2 ** 30) }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
