/** The servers that a message passed, read out of its Received fields (RFC 5321 §4.4). */

import { isoTime } from '../../lib/clock.ts';
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
    time: semicolon < 0 ? null : parseMailDate(value.slice(semicolon + 1, semicolon + 200)),
  };
}

/** Comments nest (RFC 5322 §3.2.2); one that is never closed takes the rest. */
function withoutComments(text: string): string {
  let depth = 0;
  let kept = '';
  for (const character of text) {
    if (character === '(') depth++;
    if (depth === 0) kept += character;
    if (character === ')' && depth > 0) {
      depth--;
      kept += ' ';
    }
  }
  return kept;
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const ZONE_HOURS: Record<string, number> = {
  est: -5,
  edt: -4,
  cst: -6,
  cdt: -5,
  mst: -7,
  mdt: -6,
  pst: -8,
  pdt: -7,
};
const DATE =
  /^\s*(?:[a-z]{3},\s*)?(\d{1,2})\s+([a-z]{3})\s+(\d{4})\s+(\d{1,2}):(\d{2})(?::(\d{2}))?\s+([+-]\d{4}|[a-z]{1,5})/i;

/**
 * The date-time of RFC 5322 §3.3 with the zones of §4.3 (a name that is not known counts as UTC),
 * in milliseconds; null for anything else. `Date.parse` would read a date without a zone by the
 * clock of this machine.
 */
export function parseMailDate(text: string): number | null {
  const match = DATE.exec(text);
  if (!match) return null;
  const [, day, monthName, year, hour, minute, second, zone] = match;
  const month = MONTHS.indexOf(monthName!.toLowerCase());
  if (month < 0) return null;
  const numeric = /^([+-])(\d{2})(\d{2})$/.exec(zone!);
  const offset = numeric
    ? (numeric[1] === '-' ? -1 : 1) * (Number(numeric[2]) * 60 + Number(numeric[3]))
    : (ZONE_HOURS[zone!.toLowerCase()] ?? 0) * 60;
  const local = Date.UTC(
    Number(year),
    month,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second ?? 0),
  );
  return local - offset * 60_000;
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
