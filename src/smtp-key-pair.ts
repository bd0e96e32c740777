/** The key pair for STARTTLS: the configured one, or one of our own, made once and kept. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config.ts';
import { makeCertificate } from './smtp/certificate.ts';

interface KeyPair {
  key: string;
  cert: string;
}

/** Kept in the data folder with mode 0600; nothing is written beside a database in memory. */
export async function smtpKeyPair(config: Config, now: number): Promise<KeyPair> {
  const {
    SMTP_TLS_CERT_FILE: cert,
    SMTP_TLS_KEY_FILE: key,
    DATA_DIR: folder,
    SMTP_NAME: name,
  } = config;
  if (cert && key) return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  if (config.DATABASE_URL === ':memory:') return makeCertificate(name, now);
  // One file holds both, so that a crash cannot leave a key without its certificate.
  const path = join(folder, 'smtp-tls.pem');
  if (existsSync(path)) {
    const both = readFileSync(path, 'utf8');
    return { key: both, cert: both };
  }
  const pair = await makeCertificate(name, now);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(path, `${pair.key.trim()}\n${pair.cert.trim()}\n`, { mode: 0o600 });
  return pair;
}
