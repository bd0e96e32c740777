/** State that belongs to an object without being a field of it, such as what a feature keeps for one service. */

/**
 * A function that makes the value of an object when it is first asked for it, and gives the same one
 * from then on. The value lives as long as the object.
 */
export function oncePer<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, { value: V }>();
  return (key) => {
    let entry = made.get(key);
    if (!entry) {
      entry = { value: make(key) };
      made.set(key, entry);
    }
    return entry.value;
  };
}
