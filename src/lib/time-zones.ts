/** Names of time zones. */

/** Excludes offsets, which the runtime accepts too: they have no daylight saving time. */
const ZONE_NAME = /^[A-Za-z][\w+/-]{0,63}$/;

/** Whether the runtime knows the zone. Ignores case. */
export function isTimeZone(text: string): boolean {
  try {
    return ZONE_NAME.test(text) && Boolean(new Intl.DateTimeFormat('en', { timeZone: text }));
  } catch {
    return false;
  }
}

/** Names that do not follow the rules below. */
const IRREGULAR_NAMES = new Map(
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
const LOWERCASE_WORDS = ['au', 'es', 'of'];

/**
 * Returns the name with the capitalization of the IANA database. Keeps aliases, which the runtime would
 * replace with an older name.
 */
export function canonicalTimeZone(name: string): string {
  const lower = name.toLowerCase();
  const irregular = IRREGULAR_NAMES.get(lower);
  if (irregular) return irregular;
  const parts = lower.split('/');
  // `UTC`, `EST5EDT`, `W-SU`, but `Japan`.
  if (parts.length === 1)
    return lower.length <= 3 || /[\d-]/.test(lower) ? lower.toUpperCase() : capitalized(lower);
  const [area, ...location] = parts;
  if (area === 'systemv') return `SystemV/${location.join('/').toUpperCase()}`;
  if (area === 'etc') return `Etc/${location.map(etcName).join('/')}`;
  return [area === 'us' ? 'US' : capitalized(area!), ...location.map(capitalized)].join('/');
}

/** `GMT+5`, `UTC`, `Zulu`. */
const etcName = (part: string): string =>
  /^(?:gmt|utc|uct)/.test(part) ? part.toUpperCase() : capitalized(part);

const capitalized = (part: string): string =>
  part.replace(/[a-z]+/g, (word, at: number) =>
    at > 0 && LOWERCASE_WORDS.includes(word) ? word : word[0]!.toUpperCase() + word.slice(1),
  );
