/** What is known of a sending service: how to recognize it, and what its customers publish in DNS. */

export interface SendingService {
  /** Stable, in snake_case. */
  id: string;
  name: string;
  /** Its servers send for many customers, so a customer never allows their addresses one by one. */
  isShared: boolean;
  marks: ServiceMarks;
  spf: SpfSetup;
  dkim: DkimSetup;
  /** Selectors that keys of its customers have beside those of `dkim`: earlier ones, and those that customers choose. */
  selectors?: string[];
  /** What the service calls an envelope sender at the customer's own domain; null if it offers none. */
  returnPath: string | null;
  /** The default label of the return path below the customer's domain, if the service proposes one. */
  returnPathLabel?: string;
  /** The service's own instructions. */
  guides: { spf: string; dkim: string };
  /**
   * Where the service says that it puts a domain of its own into From until the customer's is authenticated. Missing
   * if it is not known to do so.
   */
  replacesFrom?: string;
}

/** Domain suffixes and header fields, in lower case. A suffix also matches the domain itself. */
export interface ServiceMarks {
  /** Names of its servers, in reverse DNS and HELO. */
  hosts: string[];
  /** Suffixes below `hosts` that belong to servers of customers, such as rented machines. */
  notHosts?: string[];
  /** Names of the mail servers that receive mail for the domains of its customers. */
  mx?: string[];
  /** Such names of a service whose SPF include depends on the customer's region. */
  regionalMx?: string[];
  /** Names below which it publishes keys, beside the targets of `dkim`. */
  keys?: string[];
  /** Domains with which it signs (`d=`) mail of customers without a key of their own. */
  signs?: string[];
  /** Its own envelope sender domains. */
  mailFrom?: string[];
  /** Names of header fields. A final `*` matches any rest. Anyone can add them, so they prove nothing. */
  fields?: string[];
}

/**
 * `include`: the names to include, the usual one first and then those of other regions. `return_path`: SPF
 * passes by the service's return path, so no include is needed. `console`: it depends on the account.
 */
export type SpfSetup =
  | { kind: 'include'; includes: string[] }
  | { kind: 'return_path' }
  | { kind: 'console' };

/**
 * How a customer's own domain gets a key. `cname`: pairs of a selector and a target, in which `{domain}` and
 * `{dashed}` stand for the customer's domain, and `<…>` for what only the account shows. `txt`: one record
 * with this selector. `automatic`: the service does it, if it also hosts the customer's DNS.
 */
export type DkimSetup =
  | { kind: 'cname'; records: [selector: string, target: string][] }
  | { kind: 'txt'; selector: string | null }
  | { kind: 'automatic' }
  | { kind: 'console' };

/** The selectors under which customers usually publish a key, without those that only the account shows. */
export function selectorsOf({ dkim, selectors = [] }: SendingService): string[] {
  if (dkim.kind === 'cname') return [...dkim.records.map(([selector]) => selector), ...selectors];
  return dkim.kind === 'txt' && dkim.selector !== null ? [dkim.selector, ...selectors] : selectors;
}

/** Whether a name is one of the suffixes or below one. */
export const hasSuffix = (name: string, suffixes: string[] = []): boolean =>
  suffixes.some((suffix) => name === suffix || name.endsWith(`.${suffix}`));

/**
 * A function that lists the entries with a suffix of the name, in the order of `entries`. Compares whole labels and
 * exact case, like `hasSuffix`.
 */
export function suffixIndex<T>(
  entries: readonly (readonly [entry: T, suffixes: readonly string[] | undefined])[],
): (name: string) => T[] {
  const bySuffix = new Map<string, number[]>();
  for (const [index, [, suffixes = []]] of entries.entries())
    for (const suffix of suffixes) {
      const indexes = bySuffix.get(suffix);
      if (indexes) indexes.push(index);
      else bySuffix.set(suffix, [index]);
    }
  return (name) => {
    let found: number[] | null = null;
    for (let at = 0; at >= 0; ) {
      const indexes = bySuffix.get(at === 0 ? name : name.slice(at));
      if (indexes) found = found === null ? indexes : [...found, ...indexes];
      const dot = name.indexOf('.', at);
      at = dot < 0 ? -1 : dot + 1;
    }
    if (found === null) return [];
    return [...new Set(found)].sort((a, b) => a - b).map((index) => entries[index]![0]);
  };
}
