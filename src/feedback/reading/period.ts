/** The period of a report, even if the report states it incorrectly or not at all. */

import { DAY_MS } from '../../lib/durations.ts';
import { LIMITS } from './limits.ts';
import type { Notes } from './notes.ts';
import { readDomain, SECOND } from './values.ts';

export interface Period {
  begin: number;
  end: number;
}

/** No report is older than DMARC. */
const FIRST_TIME = Date.UTC(2011, 0, 1);
const MAX_AHEAD = 2 * DAY_MS;

const isTime = (ms: number, now: number): boolean => ms >= FIRST_TIME && ms <= now + MAX_AHEAD;

const isShort = ({ begin, end }: Period): boolean => end - begin <= LIMITS.days * DAY_MS;

/** Periods end with the last second of the day, because both ends belong to them. */
const dayFrom = (begin: number): Period => ({ begin, end: begin + DAY_MS - SECOND });
const dayUntil = (end: number): Period => ({ begin: end - DAY_MS + SECOND, end });

/** What the file name of a report says (RFC 7489 §7.2.1.1, RFC 8460 §5.1). */
export interface FileName extends Period {
  domain: string | null;
}

/** `receiver.example!example.com!1795219200!1795305599.xml.gz` (RFC 7489 §7.2.1.1, RFC 8460 §5.1); null for another form. */
export function readFileName(name: string | null, now: number): FileName | null {
  const match = /^[^!]{1,255}!([^!]{1,255})!(\d{9,10})!(\d{9,10})[!.]/.exec(name ?? '');
  if (!match) return null;
  const [begin, end] = [Number(match[2]) * SECOND, Number(match[3]) * SECOND];
  if (!isTime(begin, now) || !isTime(end, now) || end < begin || !isShort({ begin, end }))
    return null;
  return { domain: readDomain(match[1]!), begin, end };
}

/** The begin and the end as written in the report, and as times. */
interface WrittenPeriod {
  texts: { begin: unknown; end: unknown };
  begin: number | null;
  end: number | null;
}

/**
 * The period for which a report counts. An invalid begin or end is noted, and the other one shows the day. Without both, the file
 * name does, or else the day before the arrival (`now`). Only the last of these sets `isDated` to false, because copies arrive on
 * different days.
 */
export function readPeriod(
  written: WrittenPeriod,
  { file, now }: { file: FileName | null; now: number },
  notes: Notes,
): Period & { isDated: boolean } {
  const usable = (which: 'begin' | 'end') => {
    const ms = written[which];
    if (ms !== null && isTime(ms, now)) return ms;
    const what = which === 'begin' ? 'an invalid beginning' : 'an invalid end';
    notes.addValue(`${what} of the period`, written.texts[which] ?? '');
    return null;
  };
  const [begin, end] = [usable('begin'), usable('end')];
  if (begin !== null && end !== null) {
    if (end < begin) notes.add('a period that ends before it begins');
    const period = { begin: Math.min(begin, end), end: Math.max(begin, end) };
    if (isShort(period)) return { ...period, isDated: true };
    notes.add(`a period of more than ${LIMITS.days} days, of which the last one counts`);
    return { ...dayUntil(period.end), isDated: true };
  }
  if (begin !== null) return { ...dayFrom(begin), isDated: true };
  if (end !== null) return { ...dayUntil(end), isDated: true };
  if (file !== null) {
    notes.add('no period, so the one in the file name counts');
    return { begin: file.begin, end: file.end, isDated: true };
  }
  notes.add('no period, so the day before the arrival counts');
  return { ...dayFrom((Math.floor(now / DAY_MS) - 1) * DAY_MS), isDated: false };
}
