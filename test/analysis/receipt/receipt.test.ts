/** What the header of a saved message says about its receipt, and what a stranger could write into it. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { scanHeaders } from '../../../src/analysis/mime/headers.ts';
import { readReceipt } from '../../../src/analysis/receipt/receipt.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';

const DATE = 'Fri, 20 Nov 2026 09:46:12 +0000';
const AT = Date.parse('2026-11-20T09:46:12Z');

const AUTHOR = ['From: Ann <ann@sender.example>', 'Subject: Hello', `Date: ${DATE}`];

const receiptOf = (...lines: string[]) =>
  readReceipt(scanHeaders(Buffer.from(`${[...lines, ...AUTHOR].join('\r\n')}\r\n\r\n`)).headers);

const namesOf = (lines: string[], indexes: number[] = []) =>
  indexes.map((index) => [...lines, ...AUTHOR][index]!.split(':', 1)[0]);

const PUBLIC = `Received: from out.sender.example (out.sender.example [203.0.113.9]) by mx.reader.example (Postfix) with ESMTPS id 1; ${DATE}`;

it('The newest hop from a public address outside is the receipt', () => {
  const lines = [
    'Return-Path: <bounce@sender.example>',
    'Delivered-To: ann@reader.example',
    `Received: from mx.reader.example by store.reader.example with LMTP id 3; ${DATE}`,
    `Received: from localhost (localhost [127.0.0.1]) by mx.reader.example (Postfix) with ESMTP id 2; ${DATE}`,
    PUBLIC,
    `Received: from app (app [10.0.0.7]) by out.sender.example with ESMTPSA id 9; ${DATE}`,
  ];
  const receipt = receiptOf(...lines)!;
  assert.equal(receipt.by, 'mx.reader.example');
  assert.equal(receipt.provider, null);
  assert.equal(receipt.at, AT);
  assert.equal(receipt.client_ip, '203.0.113.9');
  assert.equal(receipt.helo, 'out.sender.example');
  assert.deepEqual(receipt.tls, { used: true, version: null, cipher: null });
  assert.equal(receipt.mail_from, 'bounce@sender.example');
  assert.deepEqual(receipt.origins.mail_from, { field: 'Return-Path', by: 'mx.reader.example' });
  assert.deepEqual(receipt.addedFields, [0, 1, 2, 3, 4]);
});

it('A gateway with a public address of the same organization is skipped', () => {
  const receipt = receiptOf(
    `Received: from gate.reader.example (gate.reader.example [203.0.113.80]) by store.reader.example with ESMTPS id 4; ${DATE}`,
    `Received: from out.sender.example (out.sender.example [203.0.113.9]) by gate.reader.example with ESMTPS id 1; ${DATE}`,
  );
  assert.equal(receipt?.client_ip, '203.0.113.9');
  // A HELO name is the client's choice, so it does not make the client a gateway.
  const forged = receiptOf(
    `Received: from gate.reader.example (vps.other.example [203.0.113.66]) by store.reader.example with ESMTPS id 4; ${DATE}`,
    `Received: from out.sender.example (out.sender.example [203.0.113.9]) by gate.reader.example with ESMTPS id 1; ${DATE}`,
  );
  assert.equal(forged?.client_ip, '203.0.113.66');
});

const GATE = 'mx0b-00f1.pphosted.com';
const fromGateway = (result: string) =>
  receiptOf(
    'Return-Path: <bounce@sender.example>',
    `Received: from ${GATE} (${GATE}. [148.163.152.9]) by mx.google.com with ESMTPS id 4 (version=TLS1_3); ${DATE}`,
    `Authentication-Results: mx.google.com; dkim=pass header.i=@sender.example; ${result}`,
    `Received: from pps.filterd (m1.ppops.net [127.0.0.1]) by ${GATE} with ESMTP id 3; ${DATE}`,
    `Received: from out.sender.example (out.sender.example [203.0.113.9]) by ${GATE} (PPS) with ESMTPS id 2; ${DATE}`,
  )!;

it('A gateway is the client only if its receiver saw SPF pass for it', () => {
  const ofSender = fromGateway('spf=pass smtp.mailfrom=bounce@sender.example');
  assert.equal(ofSender.client_ip, '148.163.152.9');
  for (const result of ['spf=fail', 'spf=softfail', 'spf=none']) {
    const receipt = fromGateway(`${result} smtp.mailfrom=bounce@sender.example`);
    assert.equal(receipt.client_ip, null, result);
    assert.equal(receipt.helo, null);
    assert.equal(receipt.provider, 'Gmail');
    assert.equal(receipt.at, AT);
    assert.equal(receipt.mail_from, 'bounce@sender.example');
    assert.deepEqual(receipt.results, { dkim: 'pass' });
    assert.deepEqual(receipt.addedFields, [0, 1, 2]);
  }
});

it('An address that Microsoft 365 judged instead of the gateway is not that of the gateway', () => {
  const receiptFor = (judged: string) =>
    receiptOf(
      `Authentication-Results: spf=pass (sender IP is ${judged}) smtp.mailfrom=sender.example; dkim=pass header.d=sender.example`,
      `Received: from eu-smtp-inbound-1.mimecast.com (195.130.217.76) by DB5PEPF1.mail.protection.outlook.com (10.167.8.2) with Microsoft SMTP Server (version=TLS1_3, cipher=TLS_AES_256_GCM_SHA384) id 15.20.1; ${DATE}`,
      `Received: from out.sender.example (out.sender.example [203.0.113.9]) by relay.mimecast.com with ESMTP id 2; ${DATE}`,
    )!;
  assert.equal(receiptFor('203.0.113.9').client_ip, null);
  assert.equal(receiptFor('195.130.217.76').client_ip, '195.130.217.76');
});

for (const [what, ...lines] of [
  ['without a Received field'],
  [
    'submitted with a login',
    `Received: from [192.168.1.4] (host.isp.example [203.0.113.40]) by smtp.sender.example (Postfix) with ESMTPSA id 1; ${DATE}`,
  ],
  [
    'submitted with a login that only a comment shows',
    `Received: from laptop (host.isp.example [203.0.113.40]) (authenticated bits=0) by smtp.sender.example with ESMTP id 1; ${DATE}`,
  ],
  [
    'that a program on the server wrote',
    `Received: by web.sender.example (Postfix, from userid 33) id 1; ${DATE}`,
  ],
  [
    'stored below a submission',
    `Received: from localhost (localhost [127.0.0.1]) by mail.sender.example with LMTP id 2; ${DATE}`,
    `Received: from [10.1.1.1] (host.isp.example [203.0.113.40]) by mail.sender.example with ESMTPA id 1; ${DATE}`,
    PUBLIC,
  ],
  [
    'in the folder of sent mail of a provider',
    `Received: from AM0P1.eurprd01.prod.outlook.com ([fe80::1]) by AM0P1.eurprd01.prod.outlook.com ([fe80::1%3]) with mapi id 15.20; ${DATE}`,
  ],
] as const)
  it(`A message ${what} has no receipt`, () => assert.equal(receiptOf(...lines), null));

it('A hop from a private address alone shows the time, but no client', () => {
  const receipt = receiptOf(
    'Return-Path: <ann@sender.example>',
    `Received: from app (app [10.0.0.7]) by relay.reader.example with ESMTP id 1; ${DATE}`,
  );
  assert.equal(receipt?.at, AT);
  assert.equal(receipt?.client_ip, null);
  assert.equal(receipt?.mail_from, 'ann@sender.example');
  assert.deepEqual(receipt?.addedFields, []);
});

it('A hop below one of another organization is not the receipt', () => {
  const receipt = receiptOf(
    `Received: from app (app [10.0.0.7]) by relay.reader.example with ESMTP id 1; ${DATE}`,
    `Received: from bank.example (bank.example [203.0.113.1]) by mx.elsewhere.example with ESMTPS id 1; ${DATE}`,
  );
  assert.equal(receipt?.client_ip, null);
});

it('Gmail offers TLS to everyone, so a hop without it was not encrypted', () => {
  const hop = (protocol: string) =>
    receiptOf(
      `Received: from out.sender.example (out.sender.example. [203.0.113.9]) by mx.google.com with ${protocol} id 1; ${DATE}`,
    );
  assert.deepEqual(hop('ESMTP')?.tls, { used: false, version: null, cipher: null });
  assert.equal(hop('ESMTPS')?.tls?.used, true);
  assert.equal(receiptOf(PUBLIC.replace('ESMTPS', 'ESMTP'))?.tls, null);
});

it('Only results of the receiver count, next to its Received field', () => {
  const gmail = `Received: from out.sender.example (out.sender.example. [203.0.113.9]) by mx.google.com with ESMTPS id 1; ${DATE}`;
  const real = 'Authentication-Results: mx.google.com; spf=softfail smtp.mailfrom=a@b.example';
  const forged = 'Authentication-Results: mx.google.com; spf=pass; dkim=pass; dmarc=pass';
  assert.deepEqual(receiptOf(gmail, real, forged)?.results, { spf: 'softfail' });
  assert.equal(receiptOf(gmail, 'Received: by x.sender.example; x', forged)?.results, null);
  // A server that writes no results lets those of the sender through.
  const own = 'Authentication-Results: mx.reader.example; spf=pass';
  assert.equal(receiptOf(PUBLIC, own)?.results, null);
  assert.deepEqual(receiptOf(own, PUBLIC)?.results, { spf: 'pass' });
  assert.equal(
    receiptOf('Authentication-Results: mx.other.example; spf=pass', PUBLIC)?.results,
    null,
  );
});

it('The results for the HELO name are not those for the envelope sender', () => {
  const results = (text: string) =>
    receiptOf(`Authentication-Results: mx.reader.example; ${text}`, PUBLIC)?.results;
  assert.deepEqual(results('spf=pass smtp.helo=out.sender.example'), {});
  assert.deepEqual(results('dkim=fail header.d=a.example; dkim=pass header.d=b.example'), {
    dkim: 'pass',
  });
  assert.deepEqual(results('x=y reason="; spf=pass"; dmarc=fail (p=none; spf=pass)'), {
    dmarc: 'fail',
  });
});

it('A field that the sender signed is the sender’s, whatever its name', () => {
  const lines = [
    `Received: from out.sender.example (203.0.113.9) by A1.mail.protection.outlook.com (10.1.1.1) with Microsoft SMTP Server id 15; ${DATE}`,
    'DKIM-Signature: v=1; d=sender.example; s=s1; h=From:X-MS-Exchange-AntiSpam-MessageData; b=AA==',
    'X-MS-Exchange-AntiSpam-MessageData: signed',
    'X-MS-Exchange-Organization-SCL: 1',
  ];
  assert.deepEqual(namesOf(lines, receiptOf(...lines)?.addedFields), [
    'Received',
    'X-MS-Exchange-Organization-SCL',
  ]);
});

it('A header that a program has sorted keeps the fields of the author', () => {
  const sorted = [...AUTHOR, 'X-Mailer: Sorter', 'Return-Path: <b@sender.example>', PUBLIC];
  const { headers } = scanHeaders(Buffer.from(`${sorted.join('\r\n')}\r\n\r\n`));
  assert.deepEqual(readReceipt(headers)?.addedFields, [4, 5]);
});

it('A HELO name that makes the field of the receiver unreadable does not hide the client', () => {
  const forged = (by: string) =>
    `Received: from mail.bank.example (mail.bank.example [203.0.113.9]) by ${by} with ESMTPS id 9; ${DATE}`;
  const names = ['by', 'from', 'x(y', 'x)y', ';', 'a;b', 'by b', 'with LMTP', 'x with POP3'];
  for (const helo of [...names, 'x(203.0.113.9)', 'x) (203.0.113.9', 'by mx with imap'])
    for (const [by, field] of [
      ['mx.google.com', `from ${helo} ([203.0.113.66]) by mx.google.com with ESMTP id 1`],
      ['mx.reader.example', `from ${helo} (unknown [203.0.113.66]) by mx.reader.example with SMTP`],
      ['mx.reader.example', `from [203.0.113.66] (helo=${helo}) by mx.reader.example with esmtp`],
      [
        'mx.reader.example',
        `from unknown (HELO ${helo}) (203.0.113.66) by mx.reader.example with SMTP`,
      ],
      ['mta.mail.yahoo.com', `from 203.0.113.66 (EHLO ${helo}) by 10.1.2.3 with SMTPs`],
      [
        'A.mail.protection.outlook.com',
        `from ${helo} (203.0.113.66) by A.mail.protection.outlook.com (10.1.2.3) with Microsoft SMTP Server id 15.20.1.2`,
      ],
    ] as const) {
      const client = receiptOf(`Received: ${field}; ${DATE}`, forged(by))?.client_ip ?? null;
      assert.ok(client === null || client === '203.0.113.66', `${helo}, ${field}: ${client}`);
    }
});

it('A Received-SPF field below the one of the receiver is the stranger’s', () => {
  const spf = 'Received-SPF: pass (mx.reader.example: allowed) envelope-from=ceo@bank.example';
  assert.equal(receiptOf(PUBLIC, spf)?.mail_from, null);
  assert.equal(receiptOf(spf, PUBLIC)?.mail_from, 'ceo@bank.example');
});

it('Hostile header fields are read in linear time', () => {
  const started = cpuTime();
  for (const field of [
    `DKIM-Signature: v=1; h=a${' '.repeat(250_000)}b`,
    `Received: from a by b; ${'('.repeat(250_000)}`,
    Array(5000).fill('Received: from a ([10.0.0.1]) by b with LMTP').join('\r\n'),
    `Received-SPF: pass ${'envelope-from="'.repeat(20_000)}`,
  ])
    receiptOf(PUBLIC, field);
  assert.ok(cpuTime() - started < 1000);
});
