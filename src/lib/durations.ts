/** Parses durations (`30s`, `15m`, `2h`, `90d`) and sizes (`64KiB`, `25MiB`), and formats them for users. */

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
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

/** 26214400 → `25 MiB`; 1536 → `1.5 KiB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  // 1024 after rounding becomes 1 of the next unit.
  const [unit] = (['KiB', 'MiB', 'GiB'] as const).filter(
    (name) => name === 'GiB' || Math.round(bytes / UNIT_BYTES[name]) < 1024,
  );
  const value = bytes / UNIT_BYTES[unit!];
  return `${Number(value.toFixed(value < 10 ? 1 : 0))} ${unit}`;
}

/** 93_600_000 → `1 d 2 h`; two units at most. */
export function formatDuration(ms: number): string {
  const units = Object.entries(UNIT_MS).reverse() as [keyof typeof UNIT_MS, number][];
  const parts: string[] = [];
  let rest = Math.max(0, Math.round(ms));
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size);
    if (count > 0 && parts.length < 2) parts.push(`${count} ${unit}`);
    rest -= count * size;
    if (parts.length === 2) break;
  }
  return parts.join(' ') || '0 s';
}
