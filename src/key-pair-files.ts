/** A certificate and its key from the files that the configuration names, tried before they are used. */

import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { type Config, ConfigError, PREFIX } from './config.ts';
import type { KeyPair } from './lib/certificates.ts';

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
