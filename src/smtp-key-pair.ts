/** The key pair for STARTTLS: the configured one, or one of our own, made once and kept. */

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Config } from './config.ts';
import { readKeyPair } from './key-pair-files.ts';
import { type KeyPair, makeCertificate } from './lib/certificates.ts';

/** Kept in the data folder with mode 0600; nothing is written beside a database in memory. */
export async function smtpKeyPair(config: Config, now: number): Promise<KeyPair> {
  const { DATA_DIR: folder, SMTP_NAME: name } = config;
  const configured = readKeyPair(config, 'SMTP');
  if (configured) return configured;
  if (config.DATABASE_URL === ':memory:') return makeCertificate(name, now);
  const path = join(folder, 'smtp-tls.pem');
  return readBoth(path) ?? keepBoth(path, await makeCertificate(name, now));
}

/** null where there is no file, or one that holds no pair: then a new one is made. */
function readBoth(path: string): KeyPair | null {
  try {
    const both = readFileSync(path, 'utf8');
    const pair = { key: both, cert: both };
    createSecureContext(pair);
    return pair;
  } catch {
    return null;
  }
}

/** One file for both, in its place only when it is whole: a crash cannot leave a part of it. */
function keepBoth(path: string, pair: KeyPair): KeyPair {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const unfinished = `${path}.new`;
  const text = `${pair.key.trim()}\n${pair.cert.trim()}\n`;
  writeFileSync(unfinished, text, { mode: 0o600, flush: true });
  renameSync(unfinished, path);
  return pair;
}
