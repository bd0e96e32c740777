/** Received fields as mail servers write them, and what a client could put into them. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readRecordedClient } from '../../../src/analysis/mime/received-client.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';

const DATE = 'Sat, 21 Nov 2026 10:00:00 +0000';
const TLS_13 = { used: true, version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384' };

const READABLE: [server: string, value: string, client: [string, string | null, object | null]][] =
  [
    [
      'Postfix',
      'from mail.example.com (mail.example.com [192.0.2.1]) by mx.example.net (Postfix) with ESMTP id 4F for <a@example.net>;',
      ['192.0.2.1', 'mail.example.com', null],
    ],
    [
      'Postfix with TLS',
      'from helo.example (unknown [192.0.2.1]) (using TLSv1.3 with cipher TLS_AES_256_GCM_SHA384 (256/256 bits) key-exchange X25519 server-signature ECDSA (P-256)) (No client certificate requested) by mx.example.net (Postfix) with ESMTPS id 4F;',
      ['192.0.2.1', 'helo.example', TLS_13],
    ],
    [
      'Postfix with IPv6 and login',
      'from [10.1.1.1] (host.example [IPv6:2001:DB8::1]) (using TLSv1.2 with cipher ECDHE-RSA-AES256-GCM-SHA384 (256/256 bits)) (Client did not present a certificate) (Authenticated sender: me@example.com) by mx.example.net (Postfix) with ESMTPSA id 4F;',
      [
        '2001:db8::1',
        '[10.1.1.1]',
        { used: true, version: 'TLSv1.2', cipher: 'ECDHE-RSA-AES256-GCM-SHA384' },
      ],
    ],
    [
      'Exim with a verified name',
      'from mail.example.com ([192.0.2.1] helo=other.example) by mx.example.net with esmtps (TLS1.3) tls TLS_AES_256_GCM_SHA384 (Exim 4.96) (envelope-from <b@example.com>) id 1abc-2; ',
      ['192.0.2.1', 'other.example', TLS_13],
    ],
    [
      'Exim without a name',
      'from [192.0.2.1] (port=4711 helo=mail.example.com) by mx.example.net with esmtp (Exim 4.96) (envelope-from <b@example.com>) id 1abc-2;',
      ['192.0.2.1', 'mail.example.com', null],
    ],
    [
      'Exim with an address literal as HELO',
      'from [192.0.2.1] (helo=[10.0.0.9]) by mx.example.net with esmtp (Exim 4.96) id 1abc-2;',
      ['192.0.2.1', '[10.0.0.9]', null],
    ],
    [
      'older Exim',
      'from mail.example.com ([192.0.2.1]:4711) by mx.example.net with esmtps (TLS1.2:ECDHE_RSA_AES_256_GCM_SHA384:256) (Exim 4.80) id 1;',
      [
        '192.0.2.1',
        'mail.example.com',
        { used: true, version: 'TLSv1.2', cipher: 'ECDHE_RSA_AES_256_GCM_SHA384' },
      ],
    ],
    [
      'Sendmail',
      'from helo.example (host.example [192.0.2.1] (may be forged)) by mx.example.net (8.17.1/8.17.1) with ESMTPS id 3ALA (version=TLSv1.3 cipher=TLS_AES_256_GCM_SHA384 bits=256 verify=NO) for <a@example.net>;',
      ['192.0.2.1', 'helo.example', TLS_13],
    ],
    [
      'Haraka',
      'from mail.example.com (host.example [192.0.2.1]) by mx.example.net (Haraka/3.0.3) with ESMTPS id A.1 envelope-from <b@example.com> (cipher=TLS_AES_256_GCM_SHA384 version=TLSv1.3);',
      ['192.0.2.1', 'mail.example.com', TLS_13],
    ],
    [
      'OpenSMTPD',
      'from mail.example.com (host.example [192.0.2.1]) by mx.example.net (OpenSMTPD) with ESMTPS id 1f (TLSv1.3:TLS_AES_256_GCM_SHA384:256:NO) for <a@example.net>;',
      ['192.0.2.1', 'mail.example.com', TLS_13],
    ],
    [
      'Exchange',
      'from mail.example.com (192.0.2.1) by mx.example.net (10.0.0.2) with Microsoft SMTP Server id 15.2.1;',
      ['192.0.2.1', 'mail.example.com', null],
    ],
    [
      'Exchange with TLS',
      'from mail.example.com (192.0.2.1) by mx.example.net (10.13.181.67) with Microsoft SMTP Server (version=TLS1_3, cipher=TLS_AES_256_GCM_SHA384) id 15.20.1 via Frontend Transport;',
      ['192.0.2.1', 'mail.example.com', TLS_13],
    ],
    [
      'Gmail',
      'from mail.example.com (host.example. [192.0.2.1]) by mx.example.net with ESMTPS id 5b1f for <a@example.net> (version=TLS1_3 cipher=TLS_AES_256_GCM_SHA384 bits=256/256);',
      ['192.0.2.1', 'mail.example.com', TLS_13],
    ],
    [
      'Yahoo',
      'from 192.0.2.1 (EHLO mail.example.com) by mx.example.net with SMTPs (version=TLS1_3 cipher=TLS_AES_256_GCM_SHA384);',
      ['192.0.2.1', 'mail.example.com', TLS_13],
    ],
    [
      'qmail',
      'from unknown (HELO mail.example.com) (user@192.0.2.1) by mx.example.net with SMTP;',
      ['192.0.2.1', 'mail.example.com', null],
    ],
  ];

for (const [server, value, [address, helo, tls]] of READABLE)
  it(`A Received field of ${server} names the client`, () => {
    const client = readRecordedClient(`${value} ${DATE}`);
    const { name: _, ...recorded } = client!;
    assert.deepEqual(recorded, { address, helo, tls, by: 'mx.example.net' });
  });

it('The name that the server found for the address is read apart from the HELO name', () => {
  const end = `by mx.example.net with ESMTP id 1; ${DATE}`;
  for (const [from, name] of [
    ['from helo.example (mail.example.com [192.0.2.1])', 'mail.example.com'],
    ['from helo.example (mail.example.com. [192.0.2.1])', 'mail.example.com'],
    ['from mail.example.com ([192.0.2.1] helo=helo.example)', 'mail.example.com'],
    ['from mail.example.com (HELO helo.example) (192.0.2.1)', 'mail.example.com'],
    ['from helo.example (unknown [192.0.2.1])', null],
    ['from helo.example (host.example [192.0.2.1] (may be forged))', null],
    ['from helo.example ([192.0.2.1])', null],
    ['from helo.example (192.0.2.1)', null],
    ['from 192.0.2.1 (EHLO helo.example)', null],
  ] as const)
    assert.equal(readRecordedClient(`${from} ${end}`)?.name, name, from);
});

it('A field in which the client could have written another address is unreadable', () => {
  const end = `by mx.example.net with ESMTP id 1; ${DATE}`;
  for (const from of [
    'from a (b [198.51.100.6]) (real.example [192.0.2.1])',
    'from a (evil[198.51.100.6] [192.0.2.1])',
    'from a([198.51.100.6]) (real.example [192.0.2.1])',
    'from a) (b [198.51.100.6] (real.example [192.0.2.1])',
    'from a (b [198.51.100.6]) by x; (real.example [192.0.2.1])',
    'from a (b [198.51.100.6]) by x with ESMTP (real.example [192.0.2.1])',
    'from a from b (real.example [192.0.2.1])',
    'from [198.51.100.6] x (real.example [192.0.2.1])',
    'from a;b (real.example [192.0.2.1])',
    'from [198.51.100.6]',
    'from [198.51.100.6] (real.example)',
    'from [198.51.100.6] (HELO x) (192.0.2.1)',
    'from a(198.51.100.6) (192.0.2.1)',
    'from unknown (HELO a) (198.51.100.6) (192.0.2.1)',
    'from 192.0.2.1 (EHLO a) (198.51.100.6)',
    'from mail.example.com',
    'from mail.example.com (real.example [192.0.2])',
    'from mail.example.com (real.example [010.1.1.1])',
    'from mail.example.com (real.example)',
    `from mail.example.com (${'('.repeat(100)}`,
    '',
  ])
    assert.equal(readRecordedClient(`${from} ${end}`), null, from);
  assert.equal(readRecordedClient('by mx.example.net (Postfix, from userid 1000) id 4F'), null);
  assert.equal(readRecordedClient(`from ${'a'.repeat(5000)} (b [192.0.2.1]) ${end}`), null);
});

it('The sender address cannot claim a TLS version', () => {
  const client = readRecordedClient(
    `from a.example (b [192.0.2.1]) by mx.example.net with esmtps (envelope-from <TLSv1.3@example.com>); ${DATE}`,
  );
  assert.deepEqual(client?.tls, { used: true, version: null, cipher: null });
});

it('Hostile fields are read in linear time', () => {
  const started = cpuTime();
  for (const part of ['(', '[', '(a', 'helo=', 'by ', 'TLS', '[[', '()'])
    readRecordedClient(`from a (b [192.0.2.1]) ${part.repeat(4000 / part.length - 10)}`);
  assert.ok(cpuTime() - started < 200);
});
