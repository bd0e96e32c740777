/** Forwarding that only the delivery path shows: no advice to add the forwarder to the SPF record. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spf } from '../../../src/analysis/checks/spf.ts';
import { reverseName } from '../../../src/lib/addresses.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { makeKey, signMessage } from '../../helpers/signer.ts';

const key = makeKey();

interface Scene {
  from: string;
  /** The Received fields, newest first. */
  received: string[];
  helo: string;
  ptr: string;
  /** Domains with a mail service. */
  mx?: string[];
  signed?: boolean;
  /** The sending address, if the host name is confirmed. */
  client?: string;
}

const CLIENT = '198.51.100.7';
const OWN = '203.0.113.10';

async function run({ from, received, helo, ptr, mx = [], signed = true, client }: Scene) {
  const trace = received
    .map((field) => `Received: ${field}; Sat, 21 Nov 2026 09:59:00 +0000\n`)
    .join('');
  const raw = `From: anna@${from}\nTo: info@example.net\nSubject: Hallo\nMessage-ID: <1@${from}>\nDate: Sat, 21 Nov 2026 09:58:00 +0000\n\nHallo\n`;
  const mail = signed
    ? (await signMessage(raw, { domain: from, selector: 's', key })).toString('latin1')
    : raw.replaceAll('\n', '\r\n');
  const zone: Zone = {
    [from]: { TXT: [`v=spf1 ip4:${OWN} -all`] },
    [`s._domainkey.${from}`]: { TXT: [key.record] },
    [`_dmarc.${from}`]: { TXT: ['v=DMARC1; p=reject'] },
    '7.100.51.198.in-addr.arpa': { PTR: [ptr] },
    ...(client !== undefined && { [reverseName(client)]: { PTR: [ptr] }, [ptr]: { A: [client] } }),
    ...Object.fromEntries(mx.map((name) => [name, { MX: [`10 mx.${name}`] }])),
  };
  const envelope = { client_ip: client ?? CLIENT, helo, mail_from: `anna@${from}`, tls: null };
  const message = trace.replaceAll('\n', '\r\n') + mail;
  return runCheck(spf, { message: Buffer.from(message, 'latin1'), zone, envelope });
}

const FORWARDED: [name: string, scene: Scene][] = [
  [
    'Postfix took it from the author’s server',
    {
      from: 'shop.example',
      helo: 'mx2.uni-nord.example',
      ptr: 'mx2.uni-nord.example',
      received: [
        `from mail.shop.example (mail.shop.example [${OWN}]) by mx2.uni-nord.example (Postfix) with ESMTPS id 4Xy`,
      ],
    },
  ],
  [
    'Exim, with another host of the organization',
    {
      from: 'boutique.example',
      helo: 'out.alumni.example',
      ptr: 'out.alumni.example',
      received: [
        `from [${OWN}] (helo=mail.boutique.example) by in.alumni.example with esmtps (TLS1.3) (Exim 4.96)`,
      ],
    },
  ],
  [
    'Exchange',
    {
      from: 'firma.example',
      helo: 'ex01.verein.example',
      ptr: 'ex01.verein.example',
      received: [
        `from mail.firma.example (${OWN}) by ex01.verein.example (10.0.0.5) with Microsoft SMTP Server id 15.2`,
      ],
    },
  ],
  [
    'only the names, of an organization with a mail service that received the message',
    {
      from: 'shop.example',
      helo: 'relay.posthaus.example',
      ptr: 'relay.posthaus.example',
      mx: ['posthaus.example'],
      received: [
        'from inside by relay.posthaus.example with LMTP id 1',
        'from mail.shop.example by in.posthaus.example with ESMTPS id 2',
      ],
    },
  ],
  [
    'a known web host took it from the author’s server',
    {
      from: 'shop.example',
      helo: 'mailout1.one.com',
      ptr: 'mailout1.one.com',
      client: '203.0.114.7',
      received: [
        `from mail.shop.example (mail.shop.example [${OWN}]) by mx1.one.com (Postfix) with ESMTPS id 4Xy`,
      ],
    },
  ],
];

for (const [name, scene] of FORWARDED)
  test(`spf check recognizes a forwarded message by its path: ${name}`, async () => {
    const { status, title, fix } = await run(scene);
    assert.equal(status, 'fail');
    const organization = scene.helo.split('.').slice(-2).join('.');
    assert.ok(
      title.startsWith(`SPF does not pass, because ${organization} passed the message on`),
      title,
    );
    assert.match(fix?.text ?? '', /^You have nothing to fix: do not add a forwarding server/);
    assert.equal(fix?.record, undefined);
  });

const [, example] = FORWARDED[0]!;
const DIRECT: [name: string, scene: Scene][] = [
  ['no valid signature of the author', { ...example, signed: false }],
  ['a server of the author', { ...example, helo: 'mx2.shop.example', ptr: 'mx2.shop.example' }],
  [
    'the server before is not allowed by SPF either',
    { ...example, received: example.received.map((field) => field.replace(OWN, '192.0.2.99')) },
  ],
  ['no Received field', { ...example, received: [] }],
];

for (const [name, scene] of DIRECT)
  test(`spf check proposes a record for a server of the author’s: ${name}`, async () => {
    const { status, fix } = await run(scene);
    assert.equal(status, 'fail');
    assert.match(fix?.record?.value ?? '', /ip4:198\.51\.100\.7/);
  });

test('spf check proposes the record of a web host that took the message from its customer', async () => {
  const { status, title, fix } = await run({
    from: 'shop.example',
    helo: 'mailout1.one.com',
    ptr: 'mailout1.one.com',
    mx: ['one.com'],
    client: '203.0.114.7',
    received: ['from laptop ([192.0.2.99]) by mailout1.one.com (Postfix) with ESMTPSA id 4Xy'],
  });
  assert.equal(status, 'fail');
  assert.doesNotMatch(title, /passed the message on/);
  assert.match(fix?.text ?? '', /include:_custspf\.one\.com/);
});
