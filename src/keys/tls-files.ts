/** A certificate and its key from the files that the configuration names, tried before they are used. */

import { X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { type Config, ConfigError, PREFIX } from '../config/config.ts';
import { type KeyPair, makeCertificate } from '../lib/certificates.ts';
import type { Resolver } from '../net/dns/resolver.ts';
import { createPoster } from '../net/http/poster.ts';
import type { Poster } from '../net/http/web.ts';

/** null where none is configured. Throws a ConfigError for files that cannot be read or do not fit. */
export function readKeyPair(config: Config, kind: 'HTTP' | 'SMTP'): KeyPair | null {
  const certFile = config[`${kind}_TLS_CERT_FILE`];
  const keyFile = config[`${kind}_TLS_KEY_FILE`];
  if (!certFile || !keyFile) return null;
  const pair = {
    cert: readNamed(`${kind}_TLS_CERT_FILE`, certFile),
    key: readNamed(`${kind}_TLS_KEY_FILE`, keyFile),
  };
  try {
    createSecureContext(pair);
  } catch (error) {
    throw new ConfigError([
      `${PREFIX}${kind}_TLS_CERT_FILE and ${PREFIX}${kind}_TLS_KEY_FILE do not name a certificate and its key in PEM (${(error as Error).message})`,
    ]);
  }
  return pair;
}

function readNamed(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError([`${PREFIX}${name} names a file that cannot be read: ${file} (${code})`]);
  }
}

// The key pair for STARTTLS: the configured one, or one of our own, made once and kept.

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

// The caller of webhooks as the operator wants it: with certificate authorities of their own.

/** PEM of one or more certificates. Throws a ConfigError for a file that cannot be read or has none. */
function readAuthorities(path: string): string {
  try {
    const pem = readFileSync(path, 'utf8');
    const each = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
    if (!each) throw new Error('it has no certificate in PEM');
    for (const one of each) new X509Certificate(one);
    return pem;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code?.startsWith('E') && !code.startsWith('ERR')
        ? code
        : 'it holds no certificate in PEM that can be read';
    throw new ConfigError([`${PREFIX}WEBHOOK_CA_FILE cannot be used: ${why}, "${path}"`]);
  }
}

/** Throws a ConfigError for a file of certificate authorities that cannot be used. */
export function configuredPoster(config: Config, resolver: Resolver): Poster {
  const { WEBHOOK_ALLOW_NETWORKS: allowNetworks, WEBHOOK_CA_FILE: file } = config;
  return createPoster({ resolver, allowNetworks, ca: file ? [readAuthorities(file)] : [] });
}
