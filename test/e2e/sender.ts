/** A correctly configured sender, its records on a real DNS server, and a service that queries it. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Test } from '../../src/mailtests/schema.ts';
import type { Zone } from '../../src/net/dns/zone.ts';
import { type ServiceOptions, startTestService, type TestService } from '../helpers/app.ts';
import { blocklistZone } from '../helpers/blocklists.ts';
import { testClock } from '../helpers/clock.ts';
import { type DnsTestServer, startDnsServer } from '../helpers/dns-server.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { type SendOptions, sendMail } from '../helpers/send.ts';
import { makeKey, type SignOptions, signMessage } from '../helpers/signer.ts';

const SENDER_KEY = makeKey();

/** A good message, by default signed for example.com with the selector s1. */
export const signed = ({
  message = goodMessage(),
  ...changes
}: Partial<SignOptions> & { message?: string } = {}): Promise<Buffer> =>
  signMessage(message, { domain: 'example.com', selector: 's1', key: SENDER_KEY, ...changes });

/** The DNS records with which a signed message of `sendMail` passes. */
export const SENDER_ZONE: Zone = {
  ...blocklistZone(),
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

/** Starts the service with its own resolver, which queries a server on loopback. */
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
    env: {
      DELIVERABILITY_BLOCKLISTS: '',
      ...options.env,
      DELIVERABILITY_DNS_SERVERS: `127.0.0.1:${dns.address.port}`,
    },
  });
  return { service, dns };
}

/** Sends mail to a new test over SMTP; resolves with the completed test. */
export async function sendAndWait(
  { smtp, createTest, getTest }: TestService,
  mail: Omit<SendOptions, 'port' | 'to'>,
): Promise<Test> {
  const { id, address } = await createTest();
  await sendMail({ ...mail, port: smtp.port, to: address });
  return getTest(id, '?wait=50');
}

export function assertAllPassed(ended: Test): void {
  assert.equal(ended.status, 'completed');
  assert.deepEqual(ended.auth_results, { spf: 'pass', dkim: 'pass', dmarc: 'pass' });
  const bad = ended.checks.filter(({ status }) => ['warn', 'fail', 'error'].includes(status));
  assert.deepEqual(bad, []);
  assert.deepEqual([ended.score, ended.grade], [100, 'A']);
}
