/** State that belongs to an object without being one of its fields, such as a feature's state in one service. */

/**
 * Memoizes `make` per object: the first call for an object creates its value, later calls return it.
 * The value lives as long as the object.
 */
export function memoizePerObject<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const entries = new WeakMap<K, { value: V }>();
  return (key) => {
    let entry = entries.get(key);
    if (!entry) {
      entry = { value: make(key) };
      entries.set(key, entry);
    }
    return entry.value;
  };
}
