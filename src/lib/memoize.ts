/** State that belongs to an object without being one of its fields, such as a feature's state in one service. */

const originals = new WeakMap<object, object>();

/** The copy, which shares the memoized state of the original. */
export function sameStateAs<T extends object>(original: T, copy: T): T {
  originals.set(copy, original);
  return copy;
}

/**
 * Memoizes `make` per object: the first call for an object creates its value, later calls return it.
 * The value lives as long as the object.
 */
export function memoizePerObject<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const entries = new WeakMap<K, { value: V }>();
  return (given) => {
    const key = (originals.get(given) as K | undefined) ?? given;
    let entry = entries.get(key);
    if (!entry) {
      entry = { value: make(key) };
      entries.set(key, entry);
    }
    return entry.value;
  };
}
