/** The key pair for STARTTLS, made once per test process: an RSA key takes a tenth of a second of a processor. */

import { accessSync, constants, existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type KeyPair, makeCertificate } from '../../src/lib/certificates.ts';

let made: Promise<KeyPair> | undefined;

/** Stores it where an earlier start of a service with this data folder would have. A service makes its own in a new folder. */
export async function storeSmtpKeyPair(folder: string): Promise<void> {
  const path = join(folder, 'smtp-tls.pem');
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory();
  if (!isFolder || !isWritable(folder) || existsSync(path)) return;
  made ??= makeCertificate('mx.inbox.test', Date.now());
  const { key, cert } = await made;
  writeFileSync(path, `${key}${cert}`, { mode: 0o600 });
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
