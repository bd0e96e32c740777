/** A healthy domain, and its health with the changes of a test. */

import { NO_SETUP } from '../../../src/analysis/context.ts';
import { analyzeDomain, type DomainOptions } from '../../../src/analysis/domain/analyze-domain.ts';
import type { DomainCheck, DomainHealth } from '../../../src/analysis/domain/health.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { offlineWebClient } from '../../../src/net/http/web.ts';
import { RECEIVED_AT } from '../../helpers/analysis.ts';
import { makeKey } from '../../helpers/signer.ts';

export const DKIM_KEYS = {
  strong: makeKey('rsa2048').record,
  short: makeKey('rsa1024').record,
  weak: makeKey('rsa768').record,
  ed25519: makeKey('ed25519').record,
};

export const GOOD_ZONE: Zone = {
  'example.com': { TXT: ['v=spf1 mx -all'], MX: ['10 mx.example.com'] },
  'mx.example.com': { A: ['192.0.2.1'] },
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:dmarc@example.com'] },
  's1._domainkey.example.com': { TXT: [DKIM_KEYS.strong] },
};

export function checkDomain(
  zone: Zone,
  options: Partial<DomainOptions> = {},
  name = 'example.com',
): Promise<DomainHealth> {
  return analyzeDomain(name, {
    resolver: zoneResolver(zone),
    web: offlineWebClient,
    setup: NO_SETUP,
    selectors: [],
    now: RECEIVED_AT,
    ...options,
  });
}

/** The only check with this id. */
export function item({ checks }: DomainHealth, id: string): DomainCheck {
  const [found, ...others] = checks.filter((check) => check.id === id);
  if (!found || others.length > 0) throw new Error(`${id}: not exactly one check`);
  return found;
}
