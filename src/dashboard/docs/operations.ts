/** Reads the OpenAPI document for the API reference: operations by group, and schemas in words. */

type Amount = `${'min' | 'max'}${'imum' | 'Length' | 'Items' | 'Properties'}`;

/** The subset of JSON Schema that the OpenAPI document uses. */
export interface JsonSchema
  extends Partial<Record<'format' | 'pattern' | 'description', string>>,
    Partial<Record<Amount, number>> {
  type?: string | string[];
  /** The name of a schema in `components`. */
  title?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  additionalProperties?: JsonSchema | boolean;
  propertyNames?: JsonSchema;
  default?: unknown;
  examples?: unknown[];
}

export interface Field {
  name: string;
  schema: JsonSchema;
  required?: boolean;
  description?: string;
}

type Content = Record<string, { schema: JsonSchema }>;

export interface OperationResponse {
  description: string;
  headers?: object;
  content?: Content;
}

export interface Operation {
  /** In upper case. `EVENT` for an event type, whose path is the type. */
  method: string;
  /** With `{parameters}`. */
  path: string;
  /** Also the name of its page. For an event, its type. */
  operationId: string;
  summary: string;
  description?: string;
  tags?: string[];
  /** The roles that may call it. Absent on public operations. */
  'x-roles'?: string[];
  /** The accepted credentials, by the name of their security scheme. */
  security?: Record<string, string[]>[];
  parameters: (Field & { in: 'path' | 'query' | 'header' })[];
  requestBody?: { required?: boolean; content: Content };
  /** By status. */
  responses: Record<string, OperationResponse>;
}

export interface Group {
  title: string;
  description: string;
  operations: Operation[];
}

/** What the API reference shows. */
export interface Reference {
  /** By tag, in the order of the document. */
  groups: Group[];
  /** The requests that deliver events, one for each event type. */
  events: Operation[];
}

type Document = {
  tags?: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, { post: Operation }>;
};

/** Reads a document. References are replaced by what they refer to; schemas keep their name. */
export function readReference(source: Record<string, unknown>): Reference {
  const document = resolveReferences(source) as Document;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  );
  const groups = (document.tags ?? []).map(({ name, description }) => ({
    title: name,
    description,
    operations: operations.filter(({ tags }) => tags?.includes(name)),
  }));
  const events = Object.entries(document.webhooks ?? {}).map(([type, { post }]) => ({
    ...post,
    method: 'EVENT',
    path: type,
    operationId: type,
  }));
  return { groups, events };
}

/** Schemas in `components` get their name as `title`. The document has no recursive references. */
function resolveReferences(document: Record<string, unknown>): unknown {
  const resolved = new Map<string, object>();
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...rest } = value as Record<string, unknown>;
    const own = Object.fromEntries(Object.entries(rest).map(([key, part]) => [key, resolve(part)]));
    return typeof $ref === 'string' ? { ...targetOf($ref), ...own } : own;
  };
  const targetOf = (reference: string): object => {
    const known = resolved.get(reference);
    if (known) return known;
    const path = reference.split('/').slice(1);
    const found = path.reduce<unknown>((part, key) => (part as Json)[key], document);
    const target = {
      ...(path[1] === 'schemas' ? { title: path.at(-1) } : {}),
      ...(resolve(found) as object),
    };
    resolved.set(reference, target);
    return target;
  };
  return resolve(document);
}

type Json = Record<string, unknown>;

/** Removes `null` from the alternatives of a schema and says whether it was one of them. */
export function withoutNull(schema: JsonSchema): { schema: JsonSchema; nullable: boolean } {
  const { anyOf, type, ...rest } = schema;
  if (Array.isArray(type)) {
    const others = type.filter((each) => each !== 'null');
    const nullable = others.length < type.length;
    const values = rest.enum && { enum: rest.enum.filter((value) => value !== null) };
    if (others.length === 1) return { schema: { ...rest, ...values, type: others[0] }, nullable };
  }
  const others = anyOf?.filter((option) => option.type !== 'null');
  if (!anyOf || others?.length !== 1) return { schema, nullable: false };
  return { schema: { ...others[0], ...rest }, nullable: others.length < anyOf.length };
}

