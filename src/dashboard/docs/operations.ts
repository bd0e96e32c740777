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

export type Content = Record<string, { schema: JsonSchema }>;

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
