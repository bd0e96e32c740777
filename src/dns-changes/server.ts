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

/** All records of one type at one name. */
export interface RecordSet {
  /** In lower-case A-labels, without a trailing dot. */
  name: string;
  type: string;
  /**
   * Empty if there are none. TXT: the text of each record, without quotes. Others in presentation format, as the
   * resolver returns them: `10 mx.example.com`, `0 issue "ca.example"`.
   */
  values: string[];
  /** In seconds. A server may have a special value, such as 1 for “automatic” at Cloudflare. */
  ttl: number;
}

/** Where current records are read: a name server, or a resolver. Its functions reject with a DnsServerError. */
export interface RecordSource {
  /** The zone in which the name is; null if it holds none. */
  zoneOf(name: string): Promise<string | null>;
  /** The alias of a name is a record of the type CNAME, and is not followed. */
  read(zone: string, name: string, type: string): Promise<RecordSet>;
  /**
   * The types of records that the name has only by a wildcard (RFC 4592), and loses with its first record, or with the
   * first one below it. Left out where this cannot be told.
   */
  wildcardTypes?(zone: string, name: string): Promise<string[]>;
  /** The same source for one plan: it requests each part of a zone only once. */
  forPlan?(): RecordSource;
}

/** The types for which wildcards are in use. */
export const WILDCARD_TYPES = ['A', 'AAAA', 'MX', 'TXT', 'CNAME'];

/** A name server with the credentials of an administrator. It answers from its own data, not from a cache. */
export interface NameServer extends RecordSource {
  /** All or nothing. Rejects with the problem `changed` if the set is no longer `before`. */
  replace(zone: string, before: RecordSet, after: RecordSet): Promise<void>;
  /** Rejects if the credentials do not work. The zones that they are for, as far as the server tells. */
  check(): Promise<{ zones: string[] }>;
}

/** A kind of name server has its own file, and a line in `servers/index.ts` with its id. */
export interface ServerKind {
  /** For people: "Cloudflare". */
  name: string;
  /** Below its option in the form. */
  hint: string;
  /** Only the configuration of the service can add a server of this kind. */
  isConfigured?: boolean;
  fields: ServerField[];
  /** Connects only when a function of the server is called. The settings are complete and valid. */
  open(settings: Record<string, string>, context: ServerContext): NameServer;
}

/** A setting of a server, with all words about it. */
export interface ServerField {
  /** In the API and the form, such as `key_secret`. */
  name: string;
  kind: 'text' | 'choice';
  /** Of the kind `choice`. The first is the default. */
  choices?: string[];
  /** Encrypted and never shown again. */
  isSecret: boolean;
  isRequired: boolean;
  label: string;
  hint: string;
  placeholder?: string;
  /** The description in the API, and an example. */
  documentation: string;
  example: string;
  /** Validates and normalizes. Its messages follow the name of the field: "must be …". */
  schema: v.GenericSchema<string, string>;
}

/** What servers need of the service. */
export interface ServerContext {
  resolver: Resolver;
  web: WebClient;
  clock: Clock;
  /** Networks that are allowed although they are not public. */
  allowNetworks: Network[];
  /** Certificate authorities (PEM) that servers of the team may use. */
  ca?: string[];
  /** Of the configuration. */
  command?: DnsCommand | undefined;
  /** Ends requests early. */
  signal?: AbortSignal;
  /** Replaced in tests. */
  dial?: Dial;
}

export type DnsServerProblem =
  /** The server does not accept the key or token. */
  | 'bad_credentials'
  /** The clocks of this machine and of the server differ too much. */
  | 'wrong_time'
  /** The credentials are valid, but not for this. */
  | 'refused'
  /** The records are no longer what they were when the change was planned. */
  | 'changed'
  /** The server does not hold the zone. */
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
  /** Whether a change may have been made although it failed: read the records to know. */
  readonly mayHaveChanged: boolean;
  /** How long the server asks to wait; null if it doesn’t say. */
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

/**
 * Whether both have the same values, in any order. Their TTLs may differ. A value counts once: a text that is divided into
 * strings in two ways is two TXT records.
 */
export function hasSameValues(a: RecordSet, b: RecordSet): boolean {
  const sorted = ({ values }: RecordSet) => JSON.stringify([...new Set(values)].toSorted());
  return sorted(a) === sorted(b);
}

/** Nothing is done if anything has changed since the plan. */
export const changedSince = ({ name, type }: Pick<RecordSet, 'name' | 'type'>): DnsServerError =>
  new DnsServerError(
    'changed',
    `${type} at ${name} has changed since the plan was made. Nothing was written. Make a new plan.`,
  );
