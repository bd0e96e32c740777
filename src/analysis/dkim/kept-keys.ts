/** Caches parsed keys of DKIM records: senders reuse keys, and parsing one costs more than verifying with it. */

import { createPublicKey, type KeyObject } from 'node:crypto';
import type { DNSResolver } from 'mailauth';

/** What mailauth reads from a key record. */
export interface ReadKey {
  publicKey: string | KeyObject;
}

/** mailauth's store of the keys of one message. */
export interface KeyStore<Key extends ReadKey = ReadKey> {
  resolver: DNSResolver;
  get(type: string, name: string, minBits?: number, options?: KeyOptions): Promise<Key>;
}

interface KeyOptions {
  strict?: boolean;
  hashAlgo?: string;
}

/** Enough for the senders of a busy hour. The oldest goes first. */
const MAX_KEPT = 500;
/** By the record and everything else that decides how it is read. */
const kept = new Map<string, ReadKey>();

/**
 * Lets the store take a key from an earlier message with the same record. The record is still looked up for each
 * message. A record without a usable key is read again, so that its error is the same.
 */
export function keepKeys(store: KeyStore): void {
  const read = store.get.bind(store);
  store.get = async (type, name, minBits, options = {}) => {
    const record = await firstRecord(store.resolver, name);
    if (record === null) return read(type, name, minBits, options);
    const question = [record, minBits ?? '', options.hashAlgo ?? '', options.strict ?? ''].join(
      '\n',
    );
    const known = kept.get(question);
    if (known) return known;
    const key = await read(type, name, minBits, options);
    const parsed = { ...key, publicKey: createPublicKey(key.publicKey) };
    const oldest = kept.size < MAX_KEPT ? undefined : kept.keys().next().value;
    if (oldest !== undefined) kept.delete(oldest);
    kept.set(question, parsed);
    return parsed;
  };
}

/** The record that mailauth reads; null if there is none, or for a name that mailauth converts first. */
async function firstRecord(resolver: DNSResolver, name: string): Promise<string | null> {
  if (!/^[\x21-\x7e]+$/.test(name)) return null;
  try {
    const [record] = (await resolver(name, 'TXT')) as string[][];
    return record?.join('') ?? null;
  } catch {
    return null;
  }
}
