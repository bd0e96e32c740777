/** Passwords as they are kept: scrypt with a salt of its own each (RFC 7914). */

import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/** About 180 ms and 32 MB: OWASP's least. Another cost counts for new hashes; those before have theirs. */
const COST = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 };
const KEY_BYTES = 32;

/** `scrypt$N$r$p$salt$key`, the last two in base64. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password, salt, COST);
  const { N, r, p } = COST;
  return ['scrypt', N, r, p, salt.toString('base64'), key.toString('base64')].join('$');
}

/**
 * Whether it is the password of that hash. For a null hash it takes as long and is false: so that
 * nobody learns from the time whether an address is known.
 */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  const [, N, r, p, salt, key] = (hash ?? '').split('$');
  if (!N || !r || !p || !salt || !key) {
    await derive(password, Buffer.alloc(16), COST);
    return false;
  }
  const cost = { N: Number(N), r: Number(r), p: Number(p), maxmem: COST.maxmem };
  const wanted = Buffer.from(key, 'base64');
  const derived = await derive(password, Buffer.from(salt, 'base64'), cost);
  return derived.length === wanted.length && timingSafeEqual(derived, wanted);
}

/** Whether a hash was made at another cost than new ones are. */
export function hasOtherCost(hash: string): boolean {
  const { N, r, p } = COST;
  return !hash.startsWith(`${['scrypt', N, r, p].join('$')}$`);
}

function derive(password: string, salt: Buffer, cost: typeof COST): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // As it was typed, whichever way the keyboard composes its letters (RFC 8265 §4.2).
    scrypt(password.normalize('NFKC'), salt, KEY_BYTES, cost, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
