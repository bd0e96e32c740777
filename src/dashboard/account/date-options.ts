/** The choices of time zone and date format. */

import { formatTime } from '../frame/times.tsx';

type Option = [value: string, text: string];

/** Formats that differ. Members who want another set it through the API. */
const LOCALES = [
  'en-GB',
  'en-US',
  'en-CA',
  'en-AU',
  'cs',
  'da',
  'de',
  'el',
  'es',
  'fi',
  'fr',
  'hu',
  'it',
  'ja',
  'ko',
  'nb',
  'nl',
  'pl',
  'pt-BR',
  'pt-PT',
  'ro',
  'ru',
  'sv',
  'tr',
  'uk',
  'zh-CN',
  'zh-TW',
];

/** Each with the date `at` in it. `current` is offered too, even if it is not in the list. */
export function localeOptions(at: string, current: string | null): Option[] {
  const names = new Intl.DisplayNames('en', { type: 'language' });
  return withCurrent(LOCALES, current).map((locale): Option => {
    const example = formatTime(at, { timeZone: 'UTC', locale, day: true });
    return [locale, `${names.of(locale)}: ${example}`];
  });
}

/** The runtime lists some zones under the names that their cities once had. */
const RENAMED: Record<string, string> = {
  'Africa/Asmera': 'Africa/Asmara',
  'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
  'America/Godthab': 'America/Nuuk',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Atlantic/Faeroe': 'Atlantic/Faroe',
  'Europe/Kiev': 'Europe/Kyiv',
  'Pacific/Ponape': 'Pacific/Pohnpei',
  'Pacific/Truk': 'Pacific/Chuuk',
};

/** The zones of the runtime, and UTC. */
export function timeZoneOptions(current: string | null): Option[] {
  const zones = Intl.supportedValuesOf('timeZone')
    .filter((zone) => zone !== 'UTC')
    .map((zone) => (Object.hasOwn(RENAMED, zone) ? RENAMED[zone]! : zone))
    .toSorted();
  return withCurrent(['UTC', ...zones], current).map(
    (zone): Option => [zone, zone.replaceAll('_', ' ')],
  );
}

const withCurrent = (values: string[], current: string | null): string[] =>
  current === null || values.includes(current) ? values : [current, ...values];
