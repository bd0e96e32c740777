/** Parses durations (`30s`, `15m`, `2h`, `90d`) and sizes (`64KiB`, `25MiB`), and formats them for users. */

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const UNIT_MS = { ms: 1, s: 1000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS } as const;
const UNIT_BYTES = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

/** Milliseconds, or null for an invalid duration. `0` needs no unit. */
export function parseDuration(text: string): number | null {
  if (text === '0') return 0;
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text);
  return match ? Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS] : null;
}

/** Bytes, or null for an invalid size. A number without a unit is bytes. */
export function parseSize(text: string): number | null {
  const match = /^(\d{1,12})(B|KiB|MiB|GiB)?$/.exec(text);
  return match ? Number(match[1]) * UNIT_BYTES[(match[2] ?? 'B') as keyof typeof UNIT_BYTES] : null;
}

/** 26_214_400 → `26 MB`; 1536 → `1.5 KB`. Units are decimal, as in the limits of mailbox providers. */
export function formatSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  // 1000 after rounding becomes 1 of the next unit.
  const [unit, size] = DISPLAY_UNITS.find(([, size]) => Math.round(bytes / size) < 1000) ?? [
    'GB',
    1e9,
  ];
  const value = bytes / size;
  return `${Number(value.toFixed(value < 10 ? 1 : 0))} ${unit}`;
}

const DISPLAY_UNITS: [unit: string, bytes: number][] = [
  ['KB', 1e3],
  ['MB', 1e6],
];

/** 93_600_000 → `1 d 2 h`; 90_000 → `1 min 30 s`; two units at most. */
export function formatDuration(ms: number): string {
  const units = Object.entries(UNIT_MS).reverse() as [keyof typeof UNIT_MS, number][];
  const parts: string[] = [];
  let rest = Math.max(0, Math.round(ms));
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size);
    if (count > 0 && parts.length < 2) parts.push(`${count} ${unit === 'm' ? 'min' : unit}`);
    rest -= count * size;
    if (parts.length === 2) break;
  }
  return parts.join(' ') || '0 s';
}
