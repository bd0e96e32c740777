/** `received_path`: which servers relayed the message, and where it was delayed. */

import { isoTime } from '../../lib/clock.ts';
import { formatDuration } from '../../lib/durations.ts';
import { type Check, info, rfc } from '../check.ts';
import { type Hop, receivedHops } from '../mime/received.ts';
import type { FileReceipt } from '../receipt/file-receipt.ts';

/** Received fields are only accurate to the second, and clocks always differ slightly. */
const MIN_REPORTED_SKEW_SECONDS = 30;
const MIN_REPORTED_DELAY_SECONDS = 300;

export const receivedPath: Check = {
  id: 'received_path',
  category: 'infrastructure',
  points: 0,
  label: 'Delivery path',
  reference: rfc(5321, '4.4'),
  publicEvidence: null,
  run({ message, receivedAt, envelope }) {
    const hops = receivedHops(message);
    if (hops.length === 0 && envelope.reported_by?.method === null)
      return info(
        'The delivery path of the message is unknown.',
        'A mail server in front passed it on, but it has no Received field.',
        { hops: [] },
      );
    const { file } = envelope;
    if (hops.length === 0 && file && file.by === null)
      return info(
        'The delivery path of the message is unknown.',
        'This is a file, and no Received field shows which mail server received it from another.',
        { hops: [] },
      );
    if (hops.length === 0)
      return info(
        'The message arrived directly from its sender.',
        'It has no Received field, so no other server relayed it.',
        { hops: [] },
      );
    // The last hop ends at the server that received the message. Reading a file is no hop.
    const times = [...hops.map(({ time }) => time), ...(receivedAt === null ? [] : [receivedAt])];
    const delays = times.map((time, index) => secondsBetween(times.slice(0, index), time));
    const knownDelays = delays.filter((delay) => delay !== null);
    const skew = Math.max(0, ...knownDelays.map((delay) => -delay));
    const longest = Math.max(0, ...knownDelays);
    const first = times.find((time) => time !== null) ?? 0;
    const last = times.findLast((time) => time !== null) ?? 0;
    const total = Math.round((last - first) / 1000);
    const hasTimes = hops.some(({ time }) => time !== null);
    const servers = hops.length === 1 ? '1 server' : `${hops.length} servers`;
    return info(
      hasTimes && total >= 0
        ? `The message passed through ${servers} in ${formatDuration(total * 1000)}.`
        : `The message passed through ${servers}.`,
      [
        longest >= MIN_REPORTED_DELAY_SECONDS && hasTimes
          ? `The longest delay was ${formatDuration(longest * 1000)}, before ${arrival(hops, delays.indexOf(longest), receiverName(file))}.`
          : 'Its Received fields show no long delay.',
        skew >= MIN_REPORTED_SKEW_SECONDS
          ? `The clock of a server is off by about ${formatDuration(skew * 1000)}: a later server recorded an earlier time.`
          : '',
      ]
        .join(' ')
        .trim(),
      {
        hops: hops.map((hop, index) => hopEvidence(hop, delays[index] ?? null)),
        last_delay_seconds: receivedAt === null ? null : (delays.at(-1) ?? null),
        clock_skew_seconds: skew,
      },
    );
  },
};

// The delay since the previous known time; null if there is none.
function secondsBetween(earlierTimes: (number | null)[], time: number | null): number | null {
  const previous = earlierTimes.findLast((earlier) => earlier !== null) ?? null;
  return previous === null || time === null ? null : Math.round((time - previous) / 1000);
}

function arrival(hops: { by: string | null }[], index: number, receiver: string): string {
  if (index >= hops.length) return `it reached ${receiver}`;
  return `${hops[index]?.by ?? 'an unnamed server'} received it`;
}

/** The hop as evidence, with the seconds since the previous hop. */
function hopEvidence(hop: Hop, delaySeconds: number | null) {
  return {
    from: hop.from,
    by: hop.by,
    protocol: hop.protocol,
    time: hop.time === null ? null : isoTime(hop.time),
    delay_seconds: delaySeconds,
  };
}

const receiverName = (file: FileReceipt | null | undefined): string =>
  file ? (file.provider ?? file.by ?? 'its receiver') : 'this server';
