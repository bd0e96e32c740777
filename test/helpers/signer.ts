/** Signs messages with DKIM, and generates keys and their DNS records. */

import { generateKeyPairSync } from 'node:crypto';
import { dkimSign } from 'mailauth';
import { RECEIVED_AT } from './analysis.ts';

export type KeyKind = 'rsa2048' | 'rsa1024' | 'rsa768' | 'rsa512' | 'ed25519';

export interface SigningKey {
  /** PKCS #8 in PEM. */
  privateKey: string;
  /** The text of the TXT record to publish at `<selector>._domainkey.<domain>`. */
  record: string;
}

/** Generates a key. RSA with 2048 bits takes about 100 ms: tests should share keys. */
export function makeKey(kind: KeyKind = 'rsa2048'): SigningKey {
  if (kind === 'ed25519') {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
    return signingKey(privateKey.export({ type: 'pkcs8', format: 'pem' }), kind, raw);
  }
  const modulusLength = Number(kind.slice(3));
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength });
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return signingKey(privateKey.export({ type: 'pkcs8', format: 'pem' }), 'rsa', spki);
}

function signingKey(pem: string | Buffer, type: string, publicKey: Buffer): SigningKey {
  return {
    privateKey: pem.toString(),
    record: `v=DKIM1; k=${type}; p=${publicKey.toString('base64')}`,
  };
}

export interface SignOptions {
  domain: string;
  selector: string;
  key: SigningKey;
  /** For example `rsa-sha1`; by default SHA-256 with the key's type. */
  algorithm?: string;
  /** `relaxed/relaxed` by default. */
  canonicalization?: string;
  /** The header fields to sign if present; by default mailauth's list. */
  headerList?: string[];
  /** The `l=` tag in bytes. */
  maxBodyLength?: number;
  identity?: string;
  /** Milliseconds since the Unix epoch; by default a minute before RECEIVED_AT. */
  signTime?: number;
  expires?: number;
}

/** Adds a DKIM-Signature field. In a string, LF line endings become CRLF; bytes stay unchanged. */
export async function signMessage(raw: string | Buffer, options: SignOptions): Promise<Buffer> {
  const message = typeof raw === 'string' ? Buffer.from(raw.replace(/\r?\n/g, '\r\n')) : raw;
  const { domain, selector, key, signTime = RECEIVED_AT - 60_000, expires, ...rest } = options;
  const { signatures, errors } = await dkimSign(message, {
    canonicalization: 'relaxed/relaxed',
    signTime: new Date(signTime),
    ...(expires === undefined ? {} : { expires: new Date(expires) }),
    signatureData: [
      {
        signingDomain: domain,
        selector,
        privateKey: key.privateKey,
        ...rest,
      },
    ],
  } as Parameters<typeof dkimSign>[1]);
  if (errors?.length || signatures === '')
    throw errors?.[0]?.err ?? new Error('nothing was signed');
  return Buffer.concat([Buffer.from(signatures), message]);
}