/** The alternatives of a value or of the items of an array, if they are objects with names. */
export function alternativesOf(fieldSchema: JsonSchema): JsonSchema[] {
  const { schema } = withoutNull(fieldSchema);
  if (schema.items) return alternativesOf(schema.items);
  return (schema.oneOf ?? schema.anyOf ?? []).filter(({ title }) => title !== undefined);
}

/** `string`, `array of objects`, `integer or null`. */
export function describeType(fieldSchema: JsonSchema): string {
  const { schema, nullable } = withoutNull(fieldSchema);
  return nullable ? `${bareType(schema)} or null` : bareType(schema);
}

function bareType(schema: JsonSchema): string {
  const values = mapValues(schema);
  if (schema.title) return schema.title;
  if (schema.anyOf) return [...new Set(schema.anyOf.map(describeType))].join(' or ');
  if (schema.type === 'array') return `array of ${plural(describeType(schema.items ?? {}))}`;
  if (schema.type === 'object' && values)
    return `object with ${plural(describeType(values))} as values`;
  if (schema.format === 'email') return 'email address';
  if (schema.format === 'uri') return 'URL';
  if (typeof schema.type === 'string')
    return schema.format === 'date-time' ? 'date-time' : schema.type;
  const value = schema.const ?? schema.enum?.[0];
  return value === undefined ? 'any value' : typeof value;
}

const plural = (words: string): string =>
  words.replace(/^(any value|string|number|integer|boolean|object|date-time|array)\b/, '$1s');

/** The schema of the values of a map; undefined for an object with named fields. */
const mapValues = ({ properties, additionalProperties }: JsonSchema): JsonSchema | undefined =>
  !properties && typeof additionalProperties === 'object' ? additionalProperties : undefined;

/** The constraints of a value beyond its type, and its default, with `code` in backticks. */
export function limitsOf(fieldSchema: JsonSchema): string[] {
  const { schema } = withoutNull(fieldSchema);
  const { type, items, pattern, propertyNames } = schema;
  const limits = [
    schema.const !== undefined && `always ${code(schema.const)}`,
    schema.enum && `one of ${schema.enum.map(code).join(', ')}`,
    range(schema.minimum, schema.maximum),
    range(schema.minLength, schema.maxLength, ['character', 'characters']),
    range(schema.minItems, schema.maxItems, ['item', 'items']),
    range(undefined, schema.maxProperties, ['entry', 'entries']),
    // The pattern itself is hard to read.
    pattern?.includes('\\u0000-\\u001f')
      ? 'no control characters'
      : pattern && `matches ${code(pattern)}`,
    ...limitsWithin('names', propertyNames),
    ...limitsWithin('values', type === 'object' ? mapValues(schema) : undefined),
    ...limitsWithin('items', type === 'array' ? items : undefined),
    fieldSchema.default !== undefined && `default ${code(fieldSchema.default)}`,
  ];
  return limits.filter((limit) => typeof limit === 'string');
}

const limitsWithin = (label: string, schema: JsonSchema | undefined): string[] =>
  schema ? limitsOf(schema).map((limit) => `${label}: ${limit}`) : [];

const code = (value: unknown): string =>
  `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;

/** `unit` in the singular and plural. */
function range(
  min: number | undefined,
  max: number | undefined,
  unit?: [one: string, many: string],
): string | false {
  const amount = (value: number) =>
    value.toLocaleString('en') + (unit ? ` ${unit[value === 1 ? 0 : 1]}` : '');
  if (min !== undefined && max !== undefined)
    return `${min.toLocaleString('en')} to ${amount(max)}`;
  if (max !== undefined) return `at most ${amount(max)}`;
  return min !== undefined && `at least ${amount(min)}`;
}

/** The fields of an object, of the items of an array, or of the values of a map. */
export function fieldsOf(fieldSchema: JsonSchema): Field[] {
  const { schema } = withoutNull(fieldSchema);
  const valueSchema = schema.type === 'array' ? schema.items : mapValues(schema);
  if (valueSchema) return fieldsOf(valueSchema);
  if (schema.allOf) return fieldsOf(schema.allOf[0]!);
  return Object.entries(schema.properties ?? {}).map(([name, field]) => ({
    name,
    schema: field,
    required: schema.required?.includes(name) === true,
  }));
}
