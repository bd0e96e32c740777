/** Reads Received fields (RFC 5321 §4.4). They are unverified claims, so the amount read is limited. */

import { parseMailDate, withoutComments } from './mail-date.ts';
import { fields, type Message } from './message.ts';

const MAX_HOPS = 50;
/** In characters. */
const MAX_FIELD_LENGTH = 4000;

export interface Hop {
  from: string | null;
  by: string | null;
  /** ESMTP, ESMTPS, HTTP, … */
  protocol: string | null;
  /** Milliseconds since the Unix epoch; null if the field has no valid date. */
  time: number | null;
  /** The texts in parentheses. */
  comments: string[];
}

/** The hops in order from the sender; only the newest 50 if there are more. */
export function receivedHops(message: Pick<Message, 'headers'>): Hop[] {
  // Each server adds its field at the top.
  return fields(message, 'received')
    .slice(0, MAX_HOPS)
    .map((field) => parseReceived(field.value))
    .reverse();
}

/** `value`: one field without its name. Never throws. */
export function parseReceived(value: string): Hop {
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
    comments: [...value.slice(0, MAX_FIELD_LENGTH).matchAll(/\(([^()]*)/g)].map(([, text]) =>
      text!.trim(),
    ),
  };
}
