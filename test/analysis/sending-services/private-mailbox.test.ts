/** A private mailbox that sends for an own domain: no advice that only works in a service for domains. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dkim } from '../../../src/analysis/checks/dkim.ts';
import { dkimAlignment } from '../../../src/analysis/checks/dkim-alignment.ts';
import { dmarc } from '../../../src/analysis/checks/dmarc.ts';
import { spfAlignment } from '../../../src/analysis/checks/spf-alignment.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { makeKey, signMessage } from '../../helpers/signer.ts';

const key = makeKey();
const FROM = 'werkstatt-keller.example';

/** A message from an own domain, signed and sent by a mailbox provider. */
async function scene(domain: string, mailFrom: string, from = `info@${FROM}`) {
  const raw = `From: Werkstatt Keller <${from}>\nTo: kunde@example.net\nSubject: Ihr Angebot\nMessage-ID: <1@${domain}>\nDate: Sat, 21 Nov 2026 10:00:00 +0000\n\nGuten Tag\n`;
  const zone: Zone = {
    [`s._domainkey.${domain}`]: { TXT: [key.record] },
    [domain]: { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
    [`_dmarc.${FROM}`]: { TXT: ['v=DMARC1; p=none; rua=mailto:d@werkstatt-keller.example'] },
  };
  const message = await signMessage(raw, { domain, selector: 's', key });
  const envelope = {
    client_ip: '192.0.2.1',
    mail_from: mailFrom,
    helo: `mail.${domain}`,
    tls: null,
  };
  return { message, zone, envelope };
}

const PROVIDERS: [domain: string, name: string, alternative: RegExp][] = [
  ['gmail.com', 'Gmail', /“Send mail as”.* Or move the mail of \S+ to Google Workspace\./],
  ['outlook.com', 'Microsoft', /Or move the mail of \S+ to Microsoft 365\./],
  ['yahoo.co.jp', 'Yahoo', /Send it through the mail service of/],
  ['gmx.net', 'GMX', /Send it through the mail service of/],
  ['icloud.com', 'Apple', /iCloud\+ with a custom email domain/],
];

for (const [domain, name, alternative] of PROVIDERS)
  test(`A private mailbox at ${domain} that sends for an own domain cannot sign for it`, async () => {
    const input = await scene(domain, `keller.werkstatt@${domain}`);
    for (const check of [dkimAlignment, spfAlignment, dmarc]) {
      const { status, fix } = await runCheck(check, input);
      assert.notEqual(status, 'pass', check.id);
      const text = fix?.text ?? '';
      assert.ok(
        text.includes(`from a private mailbox at ${name}, which cannot sign for ${FROM}`),
        text,
      );
      assert.match(text, alternative);
      assert.doesNotMatch(text, /Defender portal|In Google Workspace|In Microsoft 365/);
      assert.equal(fix?.record, undefined);
    }
  });

test('Without a signature, the advice is the same', async () => {
  const { zone, envelope } = await scene('web.de', 'keller@web.de');
  const message = `From: info@${FROM}\nSubject: Hallo\n\nHallo\n`;
  const { fix } = await runCheck(dkim, { message, zone, envelope });
  assert.match(fix?.text ?? '', /private mailbox at WEB\.DE/);
});

test('Mail of the mailbox’s own address, of a service and of a forwarder gets no such advice', async () => {
  const others = [
    await scene('gmail.com', 'keller@gmail.com', 'keller@gmail.com'),
    await scene('mail.werkstatt-keller.example', 'bounce@mail.werkstatt-keller.example'),
    await scene('gmail.com', `anna+caf_=anna=${FROM}@gmail.com`),
  ];
  for (const input of others)
    for (const check of [dkimAlignment, spfAlignment]) {
      const { fix } = await runCheck(check, input);
      assert.doesNotMatch(fix?.text ?? '', /private mailbox/);
    }
});
