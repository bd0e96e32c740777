/** What only the secret key can do: keep secrets (AES-256-GCM), and make tokens that nobody guesses (HMAC-SHA256). */

import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

export interface SecretBox {
  /** Base64 of nonce, tag and ciphertext. `purpose` is bound to it: it opens for the same one alone. */
  seal(text: string, purpose: string): string;
  /** null for what was sealed by another key or for another purpose, or was changed. */
  open(sealed: string, purpose: string): string | null;
  /** The same token for the same text and purpose each time, in base64url: 256 bits that need not be kept. */
  token(text: string, purpose: string): string;
}

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
