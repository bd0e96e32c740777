/** How a DNS blocklist is declared, and how its responses are read. */

/** `ip`: queried by reversed address. `domain`: by name. `allow`: an allowlist, by reversed address. */
export type BlocklistKind = 'ip' | 'domain' | 'allow';

/** 1: large mailbox providers reject listed mail (fail). 2: filters count it (warn). 3: shown only. */
export type BlocklistTier = 1 | 2 | 3;

export interface Blocklist {
  /** Stable: `DELIVERABILITY_BLOCKLISTS` and evidence refer to it. Never contains a key. */
  zone: string;
  name: string;
  kind: BlocklistKind;
  tier: BlocklistTier;
  /**
   * The codes that mean a listing. `codes`: whole addresses in 127.0.0.0/8. `bits`: a mask on the
   * last octet of 127.0.0.x. A code that is neither here nor in `noted` is an error, never a listing.
   */
  listed: { codes: Record<string, string> } | { bits: Record<number, string> };
  /** Codes or bits that mean something other than a listing: shown, never counted. */
  noted?: Record<string, string>;
  /** Codes that report a refusal or an error, each with a sentence without its period. */
  errors: Record<string, string>;
  /** A name below the zone that is always listed, and one that never is; addresses are reversed. */
  test: { listed: string; unlisted: string };
  /** The page to look up a listing and request its removal. */
  delisting: string;
  /** What to do about these codes instead of stopping the spam. */
  advice?: Record<string, string>;
  /** Enabled without configuration. */
  byDefault: boolean;
  /** Whether it covers IPv6 addresses; only for `ip` and `allow`. */
  ipv6: boolean;
  /** Whether a domain list also takes the IP addresses of links, as reversed octets. */
  acceptsAddresses?: boolean;
  /** The zone to query if a key is configured; `<key>` is its placeholder (Spamhaus DQS). */
  keyedZone?: string;
  /** Only available with a key. */
  needsKey?: boolean;
  /** What an operator must do before the list responds, for the documentation. */
  terms?: string;
}

/** An enabled list. Plain data, because it is sent to the analysis threads. */
export interface BlocklistInUse {
  list: Blocklist;
  /** The zone to query, including a configured key. Never show it. */
  queryZone: string;
  /** null while the list works; else a sentence that says why it is not queried. */
  fault: string | null;
}

/** `codes` are the addresses in the response. */
export type ListAnswer =
  | { status: 'listed'; codes: string[]; meanings: string[] }
  | { status: 'not_listed'; codes: string[]; notes: string[] }
  | { status: 'error'; codes: string[]; reason: string };

/** More than any list returns. Further codes are read, but not shown. */
const MAX_CODES_SHOWN = 10;

/**
 * Only declared codes count. One address that means a refusal, is unknown or lies outside
 * 127.0.0.0/8 makes the whole response an error, because the other codes are then unreliable too.
 */
export function readCodes(list: Blocklist, records: string[]): ListAnswer {
  const addresses = [...new Set(records)].sort();
  const codes = addresses.slice(0, MAX_CODES_SHOWN);
  const meanings = new Set<string>();
  const notes = new Set<string>();
  for (const address of addresses) {
    const reason = faultOf(list, address);
    if (reason !== null) return { status: 'error', codes, reason: `${reason} (${address}).` };
    const keys = 'codes' in list.listed ? [address] : bitsOf(address);
    for (const key of keys) {
      const meaning = meaningOf(list, key);
      if (meaning !== undefined) meanings.add(meaning);
      else notes.add(list.noted![key]!);
    }
  }
  return meanings.size > 0
    ? { status: 'listed', codes, meanings: [...meanings] }
    : { status: 'not_listed', codes, notes: [...notes] };
}

function faultOf(list: Blocklist, address: string): string | null {
  if (!/^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address))
    return 'The response is not a blocklist code; the list may have shut down';
  const refusal = Object.hasOwn(list.errors, address) ? list.errors[address]! : null;
  if (refusal !== null) return refusal;
  const keys = 'codes' in list.listed ? [address] : bitsOf(address);
  const areDeclared = keys.every((key) => isNoted(list, key) || meaningOf(list, key) !== undefined);
  return keys.length > 0 && areDeclared
    ? null
    : 'The response is not one of the codes of this list';
}

function meaningOf({ listed }: Blocklist, key: string): string | undefined {
  const table: Record<string, string> = 'codes' in listed ? listed.codes : listed.bits;
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

const isNoted = ({ noted }: Blocklist, key: string): boolean =>
  noted !== undefined && Object.hasOwn(noted, key);

/** The bits that are set in the last octet of 127.0.0.x; none for any other address. */
function bitsOf(address: string): string[] {
  const octet = /^127\.0\.0\.(\d{1,3})$/.exec(address)?.[1];
  const value = Number(octet ?? 0);
  return [1, 2, 4, 8, 16, 32, 64, 128].filter((bit) => (value & bit) !== 0).map(String);
}
