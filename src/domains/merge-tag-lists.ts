/** Two proposals for one record made of tags, as DMARC has it, as one: what each of them changes. */

/** `before`: the text that both have changed, empty where there is none. Not for texts without tags. */
export function mergeTagLists(before: string, one: string, other: string): string {
  const [old, first, second] = [tagsOf(before), tagsOf(one), tagsOf(other)];
  // The words of an SPF record are no tags: the first proposal stands.
  if (first.size < 2 || second.size < 2) return one;
  const merged = new Map(first);
  for (const [name, value] of second)
    if (!merged.has(name) ? !old.has(name) : value !== old.get(name)) merged.set(name, value);
  for (const name of old.keys()) if (!second.has(name)) merged.delete(name);
  return [...merged].map(([name, value]) => `${name}=${value}`).join('; ');
}

export function withoutTag(record: string, unwanted: string): string {
  const tags = [...tagsOf(record)].filter(([name]) => name.toLowerCase() !== unwanted);
  return tags.map(([name, value]) => `${name}=${value}`).join('; ');
}

function tagsOf(record: string): Map<string, string> {
  const parts = record.split(';').map((part) => part.trim());
  return new Map(
    parts.flatMap((part) => {
      const equals = part.indexOf('=');
      return equals < 1 ? [] : [[part.slice(0, equals).trim(), part.slice(equals + 1).trim()]];
    }),
  );
}
