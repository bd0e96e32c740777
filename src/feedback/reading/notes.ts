/** Notes about a report: what was repaired to read it, and which values are invalid, as short phrases. */

/** A hostile file can have a different wrong value in each of its records. */
const MAX_VALUES = 3;
const MAX_VALUE = 60;

export class Notes {
  readonly #phrases = new Set<string>();
  readonly #values = new Map<string, { values: Set<string>; more: number }>();

  add(phrase: string): void {
    this.#phrases.add(phrase);
  }

  /** `what`: what is wrong and how it counts, such as "an invalid session count, which counts as 0". */
  addValue(what: string, value: unknown): void {
    const found = this.#values.get(what) ?? { values: new Set(), more: 0 };
    this.#values.set(what, found);
    const text = `“${shown(value).slice(0, MAX_VALUE)}”`;
    if (found.values.size < MAX_VALUES) found.values.add(text);
    else if (!found.values.has(text)) found.more += 1;
  }

  list(): string[] {
    const named = [...this.#values].map(([what, { values, more }]) => {
      const list = [...values].join(', ');
      return `${what}: ${list}${more > 0 ? ` and ${more} more` : ''}`;
    });
    return [...this.#phrases, ...named].sort();
  }
}

const shown = (value: unknown): string => {
  if (typeof value === 'string') return value.trim();
  return typeof value === 'object' && value !== null ? '{…}' : String(value);
};
