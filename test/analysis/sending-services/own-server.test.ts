/** A message alone never widens who may send: the fix asks first, and its record is published only if chosen. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Envelope, Fix, Setup } from '../../../src/analysis/check.ts';
import { spf } from '../../../src/analysis/checks/spf.ts';
import { spfRecord } from '../../../src/analysis/checks/spf-record.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { makeKey, signMessage } from '../../helpers/signer.ts';

const UNKNOWN = '203.0.114.66';
const MESSAGE =
  'From: Ada <ada@quarry.example>\nTo: b@example.net\nSubject: Stones\nDate: Sat, 21 Nov 2026 10:00:00 +0000\nMessage-ID: <1@quarry.example>\n\nHello.\n';
const ZONE: Zone = { 'quarry.example': { MX: ['5 in.quarry.example'], TXT: ['v=spf1 -all'] } };

interface Scene {
  client?: string;
  zone?: Zone;
  envelope?: Partial<Envelope>;
  setup?: Partial<Setup>;
  message?: string | Uint8Array;
}

const sceneOf = ({ client = UNKNOWN, zone = {}, envelope, setup, message = MESSAGE }: Scene) => ({
  message,
  zone: { ...ZONE, ...zone },
  envelope: {
    mail_from: 'ada@quarry.example',
    helo: 'relay.elsewhere.example',
    client_ip: client,
    ...envelope,
  },
  setup,
});

const fixFor = async (scene: Scene): Promise<Fix> => (await runCheck(spf, sceneOf(scene))).fix!;

for (const [what, scene, asked] of [
  ['an IPv4 address', {}, UNKNOWN],
  ['an IPv6 address', { client: '2001:db8:7::66' }, '2001:db8:7::66'],
  [
    'a reverse name below the domain that does not lead back',
    {
      zone: {
        '66.114.0.203.in-addr.arpa': { PTR: ['out.quarry.example'] },
        'out.quarry.example': { A: ['203.0.114.1'] },
      },
    },
    UNKNOWN,
  ],
  [
    'a reverse name of another domain that leads back',
    {
      zone: {
        '66.114.0.203.in-addr.arpa': { PTR: ['vps.host.example'] },
        'vps.host.example': { A: [UNKNOWN] },
      },
    },
    UNKNOWN,
  ],
  ['a name in HELO below the domain', { envelope: { helo: 'mail.quarry.example' } }, UNKNOWN],
  [
    'the null sender, with a HELO name that has another address',
    {
      envelope: { mail_from: '', helo: 'quarry.example' },
      zone: { 'quarry.example': { A: ['203.0.114.1'], TXT: ['v=spf1 -all'] } },
    },
    UNKNOWN,
  ],
] as [string, Scene, string][])
  test(`An unknown server is asked about before it is added to SPF: ${what}`, async () => {
    const fix = await fixFor(scene);
    assert.match(
      fix.text,
      new RegExp(`^Is ${asked} your server\\? If not, there is nothing to publish`),
    );
    assert.equal(fix.caution, `Publish it only if ${asked} is your server.`);
    assert.match(fix.record!.value, new RegExp(asked));
  });

const KEY = makeKey();
const SIGNED_ZONE: Zone = { 's1._domainkey.quarry.example': { TXT: [KEY.record] } };
const signed = (text: string) =>
  signMessage(Buffer.from(text.replaceAll('\n', '\r\n')), {
    domain: 'quarry.example',
    selector: 's1',
    key: KEY,
  });

for (const [what, scene] of [
  [
    'the address of the domain',
    { zone: { 'quarry.example': { A: [UNKNOWN], TXT: ['v=spf1 -all'] } } },
  ],
  ['the address of its mail server', { zone: { 'in.quarry.example': { A: [UNKNOWN] } } }],
  [
    'a name below the domain that points to it both ways',
    {
      zone: {
        '66.114.0.203.in-addr.arpa': { PTR: ['out.quarry.example'] },
        'out.quarry.example': { A: [UNKNOWN] },
      },
    },
  ],
  ['what the service knows', { setup: { ownSenderOf: ['quarry.example'] } }],
] as [string, Scene][])
  test(`A server that the domain shows as its own is added to SPF: ${what}`, async () => {
    const fix = await fixFor(scene);
    assert.match(fix.text, /^Add this server to your SPF record/);
    assert.equal(fix.caution, undefined);
  });

test('A signature of the domain shows the server, unless the message is a file, was forwarded or the signature is of others', async () => {
  const zone = SIGNED_ZONE;
  assert.equal((await fixFor({ zone, message: await signed(MESSAGE) })).caution, undefined);
  // Whoever wrote the file can have written its Received field too.
  const file = { by: 'mx.google.com', provider: 'Gmail', at: null, results: null, origins: {} };
  assert.match(
    (await fixFor({ zone, message: await signed(MESSAGE), envelope: { file } })).caution!,
    /only if 203\.0\.114\.66 is your server/,
  );
  const listed = await signed(`List-Post: <mailto:l@lists.example>\n${MESSAGE}`);
  const list = await runCheck(spf, sceneOf({ zone, message: listed }));
  assert.ok(!list.fix?.record || list.fix.caution, list.fix?.text);
  const other = await signMessage(Buffer.from(MESSAGE.replaceAll('\n', '\r\n')), {
    domain: 'esp.example',
    selector: 's1',
    key: KEY,
  });
  const others = { 's1._domainkey.esp.example': { TXT: [KEY.record] } };
  assert.ok((await fixFor({ zone: others, message: other })).caution);
});

test('The include of a service that sent a stranger’s message is asked about too', async () => {
  const zone: Zone = {
    'sendgrid.net': { TXT: [`v=spf1 ip4:${UNKNOWN} -all`] },
    '66.114.0.203.in-addr.arpa': { PTR: ['o1.ptr.sendgrid.net'] },
    'o1.ptr.sendgrid.net': { A: [UNKNOWN] },
  };
  const fix = await fixFor({ zone });
  assert.match(fix.text, /^Do you use .*SendGrid to send as quarry\.example\? If not/);
  assert.match(fix.record!.value, /include:sendgrid\.net/);
  assert.match(fix.caution!, /only if you use .*SendGrid/);
  const own = await fixFor({ zone: { ...zone, ...SIGNED_ZONE }, message: await signed(MESSAGE) });
  assert.deepEqual([own.caution, own.record!.value], [undefined, fix.record!.value]);
});

test('A header field of a service proposes no record', async () => {
  const fix = await fixFor({ message: `X-Mandrill-User: md_1\n${MESSAGE}` });
  assert.equal(fix.record, undefined);
});

test('A record that lets everyone pass is closed, but the stranger who passes now is asked about', async () => {
  const scene = sceneOf({
    zone: { 'quarry.example': { MX: ['5 in.quarry.example'], TXT: ['v=spf1 mx +all'] } },
  });
  const { fix } = await runCheck(spfRecord, scene);
  assert.match(fix!.record!.value, new RegExp(`ip4:${UNKNOWN}`));
  assert.equal(fix!.caution, `Publish it only if ${UNKNOWN} is your server.`);
});
