/**
 * What a newsletter costs in the executable, relative to the floor: a bare service of the same libraries, in turns of 100
 * messages in the same run. For the first messages after a start (cold), and after more than a thousand (warm).
 *
 * `--rounds=6` sets the number of turns that are compared warm, for each kind of load. BENCH_OTHER adds other executables to the same turns.
 */

import { startDnsServer } from '../../test/helpers/dns-server.ts';
import { signed } from './message-cost.ts';
import { newsletter } from './newsletter.ts';
import {
  executables,
  type Load,
  medianTurn,
  type Participant,
  ratios,
  startFloor,
  startProduct,
  type Turn,
  takeTurn,
} from './participants.ts';

const PER_TURN = 100;
const ROUNDS = 9;
const COLD_ROUNDS = 2;
/** Before the warm turns, with those of the cold turns. */
const WARM_UP = 1_000;
const LINKS = 8;

/** `burst` as in `bench message`. Over one connection, messages are also analyzed while others arrive. */
const LOADS = {
  burst: { connections: 8 },
  one_connection: { connections: 1 },
  single_messages: { connections: 1, reconnect: true },
};

export async function benchFloor(options: string[]) {
  const products = executables();
  if (!products.some(([name]) => name === 'product'))
    return { skipped: 'dist/deliverability does not exist: run npm run build' };
  const rounds = roundsIn(options);
  const mail = await signed(newsletter(LINKS));
  const raw = Buffer.from(mail.input.raw);
  const dns = await startDnsServer(mail.zone);
  const settings = {
    dnsPort: dns.address.port,
    messages: WARM_UP + Object.keys(LOADS).length * rounds * PER_TURN,
  };
  const participants: Participant[] = [];
  try {
    participants.push(await startFloor(settings));
    for (const [name, path] of products)
      participants.push(await startProduct(name, path, settings));
    const cold = await inTurns(participants, COLD_ROUNDS, { raw, ...LOADS.burst });
    const count = WARM_UP - COLD_ROUNDS * PER_TURN;
    await Promise.all(participants.map(({ send }) => send({ raw, count, ...LOADS.burst })));
    const warm: Record<string, object> = {};
    for (const [name, load] of Object.entries(LOADS))
      warm[name] = compare(await inTurns(participants, rounds, { raw, ...load }));
    const memory = participants.map(({ name, privateMb }) => [name, privateMb()]);
    return {
      bytes: raw.byteLength,
      rounds,
      cold: compare(cold),
      ...warm,
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
  load: Omit<Load, 'count'>,
): Promise<Record<string, Turn[]>> {
  const turns = Object.fromEntries(participants.map(({ name }) => [name, [] as Turn[]]));
  for (let round = 0; round < rounds; round++)
    for (const participant of participants)
      turns[participant.name]!.push(await takeTurn(participant, { ...load, count: PER_TURN }));
  return turns;
}

/** The CPU time of each by kind of thread, relative to the floor, and of other executables relative to the product. */
function compare({ floor, product, ...others }: Record<string, Turn[]>) {
  const figures = Object.entries(others).map(([name, turns]) => [
    name,
    {
      over_floor: ratios(turns, floor!),
      over_product: ratios(turns, product!),
      cpu_ms: medianTurn(turns),
    },
  ]);
  return {
    floor: { cpu_ms: medianTurn(floor!) },
    product: { over_floor: ratios(product!, floor!), cpu_ms: medianTurn(product!) },
    ...Object.fromEntries(figures),
  };
}
