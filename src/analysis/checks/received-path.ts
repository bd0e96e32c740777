/** The check `received_path`: which servers the message passed, and where it waited. */

import { isoTime } from '../../lib/clock.ts';
import { formatDuration } from '../../lib/durations.ts';
import { type Check, info, rfc } from '../check.ts';
import { parseMailDate, withoutComments } from '../mime/mail-date.ts';
import { fields, type Message } from '../mime/message.ts';

/** Received fields tell whole seconds, and clocks are never quite the same. */
const SKEW_TOLD_SECONDS = 30;
const WAIT_TOLD_SECONDS = 300;

export const receivedPath: Check = {
  id: 'received_path',
  category: 'infrastructure',
  points: 0,
  label: 'Path of the message',
  reference: rfc(5321, '4.4'),
  publicEvidence: null,
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

// The servers that a message passed, read out of its Received fields (RFC 5321 §4.4).

/** Beyond these, and beyond so many characters of a field, nothing is read: it is all claims anyway. */
const MAX_HOPS = 50;
const MAX_FIELD = 4000;

interface Hop {
  from: string | null;
  by: string | null;
  /** ESMTP, ESMTPS, HTTP, … */
  protocol: string | null;
  /** Milliseconds since 1970; null where the field holds no date that can be read. */
  time: number | null;
}

/** The hops from the sender on; the newest 50 where there are more. */
function receivedHops(message: Message): Hop[] {
  // Each server puts its field on top of those before it.
  return fields(message, 'received')
    .slice(0, MAX_HOPS)
    .map((field) => parseReceived(field.value))
    .reverse();
}

function parseReceived(value: string): Hop {
  const semicolon = value.lastIndexOf(';');
  const clauses = withoutComments(
    (semicolon < 0 ? value : value.slice(0, semicolon)).slice(0, MAX_FIELD),
  );
  const clause = (name: string) =>
    new RegExp(`(?:^|\\s)${name}\\s+([^\\s;]{1,255})`, 'i').exec(clauses)?.[1] ?? null;
  return {
    from: clause('from'),
    by: clause('by'),
    protocol: clause('with'),
    time: semicolon < 0 ? null : (parseMailDate(value.slice(semicolon + 1))?.ms ?? null),
  };
}

/** The hop as evidence, with the seconds since the hop before. */
function hopEvidence(hop: Hop, delaySeconds: number | null) {
  return {
    from: hop.from,
    by: hop.by,
    protocol: hop.protocol,
    time: hop.time === null ? null : isoTime(hop.time),
    delay_seconds: delaySeconds,
  };
}
