/** The OpenAPI document read for people: its operations, in groups, in the order in which one needs them. */

/** The part of JSON Schema that our documents use. */
export interface JsonSchema {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  additionalProperties?: JsonSchema | boolean;
  propertyNames?: JsonSchema;
  default?: unknown;
  format?: string;
  pattern?: string;
  description?: string;
  examples?: unknown[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: JsonSchema;
}

type Content = Record<string, { schema: JsonSchema }>;

export interface Answer {
  description: string;
  headers?: object;
  content?: Content;
}

export interface Operation {
  /** `GET`, and the path with its `{parts}`. */
  method: string;
  path: string;
  /** The anchor too. */
  operationId: string;
  summary: string;
  /** What a line does not say. */
  description?: string;
  /** None where anybody may, without credentials. */
  'x-roles'?: string[];
  /** The ways to say who asks, each by the name of its scheme. */
  security?: Record<string, string[]>[];
  parameters: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  /** By status. */
  responses: Record<string, Answer>;
}

export interface Group {
  id: string;
  title: string;
  operations: Operation[];
}

/** Groups by what follows the version in the path; one without an entry is named after that. */
const TITLES: Record<string, string> = {
  tests: 'Tests',
  domains: 'Domains',
  monitors: 'Monitors',
  alerts: 'Alerts',
  reports: 'Reports',
  events: 'Events',
  webhooks: 'Webhooks',
  webhook_endpoints: 'Webhooks',
  me: 'You',
  team: 'Team',
  api_keys: 'API keys',
  sessions: 'Sessions and passwords',
  password_resets: 'Sessions and passwords',
  audit_log: 'Audit log',
};
const ORDER = [...new Set(Object.values(TITLES))];
const HEALTH = 'Health';

/** Every operation of the document, grouped. */
export function readOperations(document: Record<string, unknown>): Group[] {
  const groups = new Map<string, Operation[]>();
  const paths = document.paths as Record<string, Record<string, Operation>>;
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods)) {
      const title = groupOf(path);
      const operations = groups.get(title) ?? [];
      groups.set(title, operations);
      operations.push({ ...operation, method: method.toUpperCase(), path });
    }
  return [...groups]
    .sort(([a], [b]) => rank(a) - rank(b))
    .map(([title, operations]) => ({ id: anchorOf(title), title, operations }));
}

function groupOf(path: string): string {
  const [version, segment = ''] = path.split('/').slice(1);
  if (version !== 'v1' || ['status', 'capabilities'].includes(segment)) return HEALTH;
  const words = segment.replaceAll('_', ' ');
  return TITLES[segment] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** Those without a place of their own stand behind the others, and what machines ask for is last. */
function rank(title: string): number {
  if (title === HEALTH) return ORDER.length + 1;
  const place = ORDER.indexOf(title);
  return place < 0 ? ORDER.length : place;
}

const anchorOf = (title: string): string => `group-${title.toLowerCase().replaceAll(' ', '-')}`;

// What a JSON schema says, in words: the type, the limits, the fields below.

/** The schema without "or null", and whether null may stand there too. */
export function withoutNull(schema: JsonSchema): { schema: JsonSchema; nullable: boolean } {
  const { anyOf, ...rest } = schema;
  const others = anyOf?.filter(({ type }) => type !== 'null');
  if (!anyOf || others?.length !== 1) return { schema, nullable: false };
  return { schema: { ...rest, ...others[0] }, nullable: others.length < anyOf.length };
}

/** `string`, `list of objects`, `integer or null`. */
export function typeWords(given: JsonSchema): string {
  const { schema, nullable } = withoutNull(given);
  return nullable ? `${bareType(schema)} or null` : bareType(schema);
}

function bareType(schema: JsonSchema): string {
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeWords))].join(' or ');
  if (schema.type === 'array') return `list of ${plural(typeWords(schema.items ?? {}))}`;
  if (schema.type === 'object' && isMap(schema))
    return `object with ${plural(typeWords(valuesOf(schema)))} as values`;
  if (schema.type) return FORMATS[schema.format ?? ''] ?? schema.type;
  const value = schema.const ?? schema.enum?.[0];
  return value === undefined ? 'any value' : typeof value;
}

const FORMATS: Record<string, string> = {
  'date-time': 'date-time',
  email: 'e-mail address',
};

const plural = (words: string): string =>
  words === 'any value'
    ? 'any values'
    : words.replace(/^(string|number|integer|boolean|object|date-time|list)\b/, '$1s');

const isMap = ({ properties, additionalProperties }: JsonSchema): boolean =>
  !properties && typeof additionalProperties === 'object';

/** What a value for any name must be. */
function valuesOf({ additionalProperties }: JsonSchema): JsonSchema {
  return typeof additionalProperties === 'object' ? additionalProperties : {};
}

/** A limit in words; the part that is to be typed letter by letter stands alone. */
export interface Limit {
  words: string;
  codes?: string[];
}

/** Everything that a value must keep to beyond its type, and what stands for one that is not given. */
export function limitsOf(given: JsonSchema): Limit[] {
  const { schema } = withoutNull(given);
  const limits: (Limit | null)[] = [
    schema.const === undefined ? null : { words: 'always', codes: [String(schema.const)] },
    schema.enum ? { words: 'one of', codes: schema.enum.map(String) } : null,
    range(schema.minimum, schema.maximum, ''),
    range(schema.minLength, schema.maxLength, ' characters'),
    range(schema.minItems, schema.maxItems, ' items'),
    range(undefined, schema.maxProperties, ' entries'),
    schema.pattern ? patternLimit(schema.pattern) : null,
    ...below('names', schema.propertyNames),
    ...below('values', schema.type === 'object' && isMap(schema) ? valuesOf(schema) : undefined),
    ...below('each', schema.type === 'array' ? schema.items : undefined),
    given.default === undefined ? null : { words: 'default', codes: [said(given.default)] },
  ];
  return limits.filter((limit) => limit !== null);
}

const said = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

const below = (whose: string, schema: JsonSchema | undefined): Limit[] =>
  schema ? limitsOf(schema).map((limit) => ({ ...limit, words: `${whose}: ${limit.words}` })) : [];

function range(least: number | undefined, most: number | undefined, unit: string): Limit | null {
  const write = (value: number) => value.toLocaleString('en');
  if (least !== undefined && most !== undefined)
    return { words: `${write(least)} to ${write(most)}${unit}` };
  if (most !== undefined) return { words: `at most ${write(most)}${unit}` };
  return least === undefined ? null : { words: `at least ${write(least)}${unit}` };
}

/** The pattern of names says in signs what is said better in words. */
function patternLimit(pattern: string): Limit {
  return pattern.includes('\\u0000-\\u001f')
    ? { words: 'no control characters' }
    : { words: 'matches', codes: [pattern] };
}

export interface Field {
  name: string;
  schema: JsonSchema;
  required: boolean;
}

/** The fields of an object, of the items of a list, or of the values of a map. */
export function fieldsOf(given: JsonSchema): Field[] {
  const { schema } = withoutNull(given);
  if (schema.type === 'array') return schema.items ? fieldsOf(schema.items) : [];
  if (isMap(schema)) return fieldsOf(valuesOf(schema));
  return Object.entries(schema.properties ?? {}).map(([name, field]) => ({
    name,
    schema: field,
    required: schema.required?.includes(name) === true,
  }));
}
