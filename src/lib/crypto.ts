/** Random tokens, hashes, encryption of stored secrets, and passwords. */

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

/** `length` lower-case characters with 5 random bits each; look-alike characters are not used. */
export function randomToken(length: number): string {
  return Array.from(randomBytes(length), (byte) => BASE32[byte % 32]).join('');
}

/** As `randomToken`, but always the same for the same text: at most 32 characters. */
export function derivedToken(text: string, length: number): string {
  const digest = createHash('sha256').update(text).digest().subarray(0, length);
  return Array.from(digest, (byte) => BASE32[byte % 32]).join('');
}

/** 256 random bits in base64url. */
export function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** In lower-case hex. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

// Uses of the secret key: encrypting secrets (AES-256-GCM) and deriving tokens (HMAC-SHA256).

export interface SecretBox {
  /** Base64 of nonce, tag and ciphertext. It opens only with the same `purpose`. */
  seal(text: string, purpose: string): string;
  /** Null if the text was sealed with another key or purpose, or was modified. */
  open(sealed: string, purpose: string): string | null;
  /** A 256-bit token in base64url, always the same for the same text and purpose: it need not be stored. */
  token(text: string, purpose: string): string;
}

// A purpose includes the ID of its row, so that a sealed value can't be opened in another row. These
// two are defined here because the check for a changed secret key needs them too.

/** For the content of an email in the outbox. */
export const mailPurpose = (id: string): string => `outbox ${id}`;
/** For a response stored under an `Idempotency-Key`. */
export const responsePurpose = ({ caller, key }: { caller: string; key: string }): string =>
  `idempotency:${caller}:${key}`;

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** `secret`: any text with enough entropy; the keys are derived from it (HKDF, RFC 5869). */
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
      // JSON keeps different pairs distinct.
      return createHmac('sha256', tokenKey)
        .update(JSON.stringify([purpose, text]))
        .digest('base64url');
    },
  };
}

// Stored passwords: scrypt with a random salt (RFC 7914).

/** The parameters of scrypt (RFC 7914 §2). */
export interface PasswordCost {
  N: number;
  r: number;
  p: number;
}

/** About 180 ms and 32 MB, OWASP's minimum. Existing hashes keep the cost they were made with. */
export const PASSWORD_COST: PasswordCost = { N: 2 ** 15, r: 8, p: 3 };
const MAX_SCRYPT_BYTES = 64 * 1024 * 1024;
const KEY_BYTES = 32;

/** `scrypt$N$r$p$salt$key`, with salt and key in base64. */
export async function hashPassword(
  password: string,
  cost: PasswordCost = PASSWORD_COST,
): Promise<string> {
  const salt = randomBytes(16);
  const key = await deriveKey(password, salt, cost);
  const { N, r, p } = cost;
  return ['scrypt', N, r, p, salt.toString('base64'), key.toString('base64')].join('$');
}

/**
 * Whether the password matches the hash. For a null hash, the result is false after a hash at
 * `dummyCost`: response times must not reveal whether an account exists.
 */
export async function verifyPassword(
  password: string,
  hash: string | null,
  dummyCost: PasswordCost = PASSWORD_COST,
): Promise<boolean> {
  const [, N, r, p, salt, key] = (hash ?? '').split('$');
  if (!N || !r || !p || !salt || !key) {
    await deriveKey(password, Buffer.alloc(16), dummyCost);
    return false;
  }
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const expected = Buffer.from(key, 'base64');
  const derived = await deriveKey(password, Buffer.from(salt, 'base64'), cost);
  return derived.length === expected.length && timingSafeEqual(derived, expected);
}

/** Whether a hash was made at a cost other than that of new hashes. */
export function needsRehash(hash: string, { N, r, p }: PasswordCost = PASSWORD_COST): boolean {
  return !hash.startsWith(`${['scrypt', N, r, p].join('$')}$`);
}

function deriveKey(password: string, salt: Buffer, cost: PasswordCost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // The same password, however a keyboard composes its characters (RFC 8265 §4.2).
    const options = { ...cost, maxmem: MAX_SCRYPT_BYTES };
    scrypt(password.normalize('NFKC'), salt, KEY_BYTES, options, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
