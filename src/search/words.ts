/** Matches the words of a search with short texts, such as the titles of pages. */

/** An entry that can be found by its title or by other words. */
export interface Entry {
  title: string;
  /** Further text that is searched. */
  words: string;
}

/** Entries that contain all words of the search, in any order; first those whose title begins with it. */
export function matching<E extends Entry>(entries: E[], q: string): E[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = ({ title }: Entry): number => {
    const text = title.toLowerCase();
    if (text.startsWith(words.join(' '))) return 0;
    return words.every((word) => text.includes(word)) ? 1 : 2;
  };
  return entries
    .filter((entry) => {
      const text = `${entry.title} ${entry.words}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .map((entry) => ({ entry, rank: rank(entry) }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ entry }) => entry);
}
