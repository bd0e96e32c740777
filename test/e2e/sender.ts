/** A sender with everything in order, served by a real DNS server, and the service that asks it. */

import type { TestContext } from 'node:test';
import type { Zone } from '../../src/net/zone.ts';
import { type ServiceOptions, startTestService, type TestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { type DnsTestServer, startDnsServer } from '../helpers/dns-server.ts';
import { makeKey } from '../helpers/signer.ts';

/** Signs for example.com at the selector s1. */
export const SENDER_KEY = makeKey();

/** What `goodMessage` by `sendMail` needs to be without fault. */
export const SENDER_ZONE: Zone = {
  'example.com': {
    A: ['192.0.2.1'],
    MX: ['10 mail.example.com'],
    TXT: ['v=spf1 ip4:192.0.2.1 -all'],
  },
  'mail.example.com': { A: ['192.0.2.1'], TXT: ['v=spf1 a -all'] },
  's1._domainkey.example.com': { TXT: [SENDER_KEY.record] },
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:dmarc@example.com'] },
  '1.2.0.192.in-addr.arpa': { PTR: ['mail.example.com'] },
};

/** The service with its own resolver, which asks a server on loopback. */
export async function startWithDns(
  t: TestContext,
  zone: Zone = SENDER_ZONE,
  options: ServiceOptions = {},
): Promise<{ service: TestService; dns: DnsTestServer }> {
  const dns = await startDnsServer(zone);
  t.after(() => dns.close());
  const service = await startTestService(t, {
    clock: testClock(),
    ...options,
    resolver: undefined,
    env: { ...options.env, DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}` },
  });
  return { service, dns };
}
