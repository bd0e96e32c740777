/** The period of a report, also if the report does not say it correctly. */

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

/** Seconds, because both ends belong to the period. */
const dayFrom = (begin: number): Period => ({ begin, end: begin + DAY_MS - SECOND });
const dayUntil = (end: number): Period => ({ begin: end - DAY_MS + SECOND, end });

/** What the name of a file says. */
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

/** The beginning and the end as a report has them, and as times. */
interface WrittenPeriod {
  texts: { begin: unknown; end: unknown };
  begin: number | null;
  end: number | null;
}

/**
 * Days that get the counts of a report. A beginning or an end that cannot be right is noted, and the other one shows the day, else the
 * name of the file, else `now`, the arrival. `isDated` is false for the last, which tells no two copies apart.
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
