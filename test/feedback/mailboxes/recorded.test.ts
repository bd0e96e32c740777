/** Only the Authentication-Results of a trusted server show who sent a message, and nothing else in the header. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMessage } from '../../../src/analysis/mime/parse-message.ts';
import { recordedSigner, type TrustedServers } from '../../../src/feedback/thread/recorded.ts';

const GOOGLE_FROM = 'noreply-dmarc-support@google.com';
const SIGNATURE =
  'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=google.com; s=20230601; h=content-type:to:from:subject:date; bh=x; b=abcdefgh';
const GMAIL: TrustedServers = ['.google.com'];
const MICROSOFT: TrustedServers = ['.outlook.com', ''];
const OWN: TrustedServers = ['mx.own.example'];

const dkim = { from: GOOGLE_FROM, domain: 'google.com', method: 'dkim' };
const spf = { from: GOOGLE_FROM, domain: 'google.com', method: 'spf' };

interface Case {
  title: string;
  servers: TrustedServers;
  /** The header from the top, without From. */
  header: string[];
  expected: object | null | undefined;
  startsAtBoundary?: boolean;
}

const GMAIL_RESULTS = `Authentication-Results: mx.google.com;
       dkim=pass header.i=@google.com header.s=20230601 header.b="F2dOk+3E";
       spf=pass (google.com: domain of noreply-dmarc-support@google.com designates 209.85.220.73 as permitted sender) smtp.mailfrom=noreply-dmarc-support@google.com;
       dmarc=pass (p=REJECT sp=REJECT dis=NONE) header.from=google.com`;

