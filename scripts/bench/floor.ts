/**
 * What a newsletter costs in the executable, relative to the floor: a bare service of the same libraries, in turns of 100
 * messages in the same run. For the first messages after a start (cold), and after more than a thousand (warm).
 *
 * `--rounds=8` sets the number of turns that are compared warm. BENCH_OTHER adds other executables to the same turns.
 */

import { startDnsServer } from '../../test/helpers/dns-server.ts';
import { signed } from './message-cost.ts';
import { newsletter } from './newsletter.ts';
import {
  executables,
  medianTurn,
  type Participant,
  ratios,
  startFloor,
  startProduct,
  type Turn,
  takeTurn,
} from './participants.ts';

const PER_TURN = 100;
const ROUNDS = 12;
const COLD_ROUNDS = 2;
/** Before the warm turns, with those of the cold turns. */
const WARM_UP = 1_000;
/** As many as `bench message`, and one, which waits for each reply. */
const CONNECTIONS = { many: 8, one: 1 };
const LINKS = 8;

export async function benchFloor(options: string[]) {
  const products = executables();
  if (!products.some(([name]) => name === 'product'))
    return { skipped: 'dist/deliverability does not exist: run npm run build' };
  const rounds = roundsIn(options);
  const mail = await signed(newsletter(LINKS));
  const raw = Buffer.from(mail.input.raw);
  const dns = await startDnsServer(mail.zone);
  const setting = {
    dnsPort: dns.address.port,
    messages: WARM_UP + 2 * rounds * PER_TURN,
  };
  const participants: Participant[] = [];
  try {
    participants.push(await startFloor(setting));
    for (const [name, path] of products) participants.push(await startProduct(name, path, setting));
    const cold = await inTurns(participants, COLD_ROUNDS, CONNECTIONS.many, raw);
    const left = WARM_UP - COLD_ROUNDS * PER_TURN;
    await Promise.all(participants.map(({ send }) => send(left, CONNECTIONS.many, raw)));
    const warm = await inTurns(participants, rounds, CONNECTIONS.many, raw);
    const one = await inTurns(participants, rounds, CONNECTIONS.one, raw);
    const memory = participants.map(({ name, privateMb }) => [name, privateMb()]);
    return {
      bytes: raw.byteLength,
      rounds,
      connections: CONNECTIONS.many,
      cold: compared(cold),
      warm: compared(warm),
      warm_one_connection: compared(one),
      private_mb: Object.fromEntries(memory),
    };
  } finally {
    for (const { stop } of participants) await stop();
    await dns.close();
  }
}

function roundsIn(options: string[]): number {
  const option = options.find((text) => text.startsWith('--rounds='));
  const rounds = option ? Number(option.slice('--rounds='.length)) : ROUNDS;
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds needs a whole number');
  return rounds;
}

async function inTurns(
  participants: Participant[],
  rounds: number,
  connections: number,
  raw: Buffer,
): Promise<Record<string, Turn[]>> {
  const turns = Object.fromEntries(participants.map(({ name }) => [name, [] as Turn[]]));
  for (let round = 0; round < rounds; round++)
    for (const participant of participants)
      turns[participant.name]!.push(await takeTurn(participant, PER_TURN, connections, raw));
  return turns;
}

/** The CPU time of each by kind of thread, and relative to the floor. */
function compared({ floor, ...others }: Record<string, Turn[]>) {
  const figures = Object.entries(others).map(([name, turns]) => [
    name,
    { ...ratios(turns, floor!), cpu_ms: medianTurn(turns) },
  ]);
  return { floor: { cpu_ms: medianTurn(floor!) }, ...Object.fromEntries(figures) };
}
