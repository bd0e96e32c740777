/** The two messages of the demo, and the DNS of their senders: one correctly configured, one not. */

import { generateKeyPairSync } from 'node:crypto';
import type { Zone } from '../../net/dns/zone.ts';

export interface DemoMail {
  title: string;
  /** A documentation address (RFC 5737), passed to the listener with XCLIENT. */
  clientIp: string;
  helo: string;
  mailFrom: string;
  from: string;
  subject: string;
  text: string;
  html: string;
  headers?: Record<string, string>;
  /** Whether it is signed with the key that the zone publishes. */
  signed: boolean;
}

export const GOOD = 'good.example';
export const BAD = 'bad.example';
const SELECTOR = 'demo';

interface DemoKey {
  domain: string;
  selector: string;
  privateKey: string;
  /** DER, as the zone publishes it. */
  publicKey: Buffer;
}

let key: DemoKey | undefined;

/**
 * The signing key of the correctly configured sender. Generating it takes tens of milliseconds, so it is
 * done on first use: every command and analysis thread of the executable loads this file.
 */
export function demoKey(): DemoKey {
  key ??= {
    domain: GOOD,
    selector: SELECTOR,
    ...generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'der' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    }),
  };
  return key;
}

export const DEMO_MAILS: DemoMail[] = [
  {
    title: 'A well-configured message',
    clientIp: '192.0.2.10',
    helo: `mail.${GOOD}`,
    mailFrom: `bounces@${GOOD}`,
    from: `Good Company <hello@${GOOD}>`,
    subject: 'Your order is on its way',
    text: 'Hello,\n\nyour order 1042 left our warehouse today and will be with you on Thursday.\n\nGood Company\n',
    html: '<p>Hello,</p><p>your order 1042 left our warehouse today and will be with you on Thursday.</p><p>Good Company</p>',
    signed: true,
  },
  {
    title: 'A poorly configured newsletter',
    clientIp: '198.51.100.66',
    helo: 'localhost',
    mailFrom: `news@${BAD}`,
    from: `Bad Company <news@${BAD}>`,
    subject: 'GREAT OFFERS FOR YOU!!!',
    text: '',
    html: `<p>Dear {{first_name}},</p>
<p>great offers, <a href="https://bit.ly/3offers">today only</a>.</p>
<img src="https://${BAD}/offers.png" width="600" height="400">
<p><a href="http://${BAD}/shop">www.good.example</a></p>`,
    headers: { 'List-Unsubscribe': `<mailto:leave@${BAD}>`, Precedence: 'bulk' },
    signed: false,
  },
];

/** One sender is correctly configured. The other has no DKIM or reverse DNS, and SPF does not allow its server. */
export function demoZone(): Zone {
  return {
    [GOOD]: { A: ['192.0.2.10'], MX: [`10 mail.${GOOD}`], TXT: ['v=spf1 ip4:192.0.2.10 -all'] },
    [`mail.${GOOD}`]: { A: ['192.0.2.10'], TXT: ['v=spf1 a -all'] },
    [`${SELECTOR}._domainkey.${GOOD}`]: {
      TXT: [`v=DKIM1; k=rsa; p=${demoKey().publicKey.toString('base64')}`],
    },
    [`_dmarc.${GOOD}`]: { TXT: [`v=DMARC1; p=reject; rua=mailto:dmarc@${GOOD}`] },
    '10.2.0.192.in-addr.arpa': { PTR: [`mail.${GOOD}`] },
    [BAD]: { A: ['198.51.100.1'], MX: [`10 ${BAD}`], TXT: ['v=spf1 ip4:198.51.100.1 -all'] },
    // Two blocklists that pass their self-tests; one of them lists the bad sender.
    'dbltest.com.dbl.spamhaus.org': { A: ['127.0.1.2'] },
    'surbl-org-permanent-test-point.com.multi.surbl.org': { A: ['127.0.0.254'] },
    [`${BAD}.multi.surbl.org`]: { A: ['127.0.0.64'] },
    [`_dmarc.${BAD}`]: { TXT: [`v=DMARC1; p=quarantine; rua=mailto:dmarc@${BAD}`] },
  };
}
