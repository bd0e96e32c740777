/** A saved message as the input of an analysis: its values, its receiver's fields, and any day on which it is read. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { analyze } from '../../../src/analysis/analyze.ts';
import { arrivedMessage } from '../../../src/analysis/receipt/arrived.ts';
import { fileInput } from '../../../src/analysis/receipt/file.ts';
import type { AnalysisResult } from '../../../src/analysis/result.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { receiptSentence } from '../../../src/report/document/receipt.ts';
import { makeKey, signMessage } from '../../helpers/signer.ts';

const KEY = makeKey();
const SENT = Date.parse('2026-03-02T08:00:00Z');
const ZONE: Zone = {
  'pottery.example': { TXT: ['v=spf1 ip4:203.0.113.9 -all'], MX: ['10 mail.pottery.example'] },
  'mail.pottery.example': { A: ['203.0.113.9'] },
  '9.113.0.203.in-addr.arpa': { PTR: ['mail.pottery.example'] },
  '_dmarc.pottery.example': { TXT: ['v=DMARC1; p=reject'] },
  's1._domainkey.pottery.example': { TXT: [KEY.record] },
};

const BODY = `From: Pottery <hello@pottery.example>
To: Ann <ann@gmail.com>
Subject: Your bowls are ready
Date: Mon, 02 Mar 2026 08:00:00 +0000
Message-ID: <1@pottery.example>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8

Hello Ann, your two bowls have come out of the kiln. Collect them any day.
`;

const signed = () =>
  signMessage(BODY, {
    domain: 'pottery.example',
    selector: 's1',
    key: KEY,
    signTime: SENT,
    expires: SENT + 7 * 86_400_000,
  });

/** As Gmail saves it, five seconds later by its newest field. */
const GMAIL = `Delivered-To: ann@gmail.com
Received: by 2002:a05:6a20:1 with SMTP id a1; Mon, 2 Mar 2026 00:00:05 -0800 (PST)
X-Received: by 2002:a05:6a20:2 with SMTP id a2; Mon, 2 Mar 2026 00:00:04 -0800 (PST)
ARC-Seal: i=1; a=rsa-sha256; t=1; cv=none; d=google.com; s=arc; b=AAAA
Return-Path: <bounce@pottery.example>
Received: from mail.pottery.example (mail.pottery.example. [203.0.113.9]) by mx.google.com with ESMTPS id a3 for <ann@gmail.com> (version=TLS1_3 cipher=TLS_AES_256_GCM_SHA384 bits=256/256); Mon, 2 Mar 2026 00:00:04 -0800 (PST)
Received-SPF: pass (google.com: x) client-ip=203.0.113.9;
Authentication-Results: mx.google.com; dkim=pass header.i=@pottery.example; spf=pass smtp.mailfrom=bounce@pottery.example; dmarc=pass header.from=pottery.example
`.replace(/\n/g, '\r\n');

const asSaved = async (top = GMAIL) => Buffer.concat([Buffer.from(top), await signed()]);

const analyzed = (raw: Uint8Array, zone = ZONE): Promise<AnalysisResult> =>
  analyze({ raw, ...fileInput(raw), kind: 'auto' }, { resolver: zoneResolver(zone) });

const checkOf = (result: AnalysisResult, id: string) =>
  result.checks.find((check) => check.id === id)!;

it('A saved original is checked with the values of its receipt', async () => {
  const raw = await asSaved();
  const { envelope, receivedAt } = fileInput(raw);
  assert.equal(receivedAt, SENT + 5000);
  assert.equal(envelope.file?.at, '2026-03-02T08:00:05.000Z');
  assert.equal(
    receiptSentence(envelope),
    'Gmail received it from 203.0.113.9 (mail.pottery.example), encrypted, on 2 Mar 2026, 08:00 UTC.',
  );
  const result = await analyzed(raw);
  assert.deepEqual(result.auth_results, { spf: 'pass', dkim: 'pass', dmarc: 'pass' });
  assert.equal(
    checkOf(result, 'date').title,
    'Your Date field is valid and matches the time of receipt.',
  );
  assert.equal(checkOf(result, 'ptr').status, 'pass');
  assert.equal(checkOf(result, 'forwarding').evidence.kind, 'direct');
  assert.equal(checkOf(result, 'arc').title, 'Your message has no ARC chain.');
  assert.deepEqual(checkOf(result, 'received_path').evidence.hops, []);
  assert.equal(result.message_size, raw.length);
});

