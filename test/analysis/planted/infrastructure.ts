/** Defects of the sending server and of the domains' DNS: one each. */

import type { Defect } from './defect.ts';

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
    name: 'a reverse name that leads elsewhere',
    plant({ zone }) {
      zone['out.example.com'] = { A: ['203.0.114.99'] };
    },
  },
  {
    check: 'fcrdns',
    name: 'one name in reverse DNS and in HELO that leads elsewhere',
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
    name: 'STARTTLS offered and not taken',
    plant({ envelope }) {
      envelope.tls = { used: false, version: null, cipher: null };
    },
  },
  {
    check: 'mx',
    name: 'a From domain that says it takes no mail',
    plant({ zone }) {
      zone['example.com']!.MX = ['0 .'];
      zone['example.com']!.TXT = ['v=spf1 a -all'];
    },
  },
  {
    check: 'return_path',
    name: 'a MAIL FROM domain with neither MX nor address',
    status: 'warn',
    plant({ zone }) {
      zone['bounce.example.com'] = { TXT: zone['bounce.example.com']!.TXT };
    },
  },
];