const CASES: Case[] = [
  {
    title: 'Gmail',
    servers: GMAIL,
    header: ['Delivered-To: me@gmail.com', GMAIL_RESULTS, SIGNATURE],
    expected: dkim,
  },
  {
    title: 'Microsoft, which names no server',
    servers: MICROSOFT,
    header: [
      'Received: from A.eurprd01.prod.outlook.com (2603:10a6::1) by B.eurprd01.prod.outlook.com with HTTPS; Mon, 1 Jan 2024 00:00:00 +0000',
      'Authentication-Results: spf=pass (sender IP is 209.85.220.73) smtp.mailfrom=google.com; dkim=pass (signature was verified) header.d=google.com;dmarc=pass action=none header.from=google.com;compauth=pass reason=100',
      'Received-SPF: Pass (protection.outlook.com: domain of google.com designates 209.85.220.73)',
      'Received: from mail.google.com (209.85.220.73) by AM1.mail.protection.outlook.com with Microsoft SMTP Server; Mon, 1 Jan 2024 00:00:00 +0000',
      SIGNATURE,
    ],
    expected: dkim,
  },
  {
    title: 'fields without a server that Microsoft did not write',
    servers: MICROSOFT,
    header: [
      'Authentication-Results: spf=pass smtp.mailfrom=google.com; dkim=pass header.d=google.com',
      'Received: from x by mx.evil.example; Mon, 1 Jan 2024 00:00:00 +0000',
      SIGNATURE,
    ],
    expected: undefined,
  },
  {
    title: 'fields without a server in a mailbox of another provider',
    servers: GMAIL,
    header: ['Authentication-Results: dkim=pass header.d=google.com', SIGNATURE],
    expected: undefined,
  },
  {
    title: 'an own server with SPF alone',
    servers: OWN,
    header: [
      'Authentication-Results: mx.own.example 1; dkim=none; spf=pass smtp.mailfrom=bounce@google.com',
    ],
    expected: spf,
  },
  {
    title: 'OpenDKIM with a quoted reason',
    servers: OWN,
    header: [
      'Authentication-Results: mx.own.example; dkim=pass reason="2048-bit key" header.d=google.com header.i=@google.com',
      SIGNATURE,
    ],
    expected: dkim,
  },
  {
    title: 'a forged field below one that found nothing',
    servers: OWN,
    header: [
      'Authentication-Results: mx.own.example; dkim=none; spf=fail smtp.mailfrom=google.com',
      'Authentication-Results: mx.own.example; dkim=pass header.d=google.com',
      SIGNATURE,
    ],
    expected: null,
  },
  {
    title: 'a forged field on top by another server',
    servers: OWN,
    header: [
      'Authentication-Results: mx.google.com; dkim=pass header.d=google.com',
      'Authentication-Results: mx.own.example; dkim=pass header.d=google.com',
      SIGNATURE,
    ],
    expected: undefined,
  },
  ...[
    'mx.own.example.evil.example',
    'evil-mx.own.example',
    'own.example',
    'sub.mx.own.example',
  ].map(
    (id): Case => ({
      title: `the server name ${id}`,
      servers: OWN,
      header: [`Authentication-Results: ${id}; dkim=pass header.d=google.com`, SIGNATURE],
      expected: undefined,
    }),
  ),
  {
    title: 'a server name that only ends like that of Gmail',
    servers: GMAIL,
    header: ['Authentication-Results: evilgoogle.com; dkim=pass header.d=google.com', SIGNATURE],
    expected: undefined,
  },
  { title: 'no field at all', servers: GMAIL, header: [SIGNATURE], expected: undefined },
  {
    title: 'a sender of another domain that passes',
    servers: GMAIL,
    header: [
      'Authentication-Results: mx.google.com; dkim=pass header.d=evil.example; spf=pass smtp.mailfrom=x@evil.example',
      SIGNATURE,
    ],
    expected: null,
  },
  {
    title: 'a field that says that DMARC failed',
    servers: GMAIL,
    header: [
      'Authentication-Results: mx.google.com; dkim=pass header.d=google.com; dmarc=fail header.from=google.com',
      SIGNATURE,
    ],
    expected: null,
  },
  {
    title: 'results within the quoted local part of the sender',
    servers: GMAIL,
    header: [
      'Authentication-Results: mx.google.com; spf=pass smtp.mailfrom="a; dkim=pass header.d=google.com"@evil.example',
      SIGNATURE,
    ],
    expected: null,
  },
  {
    title: 'results behind an escaped quote',
    servers: GMAIL,
    header: [
      'Authentication-Results: mx.google.com; spf=pass smtp.mailfrom="a\\"; dkim=pass header.d=google.com; \\""@evil.example',
      SIGNATURE,
    ],
    expected: null,
  },
  {
    title: 'results behind a comment that the sender closes',
    servers: GMAIL,
    header: [
      'Authentication-Results: mx.google.com; spf=pass (domain of "a) ; dkim=pass header.d=google.com (b"@evil.example) smtp.mailfrom=evil.example',
      SIGNATURE,
    ],
    expected: null,
  },
  ...[
    'spf=pass smtp.mailfrom=a@google.com(.evil.example',
    'spf=pass smtp.mailfrom=a@google.com().evil.example',
    'dkim=pass header.d=google.com(.evil.example',
    'dkim=pass header.d=google.com(x).evil.example',
    'spf=pass (domain of a);dkim=pass()header.d=google.com(@evil.example permits) smtp.mailfrom=evil.example',
    'dkim=pass header.i=a@google.com x@evil.example',
    'dkim=pass header.d=evil.example header.i=a header.d=google.com @evil.example',
    'dkim=pass header.i=a header.d=google.com',
    'dkim=pass header.d=google.com header.d=evil.example',
    'spf=pass smtp.mailfrom=google.com smtp.mailfrom=a@evil.example',
    'spf=pass (unclosed smtp.mailfrom=evil.example; dkim=pass header.d=google.com',
    'spf=none) smtp.mailfrom=evil.example; dkim=pass header.d=google.com',
  ].map(
    (results): Case => ({
      title: `what a sender made a careless server write: ${results}`,
      servers: OWN,
      header: [`Authentication-Results: mx.own.example; ${results}`, SIGNATURE],
      expected: null,
    }),
  ),
  {
    title: 'comments of several kinds, and spaces around signs',
    servers: OWN,
    header: [
      'Authentication-Results: mx.own.example; dkim = pass (2048-bit key; unprotected (by DNSSEC)) header.d = google.com header.i=@google.com header.b="F2dOk+3E"; iprev=pass (mail.google.com) smtp.remote-ip=192.0.2.1',
      SIGNATURE,
    ],
    expected: dkim,
  },
  {
    title: 'SPF of the HELO name',
    servers: OWN,
    header: ['Authentication-Results: mx.own.example; spf=pass smtp.helo=google.com'],
    expected: null,
  },
  {
    title: 'a result without a signature in the message',
    servers: OWN,
    header: ['Authentication-Results: mx.own.example; dkim=pass header.d=google.com'],
    expected: null,
  },
  {
    title: 'a signature that leaves out the end of the body',
    servers: OWN,
    header: [
      'Authentication-Results: mx.own.example; dkim=pass header.d=google.com',
      `${SIGNATURE}; l=10`,
    ],
    expected: null,
  },
  {
    title: 'a signature without From',
    servers: OWN,
    header: [
      'Authentication-Results: mx.own.example; dkim=pass header.d=google.com',
      SIGNATURE.replace(':from:', ':'),
    ],
    expected: null,
  },
  {
    title: 'a signature without Content-Type whose parts begin later',
    servers: OWN,
    header: [
      'Authentication-Results: mx.own.example; dkim=pass header.d=google.com',
      SIGNATURE.replace('content-type:', ''),
    ],
    startsAtBoundary: false,
    expected: null,
  },
  {
    title: 'a signature of a parent domain that is named by its user',
    servers: GMAIL,
    header: [
      'Authentication-Results: mx.google.com; dkim=pass header.i=@mail.google.com',
      SIGNATURE,
    ],
    expected: dkim,
  },
];

for (const { title, servers, header, expected, startsAtBoundary = true } of CASES)
  test(`Recorded Authentication-Results: ${title}`, async () => {
    const raw = [...header, `From: ${GOOGLE_FROM}`, 'Subject: Report', '', 'text', ''];
    const message = await parseMessage(Buffer.from(raw.join('\n').replace(/\n/g, '\r\n')));
    assert.deepEqual(
      recordedSigner(message, { from: GOOGLE_FROM, servers, startsAtBoundary }),
      expected,
    );
  });
