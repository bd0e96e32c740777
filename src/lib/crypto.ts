/** Random tokens and the hashes under which secrets are kept. */

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  scrypt,
  timingSafeEqual,
} from 'node:crypto';

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

// What only the secret key can do: keep secrets (AES-256-GCM), and make tokens that nobody guesses (HMAC-SHA256).

export interface SecretBox {
  /** Base64 of nonce, tag and ciphertext. `purpose` is bound to it: it opens for the same one alone. */
  seal(text: string, purpose: string): string;
  /** null for what was sealed by another key or for another purpose, or was changed. */
  open(sealed: string, purpose: string): string | null;
  /** The same token for the same text and purpose each time, in base64url: 256 bits that need not be kept. */
  token(text: string, purpose: string): string;
}

// Purposes are bound to a row: what is sealed for one opens in no other. These two are written here because
// they also tell whether a secret key is still the one of before.

/** Of the content of a mail in the outbox. */
export const mailPurpose = (id: string): string => `outbox ${id}`;
/** Of an answer that is kept for an `Idempotency-Key`. */
export const answerPurpose = ({ caller, key }: { caller: string; key: string }): string =>
  `idempotency:${caller}:${key}`;

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** `secret` may be any text of enough randomness; the key is derived from it (HKDF, RFC 5869). */
export function createSecretBox(secret: string): SecretBox {
  const derive = (info: string) => Buffer.from(hkdfSync('sha256', secret, '', info, 32));
  const key = derive('deliverability secrets at rest');
  const tokenKey = derive('deliverability tokens');
  return {
    seal(text, purpose) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64');
    },
    open(sealed, purpose) {
      const bytes = Buffer.from(sealed, 'base64');
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const body = bytes.subarray(NONCE_BYTES + TAG_BYTES);
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose));
        decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
        return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
      } catch {
        return null;
      }
    },
    token(text, purpose) {
      // As JSON, no two pairs are written alike.
      return createHmac('sha256', tokenKey)
        .update(JSON.stringify([purpose, text]))
        .digest('base64url');
    },
  };
}

// Passwords as they are kept: scrypt with a salt of its own each (RFC 7914).

/** The parameters of scrypt (RFC 7914 §2). */
export interface PasswordCost {
  N: number;
  r: number;
  p: number;
}

/** About 180 ms and 32 MB: OWASP's least. Another cost counts for new hashes; those before have theirs. */
export const PASSWORD_COST: PasswordCost = { N: 2 ** 15, r: 8, p: 3 };
const MAX_SCRYPT_BYTES = 64 * 1024 * 1024;
const KEY_BYTES = 32;

/** `scrypt$N$r$p$salt$key`, the last two in base64. */
export async function hashPassword(
  password: string,
  cost: PasswordCost = PASSWORD_COST,
): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password, salt, cost);
  const { N, r, p } = cost;
  return ['scrypt', N, r, p, salt.toString('base64'), key.toString('base64')].join('$');
}

/**
 * Whether it is the password of that hash. For a null hash it takes as long as one of this cost and is
 * false: so that nobody learns from the time whether an address is known.
 */
export async function verifyPassword(
  password: string,
  hash: string | null,
  unknownCost: PasswordCost = PASSWORD_COST,
): Promise<boolean> {
  const [, N, r, p, salt, key] = (hash ?? '').split('$');
  if (!N || !r || !p || !salt || !key) {
    await derive(password, Buffer.alloc(16), unknownCost);
    return false;
  }
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const wanted = Buffer.from(key, 'base64');
  const derived = await derive(password, Buffer.from(salt, 'base64'), cost);
  return derived.length === wanted.length && timingSafeEqual(derived, wanted);
}

/** Whether a hash was made at another cost than this one, at which new ones are made. */
export function hasOtherCost(hash: string, { N, r, p }: PasswordCost = PASSWORD_COST): boolean {
  return !hash.startsWith(`${['scrypt', N, r, p].join('$')}$`);
}

function derive(password: string, salt: Buffer, cost: PasswordCost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // As it was typed, whichever way the keyboard composes its letters (RFC 8265 §4.2).
    const options = { ...cost, maxmem: MAX_SCRYPT_BYTES };
    scrypt(password.normalize('NFKC'), salt, KEY_BYTES, options, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
