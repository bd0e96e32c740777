/** Finds what is registered for a path, by its segments: `/tests/:id`, or with a suffix as in `/badges/:name.svg`. */

interface Entry<T> {
  method: string;
  value: T;
  /** The names of the parameters in the order of the path. */
  names: string[];
  /** Its place in the order in which the entries were added. */
  order: number;
}

interface Node<T> {
  fixed: Map<string, Node<T>>;
  /** Segments with a parameter, by what follows it. */
  variable: Map<string, Node<T>>;
  entries: Entry<T>[];
}

export interface RouteMatch<T> {
  method: string;
  value: T;
  /** Not decoded. */
  params: Record<string, string>;
}

export interface RouteTable<T> {
  add(method: string, path: string, value: T): void;
  /** All entries for the path, of any method, in the order in which they were added. */
  match(pathname: string): RouteMatch<T>[];
}

export function createRouteTable<T>(): RouteTable<T> {
  const root = createNode<T>();
  let count = 0;
  return {
    add(method, path, value) {
      const names: string[] = [];
      let node = root;
      for (const segment of segmentsOf(path)) {
        const [, name, suffix = ''] = /^:(\w+)(.*)$/.exec(segment) ?? [];
        if (name === undefined) node = childOf(node.fixed, segment);
        else {
          names.push(name);
          node = childOf(node.variable, suffix);
        }
      }
      node.entries.push({ method, value, names, order: count++ });
    },
    match(pathname) {
      const found: Found<T>[] = [];
      collect(root, segmentsOf(pathname), [], found);
      if (found.length > 1) found.sort((a, b) => a.entry.order - b.entry.order);
      return found.map(({ entry: { method, value, names }, values }) => ({
        method,
        value,
        params: Object.fromEntries(names.map((name, i) => [name, values[i]!])),
      }));
    },
  };
}

const createNode = <T>(): Node<T> => ({ fixed: new Map(), variable: new Map(), entries: [] });

function childOf<T>(nodes: Map<string, Node<T>>, key: string): Node<T> {
  const node = nodes.get(key) ?? createNode<T>();
  nodes.set(key, node);
  return node;
}

/** Without the leading slash, and without any slashes at the end. */
function segmentsOf(path: string): string[] {
  let end = path.length;
  while (end > 0 && path[end - 1] === '/') end -= 1;
  return end === 0 ? [] : path.slice(1, end).split('/');
}

interface Found<T> {
  entry: Entry<T>;
  values: string[];
}

/** Adds what matches the segments after the first `values.length` parameters and their fixed segments. */
function collect<T>(
  node: Node<T>,
  [segment, ...rest]: string[],
  values: string[],
  found: Found<T>[],
): void {
  if (segment === undefined) {
    for (const entry of node.entries) found.push({ entry, values });
    return;
  }
  const fixed = node.fixed.get(segment);
  if (fixed) collect(fixed, rest, values, found);
  for (const [suffix, next] of node.variable)
    if (segment.length > suffix.length && segment.endsWith(suffix)) {
      const value = segment.slice(0, segment.length - suffix.length);
      collect(next, rest, [...values, value], found);
    }
}
