/** What leaves is what is declared: a filter made once from each response schema. */

import type { Schema } from './route.ts';

type Filter = (value: unknown) => unknown;

/** The parts of valibot's schemas that the filter looks at. */
interface Known {
  type: string;
  entries?: Record<string, Known>;
  item?: Known;
  wrapped?: Known;
  options?: Known[];
  pipe?: Known[];
}

const asIs: Filter = (value) => value;

/**
 * A function that copies only declared fields, at every depth. It trusts the types, which the
 * compiler has checked; validating each answer would cost more than making it (tests do validate).
 * Records and unions pass whole: declare objects where something must stay behind.
 */
export function responseFilter(schema: Schema): Filter {
  return filterOf(schema as unknown as Known);
}

function filterOf(schema: Known): Filter {
  switch (schema.type) {
    case 'object':
    case 'strict_object':
      return objectFilter(schema.entries!);
    case 'array': {
      const item = filterOf(schema.item!);
      // What is no array is stored JSON, cut when it was stored.
      return item === asIs ? asIs : (value) => (Array.isArray(value) ? value.map(item) : value);
    }
    case 'nullable':
    case 'optional':
    case 'nullish': {
      const inner = filterOf(schema.wrapped!);
      return inner === asIs ? asIs : (value) => (value == null ? value : inner(value));
    }
    default:
      return asIs;
  }
}

function objectFilter(entries: Record<string, Known>): Filter {
  const fields = Object.entries(entries).map(([key, entry]) => [key, filterOf(entry)] as const);
  return (value) => {
    const source = value as Record<string, unknown>;
    const copy: Record<string, unknown> = {};
    for (const [key, filter] of fields) {
      const field = source[key];
      if (field !== undefined) copy[key] = filter(field);
    }
    return copy;
  };
}
