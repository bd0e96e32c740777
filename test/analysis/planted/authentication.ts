/** Defects of authentication: one each. */

import { makeKey } from '../../helpers/signer.ts';
import type { Defect } from './defect.ts';
import { CLIENT, KEY } from './world.ts';

const SHORT_KEY = makeKey('rsa1024');

export const AUTHENTICATION: Defect[] = [
  {
    check: 'spf',
    name: 'a client that the record does not name',
    plant({ zone }) {
      zone['bounce.example.com']!.TXT = ['v=spf1 ip4:203.0.114.8 -all'];
    },
  },
  {
    check: 'spf_alignment',
    name: "a MAIL FROM of the sending service's own",
    plant(world) {
      world.zone['bounce.sender.example'] = world.zone['bounce.example.com']!;
      world.envelope.mail_from = 'bounce@bounce.sender.example';
    },
  },
  {
    check: 'spf_record',
    name: 'a record that asks for more than ten lookups after the match',
    plant({ zone }) {
      const includes = Array.from({ length: 11 }, (_, i) => `include:i${i}.example.com`);
      for (let i = 0; i < 11; i++) zone[`i${i}.example.com`] = { TXT: ['v=spf1 ip4:203.0.114.9'] };
      zone['bounce.example.com']!.TXT = [`v=spf1 ip4:${CLIENT} ${includes.join(' ')} -all`];
    },
  },
  {
    check: 'dkim',
    name: 'a body that was changed on the way',
    plant(world) {
      world.transport = (signed) => Buffer.from(signed.toString().replace('Read on', 'Read  more'));
    },
  },
  {
    check: 'dkim_alignment',
    name: "a signature of the sending service's alone",
    plant(world) {
      world.zone['s1._domainkey.sender.example'] = { TXT: [KEY.record] };
      world.sign.domain = 'sender.example';
    },
  },
  {
    check: 'dkim_key',
    name: 'a key of 1024 bits',
    status: 'warn',
    plant(world) {
      world.zone['s1._domainkey.example.com'] = { TXT: [SHORT_KEY.record] };
      world.sign.key = SHORT_KEY;
    },
  },
  {
    check: 'dkim_coverage',
    name: 'a Date that is not signed',
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
    name: 'a From domain that neither MAIL FROM nor the signature belongs to',
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
    name: 'nobody to send reports to',
    status: 'warn',
    plant({ zone }) {
      zone['_dmarc.example.com'] = { TXT: ['v=DMARC1; p=reject'] };
    },
  },
];
