/** Reads and checks the certificates and keys in the configured files. */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { type Config, ConfigError, PREFIX } from '../config/config.ts';
import { type KeyPair, makeCertificate } from '../lib/certificates.ts';
import { createFolder } from '../lib/folders.ts';
import type { Resolver } from '../net/dns/resolver.ts';
import { createPoster } from '../net/http/poster.ts';
import type { Poster } from '../net/http/web.ts';

/** null if none is configured. Throws a ConfigError for files that can't be read or don't match. */
export function readKeyPair(config: Config, kind: 'HTTP' | 'SMTP'): KeyPair | null {
  const certFile = config[`${kind}_TLS_CERT_FILE`];
  const keyFile = config[`${kind}_TLS_KEY_FILE`];
  if (!certFile || !keyFile) return null;
  const pair = {
    cert: readConfiguredFile(`${kind}_TLS_CERT_FILE`, certFile),
    key: readConfiguredFile(`${kind}_TLS_KEY_FILE`, keyFile),
  };
  try {
    createSecureContext(pair);
    // OpenSSL accepts an RSA certificate with an EC key, and then fails each handshake.
    if (!new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key)))
      throw new Error('the key does not belong to the certificate');
  } catch (error) {
    throw new ConfigError([
      `${PREFIX}${kind}_TLS_CERT_FILE and ${PREFIX}${kind}_TLS_KEY_FILE must be a certificate and its key in PEM format (${(error as Error).message})`,
    ]);
  }
  return pair;
}

function readConfiguredFile(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError([`Cannot read the file in ${PREFIX}${name}: ${file} (${code})`]);
  }
}

// The key pair for STARTTLS.

/**
 * The configured key pair or a self-signed one, which is stored in the data folder with mode 0600. With
 * a database in memory, nothing is stored.
 */
export async function smtpKeyPair(config: Config, now: number): Promise<KeyPair> {
  const { DATA_DIR: folder, SMTP_NAME: name } = config;
  const configured = readKeyPair(config, 'SMTP');
  if (configured) return configured;
  if (config.DATABASE_URL === ':memory:') return makeCertificate(name, now);
  const path = join(folder, 'smtp-tls.pem');
  return readPair(path) ?? writePair(path, await makeCertificate(name, now));
}

/** null if there is no file or it has no valid pair. */
function readPair(path: string): KeyPair | null {
  try {
    const pem = readFileSync(path, 'utf8');
    const pair = { key: pem, cert: pem };
    createSecureContext(pair);
    return pair;
  } catch {
    return null;
  }
}

/** Writes one file atomically, so that a crash can't leave a certificate without its key. */
function writePair(path: string, pair: KeyPair): KeyPair {
  createFolder(dirname(path));
  const tempPath = `${path}.new`;
  const text = `${pair.key.trim()}\n${pair.cert.trim()}\n`;
  writeFileSync(tempPath, text, { mode: 0o600, flush: true });
  renameSync(tempPath, path);
  return pair;
}

// Certificate authorities for webhooks.

/** One or more certificates in PEM. Throws a ConfigError if the file can't be read or has none. */
function readAuthorities(path: string): string {
  try {
    const pem = readFileSync(path, 'utf8');
    const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
    if (!certificates) throw new Error('no certificate in PEM format');
    for (const certificate of certificates) new X509Certificate(certificate);
    return pem;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason =
      code?.startsWith('E') && !code.startsWith('ERR')
        ? code
        : 'it has no valid certificate in PEM format';
    throw new ConfigError([`Cannot use the file in ${PREFIX}WEBHOOK_CA_FILE: ${path} (${reason})`]);
  }
}

/** The additional certificate authorities. Throws a ConfigError if their file is invalid. */
export const configuredAuthorities = ({ WEBHOOK_CA_FILE: file }: Config): string[] =>
  file ? [readAuthorities(file)] : [];

/** Throws a ConfigError if the file of certificate authorities is invalid. */
export function configuredPoster(config: Config, resolver: Resolver): Poster {
  const { WEBHOOK_ALLOW_NETWORKS: allowNetworks } = config;
  return createPoster({ resolver, allowNetworks, ca: configuredAuthorities(config) });
}
