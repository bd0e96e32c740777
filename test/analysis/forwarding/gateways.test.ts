/** A gateway that changes signed mail is named, with the place where it signs. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeKey, signMessage } from '../../helpers/signer.ts';
import { domainZone, reportOf, type Scene, withMime } from '../sender-setup/scenes.ts';

const KEY = makeKey('rsa1024');
const DOMAIN = 'orgelbau-vogt.de';

interface Change {
  name: string;
  /** The server that delivers, and whether its name resolves back. */
  ptr: string;
  /** Header fields that the gateway adds. */
  fields?: string;
  change(raw: string): string;
  selector?: string;
  title: RegExp;
  fix: RegExp;
}

const addFooter = (text: string) => (raw: string) => `${raw}\r\n-- \r\n${text}\r\n`;
const tagSubject = (raw: string) => raw.replace('\r\nSubject: ', '\r\nSubject: [EXTERNAL] ');

const CHANGES: Change[] = [
  {
    name: 'Barracuda delivers and adds a footer',
    ptr: 'outbound-ip12a.ess.barracuda.com',
    change: addFooter('Confidential.'),
    title: /^Barracuda changed the body after orgelbau-vogt\.de signed the message\.$/,
    fix: /^Sign last: in Barracuda, .*turn on DKIM for orgelbau-vogt\.de/,
  },
  {
    name: 'Hornetsecurity delivers, after Microsoft 365 signed',
    ptr: 'mx-relay14.antispameurope.com',
    selector: 'selector1',
    change: addFooter('Registergericht Ulm'),
    title: /^Hornetsecurity changed the body after Microsoft 365 signed the message\.$/,
    fix: /Security Settings, Email Authentication, DKIM.*before Microsoft 365 signs/,
  },
  {
    name: 'IronPort left its fields on the way to an own server',
    ptr: `out.${DOMAIN}`,
    fields: 'X-IronPort-AV: E=Sophos;i="6.20"\r\n',
    change: addFooter('Scanned.'),
    title: /^A gateway, apparently Cisco Secure Email \(IronPort\), changed the body/,
    fix: /Mail Policies, Signing Profiles/,
  },
  {
    name: 'CodeTwo passes mail back to the mail service',
    ptr: `out.${DOMAIN}`,
    fields: 'X-CodeTwoProcessed: true\r\n',
    change: addFooter('Vogt Orgelbau GmbH'),
    title: /CodeTwo, changed the body/,
    fix: /^Route mail from CodeTwo back through the mail service of orgelbau-vogt\.de/,
  },
  {
    name: 'Proofpoint rewrote links',
    ptr: `out.${DOMAIN}`,
    change: (raw) =>
      raw.replace(
        'https://orgelbau-vogt.de/',
        'https://urldefense.com/v3/__https://orgelbau-vogt.de/',
      ),
    title: /Proofpoint, changed the body/,
    fix: /Email Authentication, DKIM Signing/,
  },
  {
    name: 'a virus scanner added its note',
    ptr: `out.${DOMAIN}`,
    change: addFooter('This email has been checked for viruses by Avast antivirus software.'),
    title: /Avast, changed the body/,
    fix: /^Sign as orgelbau-vogt\.de after Avast, on the last server/,
  },
  {
    name: 'FortiMail tagged the subject',
    ptr: `out.${DOMAIN}`,
    fields: 'X-FEAS-Client-IP: 172.31.4.15\r\n',
    change: tagSubject,
    title: /FortiMail, (?:probably )?changed the subject/,
    fix: /^Sign last: in FortiMail/,
  },
  {
    name: 'Microsoft 365 appended a disclaimer to the signed mail of another server',
    ptr: 'mail-am6eur05on2045.outbound.protection.outlook.com',
    change: addFooter('This mail is confidential.'),
    title: /^Microsoft 365 changed the body after orgelbau-vogt\.de signed/,
    fix: /in the Microsoft Defender portal/,
  },
];

