/** Metadata as text with one pair per line, to edit it in a form. */

type Metadata = Record<string, string>;

/** Null if lines can't express it, such as a value with a line break. */
export function toLines(metadata: Metadata): string | null {
  const text = Object.entries(metadata)
    .map(([key, value]) => `${key} = ${value}`)
    .join('\n');
  const parsed = fromLines(text);
  const isSame = JSON.stringify(parsed.metadata) === JSON.stringify(metadata);
  return parsed.error === null && isSame ? text : null;
}

/** `error` is a sentence about the first line that is no pair. Empty lines are ignored. */
export function fromLines(text: string): { metadata: Metadata; error: string | null } {
  const pairs = new Map<string, string>();
  for (const [index, line] of text.split(/\r\n|\r|\n/).entries()) {
    if (line.trim() === '') continue;
    const equals = line.indexOf('=');
    const key = line.slice(0, Math.max(equals, 0)).trim();
    if (key === '') return failed(index, 'is not a pair. Write it as key = value');
    if (pairs.has(key)) return failed(index, 'repeats a key');
    pairs.set(key, line.slice(equals + 1).trim());
  }
  return { metadata: Object.fromEntries(pairs), error: null };
}

const failed = (index: number, what: string) => ({
  metadata: {},
  error: `Line ${index + 1} ${what}.`,
});
