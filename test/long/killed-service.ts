/** Runs the service under load and kills it with `kill -9` at a random moment. */

import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { DnsTestServer } from '../helpers/dns-server.ts';
import type { Random } from '../helpers/random.ts';
import { type ServeOptions, type StartingProcess, spawnServe } from '../helpers/serve-process.ts';
import { type Mail, sendAll } from './mail-load.ts';

const SENDERS = 4;

/** A start takes about 400 ms, receiving 25 messages about as long, their analysis less. */
const MAX_DELAY_MS = { start: 500, receiving: 600, analysing: 300, recording: 100, stopping: 200 };
export type KillPhase = keyof typeof MAX_DELAY_MS;

/** A machine that needs longer for the first result after a start is too slow for this test. */
const MAX_ANALYSIS_MS = 10_000;

/** Kills the service at a moment of the phase, and asserts that no errors occur before. */
export async function runAndKill(
  options: ServeOptions,
  dns: DnsTestServer,
  queue: Mail[],
  random: Random,
  moment: KillPhase,
  countResults: () => Promise<number>,
): Promise<void> {
  const analysisStarted = firstQuery(dns);
  const service = await spawnServe(options);
  const sent = moment === 'start' ? null : sendAll(queue, await readyPort(service), SENDERS);
  if (moment === 'analysing' || moment === 'stopping') await analysisStarted;
  if (moment === 'recording') await untilMore(countResults);
  if (moment === 'stopping') service.signal('SIGTERM');
  await pause(random.below(MAX_DELAY_MS[moment]));
  service.signal('SIGKILL');
  await service.ended;
  assert.deepEqual((await sent) ?? [], []);
  const faults = service.log.filter(({ level }) => level === 'error');
  assert.deepEqual(faults, []);
}

export function chooseMoment(random: Random): KillPhase {
  if (random.chance(0.15)) return 'start';
  if (random.chance(0.4)) return 'receiving';
  if (random.chance(0.4)) return 'recording';
  return random.chance(0.7) ? 'analysing' : 'stopping';
}

/** Resolves when another result is stored. */
async function untilMore(count: () => Promise<number>): Promise<void> {
  const [before, until] = [await count(), performance.now() + MAX_ANALYSIS_MS];
  while ((await count()) === before && performance.now() < until) await pause(20);
}

async function readyPort(service: StartingProcess): Promise<number> {
  const ready = await service.nextLine('ready');
  assert.ok(ready, `the service did not restart: ${JSON.stringify(service.log)}`);
  return Number(String(ready.smtp).split(':').at(-1));
}

/** Resolves at the first DNS query, which shows that an analysis has started. */
function firstQuery(dns: DnsTestServer): Promise<void> {
  return new Promise((resolve) => {
    dns.tamper = (reply) => {
      resolve();
      return [reply];
    };
  });
}
