/** Defects in authentication, infrastructure and reputation. */

import { listIn } from '../../helpers/blocklists.ts';
import { makeKey } from '../../helpers/signer.ts';
import { CLIENT, type Defect, KEY } from './world.ts';

const SHORT_KEY = makeKey('rsa1024');
const ED_KEY = makeKey('ed25519');
/** A signature with a valid key but for no message. */
const BROKEN_RSA = Buffer.from(
  `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=example.com; s=old;\r\n h=From:To:Subject:Date:Message-ID:List-Unsubscribe:List-Unsubscribe-Post;\r\n bh=${Buffer.alloc(32).toString('base64')}; b=${Buffer.alloc(256).toString('base64')}\r\n`,
);

export const AUTHENTICATION: Defect[] = [
  {
    check: 'spf',
    name: 'a sending server not authorized by the record',
    plant({ zone }) {
      zone['bounce.example.com']!.TXT = ['v=spf1 ip4:203.0.114.8 -all'];
    },
  },
  {
    check: 'spf_record',
    name: 'more than ten lookups after the match',
    plant({ zone }) {
      const includes = Array.from({ length: 11 }, (_, i) => `include:i${i}.example.com`);
      for (let i = 0; i < 11; i++) zone[`i${i}.example.com`] = { TXT: ['v=spf1 ip4:203.0.114.9'] };
      zone['bounce.example.com']!.TXT = [`v=spf1 ip4:${CLIENT} ${includes.join(' ')} -all`];
    },
  },
  {
    check: 'dkim',
    name: 'a body changed in transit',
    plant(world) {
      world.transport = (signed) => Buffer.from(signed.toString().replace('Read on', 'Read  more'));
    },
  },
  {
    check: 'dkim_alignment',
    name: 'only a signature of the sending service',
    plant(world) {
      world.zone['s1._domainkey.sender.example'] = { TXT: [KEY.record] };
      world.sign.domain = 'sender.example';
    },
  },
  {
    check: 'dkim_key',
    name: 'a 1024-bit key',
    status: 'warn',
    plant(world) {
      world.zone['s1._domainkey.example.com'] = { TXT: [SHORT_KEY.record] };
      world.sign.key = SHORT_KEY;
    },
  },
  {
    check: 'dkim_coverage',
    name: 'an unsigned Date',
    plant(world) {
      world.sign.headerList = [
        'From',
        'To',
        'Subject',
        'Message-ID',
        'List-Unsubscribe',
        'List-Unsubscribe-Post',
      ];
    },
  },
  {
    check: 'dmarc',
    name: 'a From domain aligned with neither MAIL FROM nor the signature',
    plant(world) {
      world.fields.From = 'Example Shop <news@shop.example>';
      world.zone['shop.example'] = world.zone['example.com']!;
      world.zone['_dmarc.shop.example'] = {
        TXT: ['v=DMARC1; p=reject; rua=mailto:dmarc@shop.example'],
      };
    },
  },
  {
    check: 'dmarc_policy',
    name: 'p=none',
    status: 'warn',
    plant({ zone }) {
      zone['_dmarc.example.com'] = { TXT: ['v=DMARC1; p=none; rua=mailto:dmarc@example.com'] };
    },
  },
  {
    check: 'dmarc_record',
    name: 'no report address',
    status: 'warn',
    plant({ zone }) {
      zone['_dmarc.example.com'] = { TXT: ['v=DMARC1; p=reject'] };
    },
  },
  {
    check: 'dmarc_policy',
    name: 'no DMARC record',
    plant({ zone }) {
      delete zone['_dmarc.example.com'];
    },
  },
  {
    check: 'dmarc_record',
    name: 'two DMARC records',
    plant({ zone }) {
      zone['_dmarc.example.com']!.TXT!.push('v=DMARC1; p=none; rua=mailto:dmarc@example.com');
    },
  },
  {
    check: 'dmarc_record',
    name: 'a DMARC version in lower case',
    plant({ zone }) {
      zone['_dmarc.example.com'] = { TXT: ['v=dmarc1; p=reject; rua=mailto:dmarc@example.com'] };
    },
  },
  {
    check: 'dkim_key',
    name: 'an Ed25519 signature beside an invalid RSA signature',
    status: 'warn',
    plant(world) {
      world.zone['ed._domainkey.example.com'] = { TXT: [ED_KEY.record] };
      world.zone['old._domainkey.example.com'] = { TXT: [KEY.record] };
      world.sign.selector = 'ed';
      world.sign.key = ED_KEY;
      world.transport = (signed) => Buffer.concat([BROKEN_RSA, signed]);
    },
  },
];

// Defects of the sending server and of DNS records.

export const INFRASTRUCTURE: Defect[] = [
  {
    check: 'ptr',
    name: 'no reverse DNS',
    plant({ zone }) {
      delete zone['7.114.0.203.in-addr.arpa'];
    },
  },
  {
    check: 'fcrdns',
    name: 'a reverse name that resolves elsewhere',
    plant({ zone }) {
      zone['out.example.com'] = { A: ['203.0.114.99'] };
    },
  },
  {
    check: 'fcrdns',
    name: 'one reverse and HELO name that resolves elsewhere',
    plant({ zone, envelope }) {
      envelope.helo = 'out.example.com';
      zone['out.example.com'] = { A: ['203.0.114.99'] };
    },
  },
  {
    check: 'helo',
    name: 'HELO localhost',
    plant({ envelope }) {
      envelope.helo = 'localhost';
    },
  },
  {
    check: 'tls',
    name: 'STARTTLS offered but not used',
    plant({ envelope }) {
      envelope.tls = { used: false, version: null, cipher: null };
    },
  },
  {
    check: 'mx',
    name: 'a null MX at the From domain',
    plant({ zone }) {
      zone['example.com']!.MX = ['0 .'];
      zone['example.com']!.TXT = ['v=spf1 a -all'];
    },
  },
  {
    check: 'return_path',
    name: 'a MAIL FROM domain without MX or address',
    status: 'warn',
    plant({ zone }) {
      zone['bounce.example.com'] = { TXT: zone['bounce.example.com']!.TXT };
    },
  },
];

// Blocklist listings.

const reversed = CLIENT.split('.').reverse().join('.');

export const REPUTATION: Defect[] = [
  {
    check: 'ip_blocklists',
    name: 'the sending server on Spamhaus SBL',
    plant({ zone }) {
      Object.assign(zone, listIn('zen.spamhaus.org', reversed, '127.0.0.2'));
    },
  },
  {
    check: 'domain_blocklists',
    name: 'the From domain on Spamhaus DBL',
    plant(world) {
      // The links lead elsewhere, because linked domains have a separate check.
      world.html = world.html.replaceAll('https://example.com', 'https://www.shop.example');
      world.text = world.text.replaceAll('https://example.com', 'https://www.shop.example');
      Object.assign(world.zone, listIn('dbl.spamhaus.org', 'example.com', '127.0.1.2'));
    },
  },
  {
    check: 'link_blocklists',
    name: 'a link to a domain on SURBL',
    status: 'warn',
    plant(world) {
      world.html = world.html.replace(
        'href="https://example.com/bread"',
        'href="https://listed.example/bread"',
      );
      Object.assign(world.zone, listIn('multi.surbl.org', 'listed.example', '127.0.0.64'));
    },
  },
];
