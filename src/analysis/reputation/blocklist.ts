/** What a DNS blocklist is: its zone, what its answers mean, and the points at which it is tested. */

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
