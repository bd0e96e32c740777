/** How a kind of name server is declared: its settings, and how records are read and replaced there. */

import type * as v from 'valibot';
import type { DnsCommand } from '../config/dns-commands.ts';
import type { Network } from '../lib/addresses.ts';
import type { Clock } from '../lib/clock.ts';
import type { Resolver } from '../net/dns/resolver.ts';
import type { Dial } from '../net/guarded-connection.ts';
import type { WebClient } from '../net/http/web.ts';

/** Of sets that a server does not have yet, in seconds. */
export const DEFAULT_TTL = 3600;

export interface RecordSet {
  /** In lower case, without a trailing dot. */
  name: string;
  type: string;
  /**
   * As the resolver returns them: TXT decoded, others such as `10 mx.example.com` and `0 issue "ca.example"`.
   */
  values: string[];
  /** In seconds. */
  ttl: number;
}

/** Where current records are read: a name server, or a resolver. Its functions reject with a DnsServerError. */
export interface RecordSource {
  /** Null if it does not hold the name. */
  zoneOf(name: string): Promise<string | null>;
  /** The alias of a name is a record of the type CNAME, and is not followed. */
  read(zone: string, name: string, type: string): Promise<RecordSet>;
  /**
   * The types that the name has only by a wildcard (RFC 4592), and loses with its first record, or the first one
   * below it. Left out where this cannot be told.
   */
  wildcardTypes?(zone: string, name: string): Promise<string[]>;
  /** The same source, which requests each part of a zone only once. */
  forPlan?(): RecordSource;
}

/** The types for which wildcards are in use. */
export const WILDCARD_TYPES = ['A', 'AAAA', 'MX', 'TXT', 'CNAME'];

/** With the credentials of an administrator. It answers from its own data, not from a cache. */
export interface NameServer extends RecordSource {
  /** All or nothing. Rejects with the problem `changed` if the set is no longer `before`. */
  replace(zone: string, before: RecordSet, after: RecordSet): Promise<void>;
  /** Rejects if the credentials do not work. The zones that they are for, as far as the server tells. */
  check(): Promise<{ zones: string[] }>;
}

export interface ServerKind {
  /** For people. */
  name: string;
  hint: string;
  /** Only the configuration of the service can add a server of this kind. */
  isConfigured?: boolean;
  fields: ServerField[];
  /** Connects only when a function of the server is called. The settings are complete and valid. */
  open(settings: Record<string, string>, context: ServerContext): NameServer;
}

export interface ServerField {
  name: string;
  kind: 'text' | 'choice';
  /** The first is the default. */
  choices?: string[];
  /** Encrypted and never shown again. */
  isSecret: boolean;
  isRequired: boolean;
  label: string;
  hint: string;
  placeholder?: string;
  /** In the API. */
  example: string;
  /** Validates and normalizes. Its messages follow the name of the field: "must be …". */
  schema: v.GenericSchema<string, string>;
}

export interface ServerContext {
  resolver: Resolver;
  web: WebClient;
  clock: Clock;
  allowNetworks: Network[];
  ca?: string[];
  /** Of the configuration. */
  command?: DnsCommand | undefined;
  signal?: AbortSignal;
  dial?: Dial;
}

export type DnsServerProblem =
  | 'bad_credentials'
  /** The clocks of this machine and of the server differ too much. */
  | 'wrong_time'
  | 'refused'
  | 'changed'
  | 'no_such_zone'
  | 'invalid_record'
  | 'rate_limited'
  | 'unreachable'
  | 'timeout'
  | 'server_failed'
  | 'bad_response';

/** The message says what happened and what to do. It contains no secret. */
export class DnsServerError extends Error {
  readonly problem: DnsServerProblem;
  /** Only reading the records tells whether they were changed. */
  readonly mayHaveChanged: boolean;
  readonly retryAfterMs: number | null;
  constructor(
    problem: DnsServerProblem,
    message: string,
    { mayHaveChanged = false, retryAfterMs = null as number | null } = {},
  ) {
    super(message);
    this.problem = problem;
    this.mayHaveChanged = mayHaveChanged;
    this.retryAfterMs = retryAfterMs;
  }
}

/** In any order and with any TTL. A text that is divided into strings in two ways, which is two records, counts once. */
export function hasSameValues(a: RecordSet, b: RecordSet): boolean {
  const sorted = ({ values }: RecordSet) => JSON.stringify([...new Set(values)].toSorted());
  return sorted(a) === sorted(b);
}

export const changedSince = ({ name, type }: Pick<RecordSet, 'name' | 'type'>): DnsServerError =>
  new DnsServerError(
    'changed',
    `${type} at ${name} has changed since the plan was made. Nothing was written. Make a new plan.`,
  );
