/** Reads and checks the certificates and keys in the configured files. */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createSecureContext, type SecureContext } from 'node:tls';
import { type Config, ConfigError, PREFIX } from '../config/config.ts';
import { type KeyPair, makeCertificate } from '../lib/certificates.ts';
import type { Clock } from '../lib/clock.ts';
import { createFolder } from '../lib/folders.ts';
import type { Log } from '../lib/log.ts';
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
    contextOf(pair);
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

// Key pairs by host name.

const REREAD_AFTER_MS = 60_000;

/** As certbot and lego name certificates and keys in their folders. */
const pairFiles = (name: string) => [
  [join(name, 'fullchain.pem'), join(name, 'privkey.pem')],
  [`${name}.crt`, `${name}.key`],
];

/** Finds the pair of a host in a folder. An invalid one, such as one that is being written, leaves the former in use. */
export function createPairFolder(folder: string, { clock, log }: { clock: Clock; log: Log }) {
  const known = new Map<string, { readAt: number; context: SecureContext | undefined }>();
  return (host: string): SecureContext | undefined => {
    const name = host.toLowerCase();
    const now = clock.now();
    const former = known.get(name);
    if (former && Math.abs(now - former.readAt) < REREAD_AFTER_MS) return former.context;
    // Clients choose it: nothing outside of the folder.
    const files = /^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/.test(name)
      ? pairFiles(join(folder, name)).find((paths) => paths.every((path) => existsSync(path)))
      : undefined;
    if (!files) {
      known.delete(name);
      return undefined;
    }
    let context = former?.context;
    try {
      const [cert, key] = files.map((path) => readFileSync(path, 'utf8'));
      context = contextOf({ cert: cert!, key: key! });
    } catch (error) {
      log.error('cannot use a certificate', { file: files[0], error: String(error) });
    }
    known.set(name, { readAt: now, context });
    return context;
  };
}

function contextOf(pair: KeyPair): SecureContext {
  const context = createSecureContext({ ...pair, minVersion: 'TLSv1.2' });
  // OpenSSL accepts an RSA certificate with an EC key, and then fails each handshake.
  if (!new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key)))
    throw new Error('the key does not belong to the certificate');
  return context;
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
