/** Sends what is said in one turn of the event loop as one message: each costs far more than its size. */

/** A function that collects items and hands them over together at the end of the turn, in order. */
export function batched<T>(post: (items: T[]) => void): (item: T) => void {
  let items: T[] = [];
  const flush = () => {
    const now = items;
    items = [];
    post(now);
  };
  return (item) => {
    if (items.length === 0) setImmediate(flush);
    items.push(item);
  };
}
