/** Moves parameters that several operations share to the components. */

import type { Json } from './json-schema.ts';

type Operations = Record<string, Record<string, Json>>;

/**
 * Replaces parameters that occur at least twice by references, and returns them by name. Of different
 * parameters with the same name, the most frequent one is shared.
 */
export function shareParameters(paths: Operations): Record<string, Json> {
  const uses = new Map<string, number>();
  for (const { path, parameter } of parametersOf(paths)) {
    const key = keyOf(path, parameter);
    uses.set(key, (uses.get(key) ?? 0) + 1);
  }
  const shared: Record<string, Json> = {};
  const frequent = [...uses].filter(([, count]) => count > 1).toSorted(([, a], [, b]) => b - a);
  for (const [key] of frequent) {
    const [name, json] = split(key);
    shared[name] ??= JSON.parse(json);
  }
  for (const [path, operations] of Object.entries(paths))
    for (const operation of Object.values(operations))
      operation.parameters = (operation.parameters as Json[]).map((parameter) => {
        const [name, json] = split(keyOf(path, parameter));
        return JSON.stringify(shared[name]) === json
          ? { $ref: `#/components/parameters/${name}` }
          : parameter;
      });
  return shared;
}

function* parametersOf(paths: Operations) {
  for (const [path, operations] of Object.entries(paths))
    for (const { parameters } of Object.values(operations))
      for (const parameter of parameters as Json[]) yield { path, parameter };
}

const keyOf = (path: string, parameter: Json): string =>
  `${componentName(path, parameter)} ${JSON.stringify(parameter)}`;

function split(key: string): [name: string, json: string] {
  const end = key.indexOf(' ');
  return [key.slice(0, end), key.slice(end + 1)];
}

/** `StartingAfter`; for `id` in `/v1/tests/{id}`, `TestId`. Header fields keep their name. */
function componentName(path: string, { name, in: location }: Json): string {
  if (location === 'header') return name as string;
  const [, collection = ''] = path.match(new RegExp(`(\\w+)/\\{${name}\\}`)) ?? [];
  const singular = collection.replace(/ies$/, 'y').replace(/s$/, '');
  const words = location === 'path' && name === 'id' ? `${singular}_id` : String(name);
  return words.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
