/** Finds the entries whose domain a name is, or is below, without a comparison with each. */

/**
 * A function that lists the entries with a suffix of the name, in the order of `entries`. Compares whole labels and
 * exact case, like `hasSuffix`.
 */
export function suffixIndex<T>(
  entries: readonly (readonly [entry: T, suffixes: readonly string[] | undefined])[],
): (name: string) => T[] {
  const bySuffix = new Map<string, number[]>();
  for (const [index, [, suffixes = []]] of entries.entries())
    for (const suffix of suffixes) {
      const indexes = bySuffix.get(suffix);
      if (indexes) indexes.push(index);
      else bySuffix.set(suffix, [index]);
    }
  return (name) => {
    let found: number[] | null = null;
    for (let at = 0; at >= 0; ) {
      const indexes = bySuffix.get(at === 0 ? name : name.slice(at));
      if (indexes) found = found === null ? indexes : [...found, ...indexes];
      const dot = name.indexOf('.', at);
      at = dot < 0 ? -1 : dot + 1;
    }
    if (found === null) return [];
    return [...new Set(found)].sort((a, b) => a - b).map((index) => entries[index]![0]);
  };
}
