/** The check `received_path`: which servers the message passed, and where it waited. */

import { formatDuration } from '../../lib/durations.ts';
import { type Check, info, rfc } from '../check.ts';
import { hopEvidence, receivedHops } from './received-hops.ts';

/** Received fields tell whole seconds, and clocks are never quite the same. */
const SKEW_TOLD_SECONDS = 30;
const WAIT_TOLD_SECONDS = 300;

export const receivedPath: Check = {
  id: 'received_path',
  category: 'infrastructure',
  points: 0,
  label: 'Path of the message',
  reference: rfc(5321, '4.4'),
  run({ message, receivedAt }) {
    const hops = receivedHops(message);
    if (hops.length === 0)
      return info(
        'The message came straight from its sender.',
        'It has no Received field: no other server has passed it on.',
        { hops: [] },
      );
    // The last leg ends here, by this service's own clock.
    const times = [...hops.map(({ time }) => time), receivedAt];
    const delays = times.map((time, index) => secondsBetween(times.slice(0, index), time));
    const known = delays.filter((delay) => delay !== null);
    const skew = Math.max(0, ...known.map((delay) => -delay));
    const longest = Math.max(0, ...known);
    const first = times.find((time) => time !== null)!;
    const total = Math.round((receivedAt - first) / 1000);
    const told = hops.some(({ time }) => time !== null);
    const servers = hops.length === 1 ? '1 server' : `${hops.length} servers`;
    return info(
      told && total >= 0
        ? `The message passed ${servers} and took ${formatDuration(total * 1000)}.`
        : `The message passed ${servers}.`,
      [
        longest >= WAIT_TOLD_SECONDS && told
          ? `It waited longest, ${formatDuration(longest * 1000)}, before ${stop(hops, delays.indexOf(longest))}.`
          : 'It did not wait long anywhere, as far as its Received fields tell.',
        skew >= SKEW_TOLD_SECONDS
          ? `A clock on the way is wrong by about ${formatDuration(skew * 1000)}: a later server wrote an earlier time.`
          : '',
      ]
        .join(' ')
        .trim(),
      {
        hops: hops.map((hop, index) => hopEvidence(hop, delays[index] ?? null)),
        last_delay_seconds: delays.at(-1) ?? null,
        clock_skew_seconds: skew,
      },
    );
  },
};

// Since the last hop before whose time is known; null for the first of them.
function secondsBetween(before: (number | null)[], time: number | null): number | null {
  const last = before.findLast((one) => one !== null) ?? null;
  return last === null || time === null ? null : Math.round((time - last) / 1000);
}

function stop(hops: { by: string | null }[], index: number): string {
  if (index >= hops.length) return 'it came here';
  return `${hops[index]?.by ?? 'a server without a name'} took it`;
}