it('Values that the user gives win, and those of another client do not apply', async () => {
  const raw = await asSaved();
  const given = { client_ip: '192.0.2.7', helo: null, mail_from: null, tls: null };
  const { envelope } = fileInput(raw, given);
  assert.equal(envelope.client_ip, '192.0.2.7');
  assert.equal(envelope.helo, null);
  assert.equal(envelope.tls, null);
  assert.equal(envelope.mail_from, 'bounce@pottery.example');
  assert.deepEqual(envelope.file?.origins.client_ip, { source: 'given', field: null, by: null });
  assert.deepEqual(envelope.file?.results, { dkim: 'pass' });
});

it('A file without a receipt is not judged by any time', async () => {
  const raw = await signed();
  const { envelope, receivedAt } = fileInput(raw);
  assert.equal(receivedAt, null);
  assert.equal(
    receiptSentence(envelope),
    'How the message was received is not known: this is a file.',
  );
  const result = await analyzed(raw);
  assert.equal(checkOf(result, 'dkim').status, 'pass');
  assert.equal(checkOf(result, 'date').status, 'pass');
  assert.match(checkOf(result, 'date').detail, /not known: this is a file/);
  assert.equal(checkOf(result, 'date').evidence.received_at, null);
  assert.match(checkOf(result, 'received_path').title, /is unknown/);
});

it('A file is late or expired by its receipt, never by the day on which it is read', async () => {
  const late = await asSaved(
    GMAIL.replaceAll(' 2 Mar 2026', ' 12 Mar 2026').replaceAll('Mon,', 'Thu,'),
  );
  const result = await analyzed(late);
  assert.match(checkOf(result, 'date').title, /10 d .*behind the time of receipt|10 d behind/);
  assert.equal(checkOf(result, 'dkim').status, 'fail');
});

it('What the receiver saw is said where today differs', async () => {
  const moved = { ...ZONE, 'pottery.example': { TXT: ['v=spf1 ip4:203.0.113.200 -all'] } };
  const failed = checkOf(await analyzed(await asSaved(), moved), 'spf');
  assert.equal(failed.status, 'fail');
  assert.match(failed.detail, /^Gmail saw SPF pass on 2 Mar 2026; today it does not pass\. /);
  assert.equal(failed.evidence.receiver_result, 'pass');
  const before = await asSaved(GMAIL.replace('spf=pass smtp', 'spf=softfail smtp'));
  const cured = checkOf(await analyzed(before), 'spf');
  assert.equal(cured.status, 'pass');
  assert.match(
    cured.detail,
    /^Gmail saw the SPF result “softfail” on 2 Mar 2026; today it passes\. /,
  );
  const same = checkOf(await analyzed(await asSaved()), 'spf');
  assert.doesNotMatch(same.detail, /Gmail/);
});

it('Fields that the receiver added are never the sender’s', async () => {
  const long = `X-Gm-Spam: ${'a'.repeat(2000)}\r\nTo: <copy@gmail.com>\r\n`;
  const raw = await asSaved(`X-Long: ${'b'.repeat(1500)}\r\n${GMAIL}${long}`);
  const result = await analyzed(raw);
  assert.equal(checkOf(result, 'line_length').status, 'pass');
  // Only fields between the receiver's own belong to it.
  assert.equal(checkOf(result, 'header_duplicates').status, 'fail');
});

it('A line has the number that it has in the file', async () => {
  const raw = Buffer.from(
    `${GMAIL}From: a@b.example\r\nSubject: x\r\n\r\none\r\n${'c'.repeat(1200)}\r\n`,
  );
  const { raw: arrived, lineInFile } = arrivedMessage(raw);
  assert.equal(arrived.toString().split('\r\n')[0], 'From: a@b.example');
  const lines = raw.toString().split('\r\n');
  for (const [index, line] of arrived.toString().split('\r\n').entries())
    assert.equal(lines[lineInFile(index + 1) - 1], line);
  assert.equal(checkOf(await analyzed(raw), 'line_length').evidence.line, lines.length - 1);
});
