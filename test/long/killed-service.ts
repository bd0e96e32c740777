/** One life of the service under load, ended by `kill -9` at a moment that chance chooses. */

import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { DnsTestServer } from '../helpers/dns-server.ts';
import type { Random } from '../helpers/random.ts';
import { type ServeOptions, type StartingProcess, spawnServe } from '../helpers/serve-process.ts';
import { type Mail, sendAll } from './mail-load.ts';

const SENDERS = 4;

/** A start takes about 400 ms, 25 mails about as long, their analysis less. */
const LONGEST_MS = { start: 500, receiving: 600, analysing: 300, stopping: 200 };
export type Moment = keyof typeof LONGEST_MS;

/** Asserts that nothing went wrong until the kill; tells in what it came. */
export async function liveAndBeKilled(
  options: ServeOptions,
  dns: DnsTestServer,
  queue: Mail[],
  random: Random,
): Promise<Moment> {
  const moment = chooseMoment(random);
  const asked = firstQuestion(dns);
  const service = await spawnServe(options);
  const sent = moment === 'start' ? null : sendAll(queue, await readyPort(service), SENDERS);
  if (moment === 'analysing' || moment === 'stopping') await asked;
  if (moment === 'stopping') service.signal('SIGTERM');
  await pause(random.below(LONGEST_MS[moment]));
  service.signal('SIGKILL');
  await service.ended;
  assert.deepEqual((await sent) ?? [], []);
  const faults = service.log.filter(({ level }) => level === 'error');
  assert.deepEqual(faults, []);
  return moment;
}

function chooseMoment(random: Random): Moment {
  if (random.chance(0.15)) return 'start';
  if (random.chance(0.4)) return 'receiving';
  return random.chance(0.7) ? 'analysing' : 'stopping';
}

async function readyPort(service: StartingProcess): Promise<number> {
  const ready = await service.line('ready');
  assert.ok(ready, `it did not start again: ${JSON.stringify(service.log)}`);
  return Number(String(ready.smtp).split(':').at(-1));
}

/** Resolves when an analysis has begun. */
function firstQuestion(dns: DnsTestServer): Promise<void> {
  return new Promise((resolve) => {
    dns.tamper = (reply) => {
      resolve();
      return [reply];
    };
  });
}
