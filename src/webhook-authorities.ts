/** The caller of webhooks as the operator wants it: with certificate authorities of their own. */

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Config, ConfigError, PREFIX } from './config.ts';
import type { Poster } from './net/post.ts';
import { createPoster } from './net/poster.ts';
import type { Resolver } from './net/resolver.ts';

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
