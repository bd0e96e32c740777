/** The servers that a message passed, read out of its Received fields (RFC 5321 §4.4). */

import { isoTime } from '../../lib/clock.ts';
import { parseMailDate, withoutComments } from '../mail-date.ts';
import { fields, type Message } from '../message.ts';

/** Beyond these, and beyond so many characters of a field, nothing is read: it is all claims anyway. */
const MAX_HOPS = 50;
const MAX_FIELD = 4000;

export interface Hop {
  from: string | null;
  by: string | null;
  /** ESMTP, ESMTPS, HTTP, … */
  protocol: string | null;
  /** Milliseconds since 1970; null where the field holds no date that can be read. */
  time: number | null;
}

/** The hops from the sender on; the newest 50 where there are more. */
export function receivedHops(message: Message): Hop[] {
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
export function hopEvidence(hop: Hop, delaySeconds: number | null) {
  return {
    from: hop.from,
    by: hop.by,
    protocol: hop.protocol,
    time: hop.time === null ? null : isoTime(hop.time),
    delay_seconds: delaySeconds,
  };
}
