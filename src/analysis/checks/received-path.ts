/** `received_path`: which servers relayed the message, and where it was delayed. */

import { isoTime } from '../../lib/clock.ts';
import { formatDuration } from '../../lib/durations.ts';
import { type Check, info, rfc } from '../check.ts';
import { parseMailDate, withoutComments } from '../mime/mail-date.ts';
import { fields, type Message } from '../mime/message.ts';

/** Received fields have whole seconds, and clocks always differ a little. */
const MIN_REPORTED_SKEW_SECONDS = 30;
const MIN_REPORTED_DELAY_SECONDS = 300;

export const receivedPath: Check = {
  id: 'received_path',
  category: 'infrastructure',
  points: 0,
  label: 'Delivery path',
  reference: rfc(5321, '4.4'),
  publicEvidence: null,
  run({ message, receivedAt }) {
    const hops = receivedHops(message);
    if (hops.length === 0)
      return info(
        'The message arrived directly from its sender.',
        'It has no Received field, so no other server relayed it.',
        { hops: [] },
      );
    // The last hop ends at this server, whose own clock is used.
    const times = [...hops.map(({ time }) => time), receivedAt];
    const delays = times.map((time, index) => secondsBetween(times.slice(0, index), time));
    const known = delays.filter((delay) => delay !== null);
    const skew = Math.max(0, ...known.map((delay) => -delay));
    const longest = Math.max(0, ...known);
    const first = times.find((time) => time !== null)!;
    const total = Math.round((receivedAt - first) / 1000);
    const hasTimes = hops.some(({ time }) => time !== null);
    const servers = hops.length === 1 ? '1 server' : `${hops.length} servers`;
    return info(
      hasTimes && total >= 0
        ? `The message passed through ${servers} in ${formatDuration(total * 1000)}.`
        : `The message passed through ${servers}.`,
      [
        longest >= MIN_REPORTED_DELAY_SECONDS && hasTimes
          ? `The longest delay was ${formatDuration(longest * 1000)}, before ${arrival(hops, delays.indexOf(longest))}.`
          : 'Its Received fields show no long delay.',
        skew >= MIN_REPORTED_SKEW_SECONDS
          ? `The clock of a server is off by about ${formatDuration(skew * 1000)}: a later server recorded an earlier time.`
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

// The delay since the previous known time; null if there is none.
function secondsBetween(before: (number | null)[], time: number | null): number | null {
  const last = before.findLast((known) => known !== null) ?? null;
  return last === null || time === null ? null : Math.round((time - last) / 1000);
}

function arrival(hops: { by: string | null }[], index: number): string {
  if (index >= hops.length) return 'it reached this server';
  return `${hops[index]?.by ?? 'an unnamed server'} received it`;
}

// Parses Received fields (RFC 5321 §4.4). They are unverified claims, so the amount read is limited.

const MAX_HOPS = 50;
/** In characters. */
const MAX_FIELD_LENGTH = 4000;

interface Hop {
  from: string | null;
  by: string | null;
  /** ESMTP, ESMTPS, HTTP, … */
  protocol: string | null;
  /** Milliseconds since the Unix epoch; null if the field has no valid date. */
  time: number | null;
}

/** The hops in order from the sender; only the newest 50 if there are more. */
function receivedHops(message: Message): Hop[] {
  // Each server adds its field at the top.
  return fields(message, 'received')
    .slice(0, MAX_HOPS)
    .map((field) => parseReceived(field.value))
    .reverse();
}

function parseReceived(value: string): Hop {
  const semicolon = value.lastIndexOf(';');
  const clauses = withoutComments(
    (semicolon < 0 ? value : value.slice(0, semicolon)).slice(0, MAX_FIELD_LENGTH),
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
