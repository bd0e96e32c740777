/** How a DNS blocklist is declared, and how its answers are read. */

/** `ip`: asked by reversed address; `domain`: by name; `allow`: by reversed address, being listed is good. */
export type BlocklistKind = 'ip' | 'domain' | 'allow';

/** 1: the large receivers block on it (fail). 2: filters count it (warn). 3: told only. */
export type BlocklistTier = 1 | 2 | 3;

export interface Blocklist {
  /** Stable, as `DELIVERABILITY_BLOCKLISTS` and evidence name it; without any key. */
  zone: string;
  name: string;
  kind: BlocklistKind;
  tier: BlocklistTier;
  /**
   * What the listed codes mean. `codes`: the whole address in 127.0.0.0/8. `bits`: a mask on the
   * last octet of 127.0.0.x. Whatever is in neither, nor in `noted`, is an error, never a listing.
   */
  listed: { codes: Record<string, string> } | { bits: Record<number, string> };
  /** Codes, or bits, that say something other than a listing: told, never counted. */
  noted?: Record<string, string>;
  /** Codes with which the operator refuses or reports a fault, and what each means: "It refuses …". */
  errors: Record<string, string>;
  /** Questions below the zone, already reversed where they are addresses: one that is listed, one that is not. */
  test: { listed: string; unlisted: string };
  /** Where to look a listing up and have it taken away. */
  delisting: string;
  /** What to do about these codes in the place of stopping the spam. */
  advice?: Record<string, string>;
  /** On without being asked for. */
  byDefault: boolean;
  /** Whether it also answers for IPv6 addresses; only for `ip` and `allow`. */
  ipv6: boolean;
  /** Whether a list of names takes the bare addresses of links too, by reversed octets. */
  addresses?: boolean;
  /** The zone to ask where a key is configured, `<key>` standing for it (Spamhaus DQS). */
  keyedZone?: string;
  /** It has no zone without a key. */
  needsKey?: boolean;
  /** What an operator must do before it answers, for the documentation. */
  terms?: string;
}

/** A list that is switched on. Plain data: it travels to the analysis threads. */
export interface BlocklistInUse {
  list: Blocklist;
  /** The zone that is asked: with the key where there is one. Never shown. */
  asked: string;
  /** null while it works; else why it is left out, for people ("It does not list its test point."). */
  fault: string | null;
}

/** `codes` are the addresses of the answer, `reason` and `meanings` words for people. */
export type ListAnswer =
  | { status: 'listed'; codes: string[]; meanings: string[] }
  | { status: 'not_listed'; codes: string[]; notes: string[] }
  | { status: 'error'; codes: string[]; reason: string };

/** No list has so many codes; what answers with more is read all the same, and not shown whole. */
const MAX_CODES_SHOWN = 10;

/**
 * Only what the list declares counts. One address that is refusal, unknown or outside of
 * 127.0.0.0/8 makes the whole answer an error: what refuses is not believed in the same breath.
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
    return 'It gave an answer that no blocklist gives, as a zone does that is gone';
  const refusal = Object.hasOwn(list.errors, address) ? list.errors[address]! : null;
  if (refusal !== null) return refusal;
  const keys = 'codes' in list.listed ? [address] : bitsOf(address);
  const known = keys.every((key) => isNoted(list, key) || meaningOf(list, key) !== undefined);
  return keys.length > 0 && known ? null : 'It gave an answer that is none of its codes';
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
  const set = Number(octet ?? 0);
  return [1, 2, 4, 8, 16, 32, 64, 128].filter((bit) => (set & bit) !== 0).map(String);
}
