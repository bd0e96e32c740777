/** Reads the OpenAPI document for the API reference: operations by group, and schemas in words. */

type Amount = `${'min' | 'max'}${'imum' | 'Length' | 'Items' | 'Properties'}`;

/** The subset of JSON Schema that the OpenAPI document uses. */
export interface JsonSchema
  extends Partial<Record<'type' | 'format' | 'pattern' | 'description', string>>,
    Partial<Record<Amount, number>> {
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
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
  /** In upper case. */
  method: string;
  /** With `{parameters}`. */
  path: string;
  /** Also the anchor on the page. */
  operationId: string;
  summary: string;
  description?: string;
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
  id: string;
  title: string;
  operations: Operation[];
}

/** Group titles in the order of the page, by the path segment after the version. */
const TITLES: Record<string, string> = {
  tests: 'Tests',
  domains: 'Domains',
  monitors: 'Monitors',
  alerts: 'Alerts',
  reports: 'Reports',
  events: 'Events',
  webhooks: 'Webhooks',
  me: 'Your account',
  team: 'Team',
  api_keys: 'API keys',
  sessions: 'Sessions and passwords',
  password_resets: 'Sessions and passwords',
  audit_log: 'Audit log',
};
const HEALTH = 'Health';
const ORDER = [...new Set(Object.values(TITLES))];

/** All operations of the document by group. Groups without a title in `TITLES` come before Health. */
export function readOperations(document: Record<string, unknown>): Group[] {
  const paths = document.paths as Record<string, Record<string, Operation>>;
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  );
  const rank = (title: string) => (title === HEALTH ? 1000 : ORDER.indexOf(title) + 1 || 999);
  return [...Map.groupBy(all, ({ path }) => groupTitle(path))]
    .sort(([a], [b]) => rank(a) - rank(b))
    .map(([title, operations]) => ({
      id: `group-${title.toLowerCase().replaceAll(' ', '-')}`,
      title,
      operations,
    }));
}

function groupTitle(path: string): string {
  const [version, segment = ''] = path.split('/').slice(1);
  if (version !== 'v1' || ['status', 'capabilities'].includes(segment)) return HEALTH;
  const words = segment.replaceAll('_', ' ');
  return TITLES[segment] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** Removes `null` from the alternatives of a schema and says whether it was one of them. */
export function withoutNull(schema: JsonSchema): { schema: JsonSchema; nullable: boolean } {
  const { anyOf, ...rest } = schema;
  const others = anyOf?.filter(({ type }) => type !== 'null');
  if (!anyOf || others?.length !== 1) return { schema, nullable: false };
  return { schema: { ...rest, ...others[0] }, nullable: others.length < anyOf.length };
}

/** `string`, `array of objects`, `integer or null`. */
export function describeType(given: JsonSchema): string {
  const { schema, nullable } = withoutNull(given);
  return nullable ? `${bareType(schema)} or null` : bareType(schema);
}

function bareType(schema: JsonSchema): string {
  const values = mapValues(schema);
  if (schema.anyOf) return [...new Set(schema.anyOf.map(describeType))].join(' or ');
  if (schema.type === 'array') return `array of ${plural(describeType(schema.items ?? {}))}`;
  if (schema.type === 'object' && values)
    return `object with ${plural(describeType(values))} as values`;
  if (schema.format === 'email') return 'email address';
  if (schema.type) return schema.format === 'date-time' ? 'date-time' : schema.type;
  const value = schema.const ?? schema.enum?.[0];
  return value === undefined ? 'any value' : typeof value;
}

const plural = (words: string): string =>
  words.replace(/^(any value|string|number|integer|boolean|object|date-time|array)\b/, '$1s');

/** The schema of the values of a map; undefined for an object with named fields. */
const mapValues = ({ properties, additionalProperties }: JsonSchema): JsonSchema | undefined =>
  !properties && typeof additionalProperties === 'object' ? additionalProperties : undefined;

/** The constraints of a value beyond its type, and its default, with `code` in backticks. */
export function limitsOf(given: JsonSchema): string[] {
  const { schema } = withoutNull(given);
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
    given.default !== undefined && `default ${code(given.default)}`,
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
export function fieldsOf(given: JsonSchema): Field[] {
  const { schema } = withoutNull(given);
  const inner = schema.type === 'array' ? schema.items : mapValues(schema);
  if (inner) return fieldsOf(inner);
  return Object.entries(schema.properties ?? {}).map(([name, field]) => ({
    name,
    schema: field,
    required: schema.required?.includes(name) === true,
  }));
}
