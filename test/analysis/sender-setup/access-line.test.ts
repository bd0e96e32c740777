/** Mail directly from an access line: the fix is to send through the mail service of the domain, signed in. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { kindOfName } from '../../../src/analysis/sender-setup/line-names.ts';
import { domainZone, reportOf, type Scene } from './scenes.ts';

const OFFICE = 'v=spf1 include:spf.protection.outlook.com -all';
const GOOGLE = 'v=spf1 include:_spf.google.com ~all';

const scan = (from: string, subject: string, program = ''): string =>
  `From: ${from}\nTo: office@kanzlei-am-see.ch\nSubject: ${subject}\n${program}\n\nSee the attachment.\n`;

interface Line extends Scene {
  name: string;
  /** What the title names. */
  device: RegExp;
  /** The server that the fix names. */
  server: RegExp;
}

const LINES: Line[] = [
  {
    name: 'a Ricoh copier on a Swiss cable line',
    message: scan('scan@kanzlei-am-see.ch', 'Scan from RNP58387912AB12'),
    mailFrom: 'scan@kanzlei-am-see.ch',
    helo: 'RNP58387912AB12',
    ip: '84.72.113.9',
    ptr: '84-72-113-9.dclient.hispeed.ch',
    zone: domainZone('kanzlei-am-see.ch', 'microsoft', OFFICE),
    device: /^A Ricoh printer sent/,
    server: /smtp\.office365\.com/,
  },
  {
    name: 'a Synology on a French line whose name has half of the address',
    message: scan('nas@boulangerie-leroy.fr', 'DiskStation: backup finished', 'X-Mailer: Synology'),
    mailFrom: 'nas@boulangerie-leroy.fr',
    helo: 'DiskStation',
    ip: '90.12.44.181',
    ptr: 'lfbn-idf1-1-1201-181.w90-12.abo.wanadoo.fr',
    zone: domainZone('boulangerie-leroy.fr', 'google', GOOGLE),
    device: /^A Synology storage system sent/,
    server: /smtp-relay\.gmail\.com/,
  },
  {
    name: 'a program on a Windows computer at a Dutch provider',
    message: scan('voorraad@fietsen-smit.nl', 'Voorraad'),
    mailFrom: 'voorraad@fietsen-smit.nl',
    helo: 'DESKTOP-7H2KQ1',
    ip: '84.105.12.13',
    ptr: '84-105-12-13.cable.dynamic.v4.ziggo.nl',
    zone: domainZone('fietsen-smit.nl', 'own', 'v=spf1 mx -all'),
    device: /^The message came directly from an end-user IP address/,
    server: /mail service of fietsen-smit\.nl: enter its SMTP server/,
  },
  {
    name: 'an IP camera on a line without a reverse name, in a policy list',
    message: scan('alarm@depot-nord.it', 'Motion detected', 'X-Mailer: HIKVISION'),
    mailFrom: 'alarm@depot-nord.it',
    helo: 'localhost',
    ip: '151.44.17.2',
    ptr: null,
    zone: domainZone('depot-nord.it', 'microsoft', OFFICE),
    isInPolicyList: true,
    device: /^A camera sent/,
    server: /smtp\.office365\.com/,
  },
  {
    name: 'a mail server at home with a full name in HELO and an American cable line',
    message: scan('me@tinyhome-lab.net', 'Hello'),
    mailFrom: 'me@tinyhome-lab.net',
    helo: 'mail.tinyhome-lab.net',
    ip: '73.12.13.14',
    ptr: 'c-73-12-13-14.hsd1.ca.comcast.net',
    zone: domainZone('tinyhome-lab.net', 'own', 'v=spf1 ip4:73.12.13.14 -all'),
    device: /^The message came directly from an end-user IP address/,
    server: /relay host/,
  },
  {
    name: 'a FRITZ!Box that sends for a private Gmail address',
    message: scan('FRITZ!Box <familie.kern@gmail.com>', 'FRITZ!Box-Info'),
    mailFrom: 'familie.kern@gmail.com',
    helo: 'fritz.box',
    ip: '79.202.219.6',
    ptr: 'p4fcadb06.dip0.t-ipconnect.de',
    zone: {
      'gmail.com': {
        TXT: ['v=spf1 ip4:209.85.128.0/17 ~all'],
        MX: ['5 gmail-smtp-in.l.google.com'],
      },
      '_dmarc.gmail.com': { TXT: ['v=DMARC1; p=none'] },
    },
    device: /^A FRITZ!Box router sent/,
    server: /smtp\.gmail\.com/,
  },
];