async function changed({ ptr, fields = '', change, selector = 'k1' }: Change): Promise<Scene> {
  const message = withMime(
    `From: Eva Vogt <eva@${DOMAIN}>\nTo: chris@kunde.example\nSubject: Angebot\nMessage-ID: <a1@${DOMAIN}>\n\nGuten Tag, siehe https://orgelbau-vogt.de/ dazu.\n`,
  );
  const signed = await signMessage(message, { domain: DOMAIN, selector, key: KEY });
  return {
    message: Buffer.from(fields + change(signed.toString())),
    mailFrom: `eva@${DOMAIN}`,
    helo: ptr,
    ip: '203.0.114.77',
    ptr,
    zone: {
      ...domainZone(DOMAIN, 'own', 'v=spf1 ip4:203.0.114.77 -all'),
      [`${selector}._domainkey.${DOMAIN}`]: { TXT: [KEY.record] },
    },
  };
}

describe('A gateway that changes signed mail', () => {
  for (const one of CHANGES)
    it(`is named, with where to sign: ${one.name}`, async () => {
      const { first, check } = await reportOf(await changed(one));
      assert.equal(first.id, 'dkim', first.title);
      assert.match(first.title, one.title);
      assert.match(first.fix!.text, one.fix);
      assert.match(first.fix!.text, /[Cc]onfigure .* to leave signed mail unchanged/);
      assert.match(first.fix!.guide!.url, /^https:\/\//);
      assert.equal(check('dmarc').status, 'pass');
    });

  it('is named by DMARC too, if SPF does not pass', async () => {
    const scene = await changed(CHANGES[0]!);
    const zone = { ...scene.zone, ...domainZone(DOMAIN, 'own', 'v=spf1 mx -all') };
    const { check } = await reportOf({ ...scene, zone });
    assert.equal(check('dmarc').status, 'fail');
    assert.match(
      check('dmarc').fix!.text,
      /^Goes with “DKIM signature”: .*Sign last: in Barracuda/,
    );
  });

  it('is not blamed for a message that still verifies', async () => {
    const { result, check } = await reportOf(
      await changed({ ...CHANGES[0]!, change: (raw) => raw }),
    );
    assert.equal(check('dkim').status, 'pass', result.summary);
  });

  it('is not invented where nothing shows one', async () => {
    const { first } = await reportOf(await changed({ ...CHANGES[0]!, ptr: `out.${DOMAIN}` }));
    assert.equal(
      first.title,
      'The body was changed after orgelbau-vogt.de signed the message, so the signature does not match.',
    );
  });

  it('may be the recipient’s in a file whose receiver had a gateway in front of it', async () => {
    const receipt = [
      `Received: from eu-smtp-delivery-1.mimecast.com (91.220.42.1) by AM6PEPF0000A.mail.protection.outlook.com (10.167.16.5) with Microsoft SMTP Server id 15.20.7; Sat, 21 Nov 2026 10:00:02 +0000`,
      `Received: from out.${DOMAIN} (out.${DOMAIN} [203.0.114.77]) by relay.mimecast.com with ESMTP id a1; Sat, 21 Nov 2026 10:00:01 +0000`,
    ];
    const scene = await changed({
      ...CHANGES[0]!,
      ptr: `out.${DOMAIN}`,
      fields: `${receipt.join('\r\n')}\r\n`,
    });
    const { check, result } = await reportOf({ ...scene, isFile: true });
    assert.match(check('dkim').title, /Mimecast, changed the body/);
    assert.match(
      check('dkim').fix!.text,
      /^If Mimecast filters the recipient’s mail, you have nothing to fix as the sender\. Only if it filters your outgoing mail: sign last/,
    );
    assert.equal(check('dmarc').status, 'skipped');
    assert.equal(result.score, null);
  });

  it('is not certain by a reverse name that does not resolve back', async () => {
    const scene = await changed(CHANGES[0]!);
    const zone = { ...scene.zone, [scene.ptr!]: { A: ['203.0.114.1'] } };
    const { check } = await reportOf({ ...scene, zone });
    assert.match(check('dkim').title, /^A gateway, apparently Barracuda, changed the body/);
  });
});
