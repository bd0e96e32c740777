/** The message, keys and zone of the DKIM tests. Each test file makes its own keys. */

import type { Zone } from '../../../src/net/dns/zone.ts';
import { makeKey, type SignOptions, signMessage } from '../../helpers/signer.ts';

export const MESSAGE = `From: Ann <ann@example.com>
To: bob@receiver.example
Subject: Hello
Date: Sat, 21 Nov 2026 09:59:00 +0000
Message-ID: <1@example.com>
MIME-Version: 1.0
Content-Type: text/plain

Hello Bob,
this is the body.
`;

export const KEYS = {
  rsa: makeKey('rsa2048'),
  other: makeKey('rsa2048'),
  rsa1024: makeKey('rsa1024'),
  rsa768: makeKey('rsa768'),
  ed25519: makeKey('ed25519'),
};

export const KEY_NAME = 's1._domainkey.example.com';

/** `example.com` with one key at selector s1. */
export const zoneWith = (record: string, name = KEY_NAME): Zone => ({ [name]: { TXT: [record] } });

export const sign = (
  options: Partial<SignOptions> = {},
  message: string | Buffer = MESSAGE,
): Promise<Buffer> =>
  signMessage(message, { domain: 'example.com', selector: 's1', key: KEYS.rsa, ...options });

/** Replaces a text in the message. Throws if it is missing. */
export function alter(message: Buffer, from: string, to: string): Buffer {
  const text = message.toString('latin1');
  if (!text.includes(from)) throw new Error(`"${from}" is not in the message`);
  return Buffer.from(text.replace(from, to), 'latin1');
}
