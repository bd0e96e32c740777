/** What the addresses that a list answers with mean: a listing, something else, or a fault. */

import type { Blocklist } from './blocklist.ts';

/** `codes` are the addresses of the answer, `reason` and `meanings` words for people. */
export type ListAnswer =
  | { status: 'listed'; codes: string[]; meanings: string[] }
  | { status: 'not_listed'; codes: string[]; notes: string[] }
  | { status: 'error'; codes: string[]; reason: string };

/** No list has so many codes; what answers with more is read all the same, and not shown whole. */
const CODES_SHOWN = 10;

/**
 * Only what the list declares counts. One address that is refusal, unknown or outside of
 * 127.0.0.0/8 makes the whole answer an error: what refuses is not believed in the same breath.
 */
export function readCodes(list: Blocklist, records: string[]): ListAnswer {
  const addresses = [...new Set(records)].sort();
  const codes = addresses.slice(0, CODES_SHOWN);
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
