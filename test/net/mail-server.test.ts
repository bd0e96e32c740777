/** What the address of the mail server means, and how much TLS it is asked for. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MailServer, readMailServer } from '../../src/net/mail-server.ts';

const PLAIN = { implicitTls: false, requireTls: false, verifyTls: true, login: null };
const LOGIN = { user: 'me', password: 'p' };

const CASES: [url: string, server: MailServer][] = [
  ['smtp://mail.example.com', { ...PLAIN, host: 'mail.example.com', port: 587 }],
  ['smtp://mail.example.com:25', { ...PLAIN, host: 'mail.example.com', port: 25 }],
  [
    'smtps://mail.example.com',
    { ...PLAIN, host: 'mail.example.com', port: 465, implicitTls: true },
  ],
  [
    'smtp://me:p@mail.example.com',
    { ...PLAIN, host: 'mail.example.com', port: 587, requireTls: true, login: LOGIN },
  ],
  [
    'smtps://me:p@mail.example.com',
    { ...PLAIN, host: 'mail.example.com', port: 465, implicitTls: true, login: LOGIN },
  ],
  [
    'smtp://me%40example.com:a%2Fb%@198.51.100.7',
    {
      ...PLAIN,
      host: '198.51.100.7',
      port: 587,
      requireTls: true,
      login: { user: 'me@example.com', password: 'a%2Fb%' },
    },
  ],
  [
    'smtp://me:p@127.0.0.1:2525',
    { ...PLAIN, host: '127.0.0.1', port: 2525, verifyTls: false, login: LOGIN },
  ],
  [
    'smtp://me:p@localhost',
    { ...PLAIN, host: 'localhost', port: 587, verifyTls: false, login: LOGIN },
  ],
  ['smtp://[::1]:25', { ...PLAIN, host: '::1', port: 25, verifyTls: false }],
  // Names and addresses for which nobody gives out certificates; a password goes over TLS all the same.
  [
    'smtp://me:p@postfix',
    { ...PLAIN, host: 'postfix', port: 587, requireTls: true, verifyTls: false, login: LOGIN },
  ],
  ['smtp://10.0.0.5', { ...PLAIN, host: '10.0.0.5', port: 587, verifyTls: false }],
];

for (const [url, server] of CASES)
  test(url, () => {
    assert.deepEqual(readMailServer(url), server);
  });
