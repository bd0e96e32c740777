/** Names of time zones as they are spelled, and the day that it is in one. */

/** An offset, which the runtime takes too, is none: it knows no summer time. */
const LIKE_A_ZONE = /^[A-Za-z][\w+/-]{0,63}$/;

/** As the runtime takes it: in capitals or not. */
export function isTimeZone(text: string): boolean {
  try {
    return LIKE_A_ZONE.test(text) && Boolean(new Intl.DateTimeFormat('en', { timeZone: text }));
  } catch {
    return false;
  }
}

/** What the rules below do not tell. */
const ODD = new Map(
  [
    'America/Argentina/ComodRivadavia',
    'America/Knox_IN',
    'Antarctica/DumontDUrville',
    'Antarctica/McMurdo',
    'Australia/ACT',
    'Australia/LHI',
    'Australia/NSW',
    'Brazil/DeNoronha',
    'Chile/EasterIsland',
    'GB-Eire',
    'Mexico/BajaNorte',
    'Mexico/BajaSur',
  ].map((name) => [name.toLowerCase(), name]),
);
const SMALL_WORDS = ['au', 'es', 'of'];

/**
 * The name with its capitals, as the IANA database writes it. Only the case is mended: another name of
 * the same zone stays, where the runtime would answer an older one.
 */
export function spelledZone(name: string): string {
  const lower = name.toLowerCase();
  const odd = ODD.get(lower);
  if (odd) return odd;
  const parts = lower.split('/');
  // `UTC`, `EST5EDT`, `W-SU`, but `Japan`.
  if (parts.length === 1)
    return lower.length <= 3 || /[\d-]/.test(lower) ? lower.toUpperCase() : capitals(lower);
  const [area, ...rest] = parts;
  if (area === 'systemv') return `SystemV/${rest.join('/').toUpperCase()}`;
  if (area === 'etc') return `Etc/${rest.map(etcetera).join('/')}`;
  return [area === 'us' ? 'US' : capitals(area!), ...rest.map(capitals)].join('/');
}

/** `GMT+5`, `UTC`, `Zulu`. */
const etcetera = (part: string): string =>
  /^(?:gmt|utc|uct)/.test(part) ? part.toUpperCase() : capitals(part);

const capitals = (part: string): string =>
  part.replace(/[a-z]+/g, (word, at: number) =>
    at > 0 && SMALL_WORDS.includes(word) ? word : word[0]!.toUpperCase() + word.slice(1),
  );

/** `2026-11-21`: what the calendar shows there at a time in milliseconds since 1970. */
export function localDate(time: number, timezone: string): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]));
  return `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`;
}
