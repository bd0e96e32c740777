/** Random tokens and the hashes under which secrets are kept. */

import { createHash, randomBytes } from 'node:crypto';

const BASE32 = 'abcdefghijkmnpqrstuvwxyz23456789';

/** `length` characters of 5 random bits each, lower case, none that look alike. */
export function randomToken(length: number): string {
  return Array.from(randomBytes(length), (byte) => BASE32[byte % 32]).join('');
}

/** 256 random bits in base64url. */
export function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Lower-case hex. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
