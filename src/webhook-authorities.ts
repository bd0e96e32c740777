/** The certificate authorities of the operator's own, for the endpoints of webhooks. */

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ConfigError, PREFIX } from './config.ts';

/** PEM of one or more certificates. Throws a ConfigError for a file that cannot be read or has none. */
export function readAuthorities(path: string): string {
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