describe('Mail directly from an access line', () => {
  for (const line of LINES)
    it(`is sent through the mail service of the domain: ${line.name}`, async () => {
      const { first, toFix, check, fixes, result } = await reportOf(line);
      assert.match(first.title, line.device);
      assert.match(first.fix!.text, line.server);
      assert.match(first.fix!.text, /through the mail service of /);
      assert.notEqual(first.id, 'dkim');
      // Neither the address in SPF nor a PTR record, nor a name in HELO.
      assert.ok(!fixes.includes(line.ip), fixes);
      assert.ok(!/in-addr\.arpa|PTR record|DKIM signing for/.test(fixes), fixes);
      for (const id of ['spf', 'dkim', 'dmarc', 'ptr', 'fcrdns', 'helo', 'ip_blocklists']) {
        const { fix, status } = check(id);
        if (id !== first.id && (status === 'fail' || status === 'warn'))
          assert.match(fix!.text, /^Goes with “/, id);
      }
      assert.ok(toFix.every(({ gain }) => gain <= first.gain));
      assert.match(
        result.summary,
        /: it was sent without a mail service\.$|but it was sent without a mail service/,
        result.summary,
      );
    });
});

describe('Mail that is not directly from an access line', () => {
  const server = (ptr: string, helo: string, ip: string): Scene => ({
    message: scan('shop@laden-linde.de', 'Order 12'),
    mailFrom: 'shop@laden-linde.de',
    helo,
    ip,
    ptr,
    zone: domainZone('laden-linde.de', 'own', 'v=spf1 mx -all'),
  });
  const OTHERS: [name: string, scene: Scene][] = [
    ['an own server', server('mail.laden-linde.de', 'mail.laden-linde.de', '203.0.114.9')],
    [
      'a rented server with a generic name',
      server('static.9.114.0.203.clients.your-server.de', 'vps1', '203.0.114.9'),
    ],
    [
      'an instance in a cloud',
      server('ec2-203-0-114-9.eu-central-1.compute.amazonaws.com', 'ip-10-0-0-7', '203.0.114.9'),
    ],
    [
      'a generic name and a full HELO',
      server('203-0-114-9.netz-sued.de', 'mail.laden-linde.de', '203.0.114.9'),
    ],
    [
      'an office line with a name of its own',
      server('mail.home.laden-linde.de', 'mail.home.laden-linde.de', '203.0.114.9'),
    ],
  ];
  for (const [name, scene] of OTHERS)
    it(`keeps its advice: ${name}`, async () => {
      const { fixes, check } = await reportOf(scene);
      assert.doesNotMatch(fixes, /end-user IP address|Goes with “(?:SPF|HELO|Reverse)[^”]*”: send/);
      assert.equal(check('spf').evidence.setup, undefined);
    });

  it('keeps its advice: a server whose reverse name cannot be looked up', async () => {
    const scene = {
      ...LINES[0]!,
      ptr: null,
      zone: { ...LINES[0]!.zone, '9.113.72.84.in-addr.arpa': { fails: 'timeout' } },
    };
    const { fixes } = await reportOf(scene as Scene);
    assert.doesNotMatch(fixes, /end-user IP address/);
  });
});

describe('The kind of a reverse name', () => {
  const NAMES: [name: string, address: string, kind: string][] = [
    ['pool-71-163-2-9.washdc.fios.verizon.net', '71.163.2.9', 'line'],
    ['host-80-17-99-73.retail.telecomitalia.it', '80.17.99.73', 'line'],
    ['178-201-12-13.hsi03.unitymediagroup.de', '178.201.12.13', 'line'],
    ['cpc92302-cmbg19-2-0-cust369.5-4.cable.virginm.net', '82.1.2.3', 'line'],
    ['83.24.17.9.ipv4.supernova.orange.pl', '83.24.17.9', 'unknown'],
    ['vps-5f3a1c2e.vps.ovh.net', '203.0.114.9', 'own'],
    ['vmi203-0-114-9.contaboserver.net', '203.0.114.9', 'rented'],
    ['203-0-114-9.ip.linodeusercontent.com', '203.0.114.9', 'rented'],
    ['203.0.114.9.vultrusercontent.com', '203.0.114.9', 'rented'],
    ['static-203-0-114-9.firma.example', '203.0.114.9', 'static'],
    ['smtp-out1-2.telenet.be', '195.130.137.80', 'own'],
    ['mailout12.t-online.de', '194.25.134.22', 'own'],
    ['mail.mobile.example', '203.0.114.9', 'own'],
  ];
  for (const [name, address, kind] of NAMES)
    it(`is ${kind}: ${name}`, () => assert.equal(kindOfName(name, address), kind));
});
