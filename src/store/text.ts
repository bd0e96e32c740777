/** Text that both databases can store. */

/**
 * Replaces what PostgreSQL rejects (NUL) and what UTF-8 cannot encode (lone surrogates) with U+FFFD.
 * SQLite accepts some of it, but both must return the same text.
 */
export function cleanText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\uFFFD') : wellFormed;
}

/** Query compilers pass every parameter through this function, including those of `sql` templates. */
export const cleanParameter = (value: unknown): unknown =>
  typeof value === 'string' ? cleanText(value) : value;
