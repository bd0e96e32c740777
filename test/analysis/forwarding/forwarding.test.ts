/** Recognizes list mail and forwarded mail, and does not take mail of sending services for either. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Envelope } from '../../../src/analysis/check.ts';
import { type Forwarding, forwarding } from '../../../src/analysis/forwarding/forwarding.ts';
import { contextFor } from '../../helpers/analysis.ts';
import { goodMessage } from '../../helpers/good-message.ts';

interface Row {
  name: string;
  headers: Record<string, string | string[] | null>;
  envelope?: Partial<Envelope>;
  body?: string;
  kind: Forwarding['kind'];
  by?: string | null;
  changed?: Forwarding['changed'];
}

const AUTHOR = { From: 'Ann Larsen <ann@example.com>' };
const LIST_ENVELOPE = {
  mail_from: 'orchard-bounces@lists.pomology.example',
  helo: 'lists.pomology.example',
};
const FORWARDER = { mail_from: 'ann@example.com', helo: 'mail.alumni.example' };
const MAILMAN_FOOTER = `Hello.

_______________________________________________
Orchard mailing list -- orchard@lists.pomology.example
To unsubscribe send an email to orchard-leave@lists.pomology.example
`;

const ROWS: Row[] = [
  // Lists.
  {
    name: 'Mailman 3 with subject tag and footer',
    headers: {
      ...AUTHOR,
      To: 'orchard@lists.pomology.example',
      Subject: '[Orchard] Clay soil',
      'List-Id': 'Old apples <orchard.lists.pomology.example>',
      'List-Post': '<mailto:orchard@lists.pomology.example>',
      'X-Mailman-Version': '3.3.10',
      Precedence: 'list',
    },
    envelope: LIST_ENVELOPE,
    body: MAILMAN_FOOTER,
    kind: 'list',
    by: 'lists.pomology.example',
    changed: ['subject', 'body'],
  },
  {
    name: 'Mailman 2 with X-BeenThere and a reply in the subject',
    headers: {
      ...AUTHOR,
      Subject: 'Re: [dev] Release 4',
      'X-BeenThere': 'dev@lists.project.example',
      'X-Mailman-Version': '2.1.39',
      'List-Id': 'Developers <dev.lists.project.example>',
    },
    envelope: { mail_from: 'dev-bounces@lists.project.example' },
    kind: 'list',
    by: 'dev.lists.project.example',
    changed: ['subject'],
  },
  {
    name: 'Mailman that rewrites From',
    headers: {
      From: 'Ann Larsen via Orchard <orchard@lists.pomology.example>',
      'Reply-To': 'Ann Larsen <ann@example.com>, orchard@lists.pomology.example',
      'List-Id': '<orchard.lists.pomology.example>',
      'List-Post': '<mailto:orchard@lists.pomology.example>',
      'X-Mailman-Version': '3.3.10',
    },
    envelope: LIST_ENVELOPE,
    kind: 'list',
    by: 'lists.pomology.example',
    changed: ['from'],
  },
  {
    name: 'Google Groups',
    headers: {
      ...AUTHOR,
      'X-Google-Group-Id': '415581220',
      'Mailing-list': 'list team@rowan.example; contact team+owners@rowan.example',
      'List-ID': '<team.rowan.example>',
    },
    envelope: { mail_from: 'team+bncBD@rowan.example', helo: 'mail-wm1-f180.google.com' },
    kind: 'list',
    by: 'team.rowan.example',
  },
  {
    name: 'Groups.io, which has only a Mailing-List field of its own',
    headers: {
      ...AUTHOR,
      'Mailing-List': 'list crows@groups.io; contact crows+owner@groups.io',
      'List-Id': '<crows.groups.io>',
    },
    envelope: { mail_from: 'bounce+42@groups.io' },
    kind: 'list',
    by: 'crows.groups.io',
  },
  {
    name: 'ezmlm',
    headers: {
      ...AUTHOR,
      'Mailing-List': 'contact users-help@httpd.project.example; run by ezmlm',
      'List-Post': '<mailto:users@httpd.project.example>',
    },
    kind: 'list',
    by: 'httpd.project.example',
  },
  {
    name: 'Sympa with a posting address elsewhere',
    headers: {
      ...AUTHOR,
      'X-Loop': 'physics@listes.univ.example',
      'List-Id': '<physics.listes.univ.example>',
      'List-Post': '<mailto:physics@listes.univ.example>',
    },
    kind: 'list',
    by: 'listes.univ.example',
  },
  {
    name: 'a Google Group whose From is rewritten, without fields of Google',
    headers: {
      From: "'Jonas Berg' via Team <team@rowan.example>",
      'X-Original-From': 'Jonas Berg <jonas@fjord.example>',
      'List-ID': '<team.rowan.example>',
    },
    kind: 'list',
    by: 'team.rowan.example',
    changed: ['from'],
  },
  {
    name: 'an alias with List-Id that the message is addressed to',
    headers: {
      ...AUTHOR,
      To: 'billing@alumni.example',
      'List-Id': '<billing.alumni.example>',
      Precedence: 'list',
    },
    envelope: { mail_from: 'billing-bounces@alumni.example', helo: 'mail.alumni.example' },
    kind: 'list',
    by: 'alumni.example',
  },
  {
    name: 'Listprocessor',
    headers: { ...AUTHOR, 'X-Listprocessor-Version': '8.2.10/020311/17:52' },
    kind: 'list',
    by: null,
  },
  // Forwarded.
  {
    name: 'SRS0',
    headers: AUTHOR,
    envelope: { mail_from: 'SRS0=k3Fq=XY=example.com=ann@alumni.example' },
    kind: 'forwarded',
    by: 'alumni.example',
  },
  {
    name: 'SRS1, forwarded twice',
    headers: AUTHOR,
    envelope: { mail_from: 'SRS1=aB=alumni.example==k3Fq=XY=example.com=ann@second.example' },
    kind: 'forwarded',
    by: 'second.example',
  },
  {
    name: 'SRS of Exchange Online with a tag',
    headers: { ...AUTHOR, Subject: '[EXTERNAL] Invoice' },
    envelope: { mail_from: 'accounts+SRS=k3Fq=XY=example.com=ann@mills.example' },
    body: 'CAUTION: This email comes from outside your organization.\n\nHello.\n',
    kind: 'forwarded',
    by: 'mills.example',
    changed: ['subject', 'body'],
  },
  {
    name: 'automatic forwarding of Gmail',
    headers: {
      ...AUTHOR,
      'X-Forwarded-To': 'reader@example.net',
      'X-Forwarded-For': 'kim@rowan.example reader@example.net',
      'Delivered-To': 'kim@rowan.example',
    },
    envelope: { mail_from: 'kim+caf_=reader=example.net@rowan.example' },
    kind: 'forwarded',
    by: 'rowan.example',
  },
  {
    name: 'an alias that keeps the envelope sender',
    headers: {
      ...AUTHOR,
      'X-Forwarded-To': 'reader@example.net',
      'Delivered-To': 'kim@alumni.example',
    },
    envelope: FORWARDER,
    kind: 'forwarded',
    by: 'alumni.example',
  },
  {
    name: 'Postfix that only adds Delivered-To',
    headers: { ...AUTHOR, To: 'undisclosed-recipients:;', 'Delivered-To': 'kim@alumni.example' },
    envelope: FORWARDER,
    kind: 'forwarded',
    by: 'alumni.example',
  },
  {
    name: 'a hop to the organization in To, which sent the message on',
    headers: {
      Received:
        'from out.example.com (out.example.com [203.0.114.66]) by mx.alumni.example with ESMTPS; Sat, 21 Nov 2026 09:59:50 +0000',
      ...AUTHOR,
      To: 'kim@alumni.example',
    },
    envelope: FORWARDER,
    kind: 'forwarded',
    by: 'alumni.example',
  },
  {
    name: 'a message resent by its recipient',
    headers: {
      'Resent-From': 'Kim <kim@rowan.example>',
      'Resent-To': 'reader@example.net',
      ...AUTHOR,
    },
    envelope: { mail_from: 'kim@rowan.example' },
    kind: 'forwarded',
    by: 'rowan.example',
  },
  {
    name: 'an inbox rule of Exchange',
    headers: { ...AUTHOR, 'X-MS-Exchange-Inbox-Rules-Loop': 'accounts@mills.example' },
    kind: 'forwarded',
    by: 'mills.example',
  },
  {
    name: 'an ARC set by the owner of the envelope sender',
    headers: {
      'ARC-Seal': 'i=1; a=rsa-sha256; cv=none; d=alumni.example; s=arc; b=AAAA',
      'ARC-Authentication-Results': 'i=1; mx.alumni.example; spf=pass; dkim=pass; dmarc=pass',
      ...AUTHOR,
    },
    envelope: { mail_from: 'forward-17@alumni.example' },
    kind: 'forwarded',
    by: 'alumni.example',
  },
  // Direct.
  { name: 'a plain message', headers: AUTHOR, kind: 'direct' },
  {
    name: 'a newsletter with the List-Id of its service',
    headers: {
      From: 'Shop <news@shop.example>',
      To: 'reader@example.net',
      'List-Id': '7f4ce6mc list <7f4ce6.1234.list-id.mcsv.net>',
      'List-Unsubscribe': '<https://shop.us1.list-manage.com/unsubscribe?u=1>',
      'List-Post': 'NO',
    },
    envelope: { mail_from: 'bounce-mc.us1@mail12.mcdlv.net', helo: 'mail12.mcdlv.net' },
    kind: 'direct',
  },
  {
    name: 'an announcement list of the author with List-Post at the same organization',
    headers: {
      From: 'notifications@forge.example',
      'List-Id': '<repo.owner.forge.example>',
      'List-Post': '<mailto:reply+abc@reply.forge.example>',
    },
    kind: 'direct',
  },
  {
    name: 'Microsoft 365, which seals mail of its customers',
    headers: {
      'ARC-Seal': 'i=1; a=rsa-sha256; s=arcselector10001; d=microsoft.com; cv=none; b=AAAA',
      'ARC-Authentication-Results': 'i=1; mx.microsoft.com 1; spf=pass; dmarc=pass; dkim=pass',
      ...AUTHOR,
    },
    envelope: { helo: 'mail-westeuropeazon1.outbound.protection.outlook.com' },
    kind: 'direct',
  },
  {
    name: 'VERP and BATV envelope senders',
    headers: AUTHOR,
    envelope: { mail_from: 'prvs=1234abcdef=ann@example.com' },
    kind: 'direct',
  },
  {
    name: 'a tag that the author wrote',
    headers: { ...AUTHOR, Subject: '[Invoice 17] Your order' },
    kind: 'direct',
  },
  {
    name: 'a document service that names the person it writes for',
    headers: {
      From: '"Ann Larsen via SignNow" <noreply@signatures.example>',
      'Reply-To': 'ann@example.com',
    },
    envelope: { mail_from: 'b@signatures.example' },
    kind: 'direct',
  },
  {
    name: 'a contact form that records the address of its visitor',
    headers: {
      From: 'Visitor <visitor@freemail.example>',
      To: 'owner@site.example',
      'X-Forwarded-For': '203.0.114.9',
      Received: 'from localhost by www.site.example with ESMTP; Sat, 21 Nov 2026 09:59:50 +0000',
    },
    envelope: { mail_from: 'www-data@site.example', helo: 'www.site.example' },
    kind: 'direct',
  },
  {
    name: 'an uploaded message, whose own mailbox added Delivered-To',
    headers: { 'Delivered-To': 'reader@example.net', ...AUTHOR },
    envelope: { client_ip: null, helo: null },
    kind: 'direct',
  },
  {
    name: 'a message that its author resent',
    headers: { 'Resent-From': 'ann@example.com', ...AUTHOR },
    kind: 'direct',
  },
  {
    name: 'a relay of a hosting provider',
    headers: {
      Received:
        'from [192.0.2.7] (helo=laptop) by smtp.hoster.example with ESMTPSA; Sat, 21 Nov 2026 09:59:50 +0000',
      ...AUTHOR,
    },
    envelope: { helo: 'smtp.hoster.example' },
    kind: 'direct',
  },
  {
    name: 'list fields that follow no grammar',
    headers: { ...AUTHOR, 'List-Id': '<<<@>>>', 'List-Post': '<mailto:@>', 'Mailing-List': ';;' },
    kind: 'direct',
  },
];

describe('Recognizing forwarded mail', () => {
  for (const { name, headers, envelope, body, kind, by, changed } of ROWS)
    it(`${name} is ${kind}`, async () => {
      const found = (await contextFor({ message: goodMessage(headers, body), envelope })).fact(
        forwarding,
      );
      assert.equal(found.kind, kind, JSON.stringify(found));
      assert.equal(found.by, by ?? null);
      assert.deepEqual(found.changed, changed ?? []);
      assert.equal(found.evidence.length > 0, kind !== 'direct');
    });

  it('lists ARC sealers in their order, with the results that they recorded', async () => {
    const message = goodMessage({
      'ARC-Seal': ['i=2; d=b.example; b=x', 'i=1; d=A.example; b=x', 'i=one; d=c.example', 'x'],
      'ARC-Authentication-Results': [
        'i=2; mx.b.example; arc=pass; dkim=fail (body changed); spf=pass',
        'i=1; mx.a.example; dkim=pass header.d=example.com; dkim=fail; spf=softfail',
      ],
    });
    assert.deepEqual((await contextFor({ message })).fact(forwarding).seals, [
      { instance: 1, domain: 'a.example', results: ['dkim=pass', 'spf=softfail'] },
      { instance: 2, domain: 'b.example', results: ['arc=pass', 'dkim=fail', 'spf=pass'] },
    ]);
  });

  it('does not take recorded SPF of the HELO name for SPF of the envelope sender', async () => {
    const message = goodMessage({
      'ARC-Seal': [1, 2, 3, 4].map((i) => `i=${i}; d=${'abcd'[i - 1]}.example; b=x`),
      'ARC-Authentication-Results': [
        'i=1; mx.a.example; spf=pass smtp.helo=relay.example; spf=fail smtp.mailfrom=ann@example.com',
        'i=2; mx.b.example; spf=softfail (versand) smtp.mailfrom=firma.example; spf=pass smtp.helo=mx',
        'i=3; mx.c.example; dkim=pass header.d=example.com; spf=pass smtp.helo=mail.example.com',
        'i=4; mx.d.example; spf=none smtp.mailfrom=a@b.example smtp.helo=mail.example.com; dmarc=fail',
      ],
    });
    const { seals } = (await contextFor({ message })).fact(forwarding);
    assert.deepEqual(
      seals.map(({ results }) => results),
      [['spf=fail'], ['spf=softfail'], ['dkim=pass'], ['spf=none', 'dmarc=fail']],
    );
  });
});
