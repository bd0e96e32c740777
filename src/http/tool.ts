/** The declaration of a tool: what an assistant can do through MCP. A feature declares its tools beside its operations. */

import type * as v from 'valibot';
import type { AppError } from '../lib/errors.ts';
import { type Actor, allows, ROLES, type Role } from './actor.ts';
import { isOpenTo } from './limited.ts';
import {
  type Invocation,
  type ResultOf,
  type Route,
  requiresLiveMode,
  type Schema,
} from './route.ts';

/** What a tool gets. The same tool works in the service and, over HTTPS, in the command. */
export interface ToolCall {
  /** Calls an operation with the credentials of the client. Rejects with an AppError. */
  invoke<T extends Route>(route: T, invocation?: Invocation<T>): Promise<ResultOf<T>>;
  /** Aborts when the client cancels the call, or disconnects. */
  signal: AbortSignal;
  /** Tells a client that asks for it how far a long call is, in a few words. */
  progress(message: string): void;
  /** Whether the client has this tool, so that an answer can name it. */
  has(tool: string): boolean;
}

export interface ToolAnswer {
  /** For the model, in plain text. `answerText` keeps it short and clean. */
  text: string;
  /** Where the model can read what the text leaves out. */
  links?: ToolLink[];
  /** The response of the operation in `answers`. */
  data?: object;
}

/** The JSON of an operation, as a resource of MCP. */
export interface ToolLink {
  uri: string;
  /** A short name, such as "The whole test". */
  name: string;
}

export interface ToolSpec<S extends Schema> {
  /** In snake_case: a verb and its object. It never changes. */
  name: string;
  /** The name for people, such as "Get a test". */
  title: string;
  /** When to use it and what it answers. Clients do not get sentences that name a tool that they do not have. */
  description: string;
  /** A strict object. Its fields come from the schemas of the operations where they are the same. */
  input: S;
  /** The operations that it always needs. They decide which roles and keys have the tool. */
  uses: Route[];
  /** GET operations with a JSON response, which resources return as a whole. */
  resources?: Route[];
  /** Every answer is one response of this operation. Clients that ask for structured content get it beside the text. */
  answers?: Route;
  /**
   * `creates`: makes an object, such as a test, and changes none. `writes`: changes settings, so only clients that ask
   * for such tools get it. Without it, the tool only reads.
   */
  effect?: 'creates' | 'writes';
  /** The same call again changes nothing more. */
  isRepeatable?: true;
  /** It deletes or replaces something. */
  destroys?: true;
  run(input: v.InferOutput<S>, call: ToolCall): Promise<ToolAnswer>;
}

/** A declared tool with erased types. */
export type Tool = Omit<ToolSpec<Schema>, 'run'> & {
  run(input: unknown, call: ToolCall): Promise<ToolAnswer>;
};

export function tool<const S extends Schema>(spec: ToolSpec<S>): Tool {
  return spec as unknown as Tool;
}

type Client = Pick<Actor, 'role' | 'livemode' | 'tags'>;

/** Whether a client with this key can use what a tool or a resource needs. */
export const isAvailable = (routes: Route[], client: Client): boolean =>
  allows(client.role, requiredRole(routes)) &&
  routes.every((route) => isOpenTo(route, client)) &&
  (client.livemode || !routes.some(requiresLiveMode));

/** The lowest role that may call all of these operations. */
export const requiredRole = (routes: Route[]): Role =>
  ROLES.find((role) =>
    routes.every((route) => route.role === 'public' || allows(role, route.role)),
  )!;

// Resources: the path of an operation without its version, below `deliverability://`.

export const RESOURCE_SCHEME = 'deliverability://';

/** The URI template (RFC 6570) of a resource, such as `deliverability://tests/{id}`. */
export const resourceTemplate = ({ path }: Pick<Route, 'path'>): string =>
  RESOURCE_SCHEME + path.replace(/^\/v1\//, '').replace(/:(\w+)/g, '{$1}');

/** A link to the resource of an operation. */
export const linkTo = (route: Route, params: Record<string, string>, name: string): ToolLink => ({
  name,
  uri: resourceTemplate(route).replace(/\{(\w+)\}/g, (_, key: string) =>
    encodeURIComponent(params[key]!),
  ),
});

/** The path parameters in the URI of a resource; null if it is another one, or is malformed. */
export function resourceParams(route: Route, uri: string): Record<string, string> | null {
  const names: string[] = [];
  const pattern = resourceTemplate(route).replace(/\{(\w+)\}|[.?*+^$()|[\]\\]/g, (text, name) => {
    if (name === undefined) return `\\${text}`;
    names.push(name);
    return '([^/?#]+)';
  });
  const match = new RegExp(`^${pattern}$`).exec(uri);
  if (!match) return null;
  try {
    return Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(match[i + 1]!)]));
  } catch {
    return null;
  }
}

const ADVICE: Partial<Record<AppError['code'], string>> = {
  unauthenticated: 'Ask the user for a new API key of the service.',
  forbidden:
    'Ask the user for a key with a higher role, or ask them to do this in the web application.',
  live_mode_required: 'Ask the user for a live key.',
  not_found: 'List the objects first, and use an ID from the list.',
  unavailable: 'Try again in a few seconds.',
  conflict: 'Read the current state first.',
};

/** An error as the answer of a tool: what happened, and what to do. */
export function errorText({ code, detail, params }: AppError): string {
  const faults = params.length > 1 ? params.map((p) => `- ${p.param}: ${p.message}`) : [];
  const advice = ADVICE[code];
  return [detail, ...faults, ...(advice ? [advice] : [])].join('\n');
}
