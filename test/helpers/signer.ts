/** Signs messages by DKIM with keys made on the spot, and shows the record that belongs to a key. */

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

/** A new key; RSA ones of 2048 bits take about 100 ms, so make one and share it. */
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
  /** `rsa-sha1` and the like; by default SHA-256 with the key's own type. */
  algorithm?: string;
  /** `relaxed/relaxed` by default. */
  canonicalization?: string;
  /** The fields to sign where they are present; by default mailauth's list. */
  headerList?: string[];
  /** `l=` in octets. */
  maxBodyLength?: number;
  identity?: string;
  /** Milliseconds since the Unix epoch; by default a minute before RECEIVED_AT. */
  signTime?: number;
  expires?: number;
}

/** The message with a DKIM-Signature on top. A string may have LF ends, which become CRLF; bytes stay. */
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
