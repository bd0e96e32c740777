/** Seed mailboxes in the configuration: presets, TLS, and one line for each fault. */

// @one-database: about variables.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError, PREFIX, readConfig } from '../../src/config/config.ts';
import { MAX_SEED_MAILBOXES, type SeedMailbox } from '../../src/config/seed-mailboxes.ts';
import { temporaryFolder } from '../helpers/app.ts';

const NAME = `${PREFIX}SEED_MAILBOXES`;

const read = (...entries: object[]): SeedMailbox[] =>
  readConfig({ [NAME]: JSON.stringify(entries) }).config.SEED_MAILBOXES;

function faultsOf(value: string): string[] {
  try {
    readConfig({ [NAME]: value });
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.faults;
  }
  return [];
}

const faultsOfEntries = (...entries: unknown[]) =>
  faultsOf(JSON.stringify(entries)).map((fault) => fault.replace(`${NAME} `, ''));

test('A preset gives a seed mailbox its server, limits and folders', () => {
  const [gmail, yahoo] = read(
    { provider: 'gmail', address: 'Seed@Gmail.com', password: 'abcd efgh' },
    { name: 'y1', provider: 'yahoo', address: 'seed@yahoo.com', user: 'seed', password: 'x' },
  );
  assert.deepEqual(gmail, {
    name: 'seed@gmail.com',
    provider: 'gmail',
    address: 'seed@gmail.com',
    imap: {
      host: 'imap.gmail.com',
      port: 993,
      tls: 'implicit',
      user: 'Seed@Gmail.com',
      password: 'abcd efgh',
    },
    graphUrl: null,
    graphUser: null,
    oauth: null,
    connections: 15,
    plusAddresses: true,
    junk: ['[Gmail]/Spam', '[Google Mail]/Spam'],
  });
  assert.deepEqual(
    [yahoo!.name, yahoo!.imap!.user, yahoo!.plusAddresses, yahoo!.junk],
    ['y1', 'seed', false, ['Bulk', 'Bulk Mail']],
  );
});

test('An imap URL requires TLS, except on loopback', () => {
  const tlsOf = (imap: string) => {
    const { tls, host, port } = read({ provider: 'mine', address: 'a@b.example', imap })[0]!.imap!;
    return [tls, host, port];
  };
  assert.deepEqual(tlsOf('imaps://u:p@imap.b.example'), ['implicit', 'imap.b.example', 993]);
  assert.deepEqual(tlsOf('imap://u:p@imap.b.example'), ['starttls', 'imap.b.example', 143]);
  assert.deepEqual(tlsOf('imap://u:p@127.0.0.1:1143'), ['loopback', '127.0.0.1', 1143]);
  assert.deepEqual(tlsOf('imap://u:p@[::1]:1143'), ['loopback', '::1', 1143]);
  // A name that only looks like a loopback address.
  assert.deepEqual(tlsOf('imap://u:p@127.0.0.1.example'), ['starttls', '127.0.0.1.example', 143]);
});

test('User and password of an imap URL are percent-decoded', () => {
  const imap = 'imaps://user%40b.example:p%3A%2Fw@imap.b.example';
  const { user, password } = read({ provider: 'mine', address: 'a@b.example', imap })[0]!.imap!;
  assert.deepEqual([user, password], ['user@b.example', 'p:/w']);
});

test('SEED_MAILBOXES can be in a file', (t) => {
  const file = join(temporaryFolder(t), 'seeds.json');
  writeFileSync(file, JSON.stringify([{ provider: 'gmx', address: 'a@gmx.net', password: 'p' }]));
  const { config } = readConfig({ [`${NAME}_FILE`]: file });
  assert.equal(config.SEED_MAILBOXES[0]?.imap?.host, 'imap.gmx.net');
});

test('Each fault of each seed mailbox has its own line, without passwords', () => {
  const faults = faultsOfEntries(
    { provider: 'gmail', address: 'a@gmail.com' },
    { provider: 'gmail', address: 'nonsense', password: 'hunter2', conections: 3 },
    { name: 'ms', provider: 'outlook', address: 'a@outlook.com', password: 'hunter2' },
    { provider: 'mine', address: 'a@b.example', password: 'hunter2' },
    { provider: 'mine', address: 'b@b.example', imap: 'http://u:hunter2@b.example' },
    { provider: 'mine', address: 'c@b.example', imap: 'imaps://imap.b.example' },
    { provider: 'gmail', address: 'd@gmail.com', password: 'hunter2', connections: 99, junk: 'x' },
    { provider: 'gmail', address: 'e@gmail.com', password: 'hunter2', refresh_token: 'hunter2' },
    { provider: 'gmx', address: 'x@gmx.net', password: 'hunter2' },
    { provider: 'gmx', address: 'X@gmx.net', password: 'hunter2' },
    'text',
  );
  assert.deepEqual(
    faults.map((fault) => fault.replace(/(one of|provider) \(?gmail,.*/, '$1 …')),
    [
      'mailbox 1 (a@gmail.com): "password" is missing: set the app password of the mailbox',
      'mailbox 2 (nonsense): "conections" is not a known field. Did you mean "connections"?',
      'mailbox 2 (nonsense): "address" must be an email address',
      'mailbox 3 (ms): Outlook.com doesn’t accept passwords, only OAuth 2: set "client_id", and sign in with the command deliverability seed sign-in',
      'mailbox 4 (a@b.example): "imap" is missing: "mine" isn’t a known provider …',
      'mailbox 5 (b@b.example): "imap" must be a URL such as imaps://user:password@imap.example.com, with percent-encoded user and password',
      'mailbox 6 (c@b.example): "imap" has no user or no password: imaps://user:password@imap.example.com',
      'mailbox 7 (d@gmail.com): "connections" must be a whole number from 1 to 15',
      'mailbox 7 (d@gmail.com): "junk" must be an array of up to 10 folder names',
      'mailbox 8 (e@gmail.com): use either a password or OAuth 2, not both: remove the password',
      'mailbox 8 (e@gmail.com): "client_id" is missing: register an app with the provider and set its ID',
      'mailbox 10 (X@gmx.net): another mailbox has the name x@gmx.net. Set a different "name"',
      'mailbox 11: must be an object',
    ],
  );
  assert.ok(!faults.join().includes('hunter2'));
});

test('Values of a wrong kind, contradictions and typing errors are named', () => {
  const gmail = { provider: 'gmail', address: 'a@gmail.com', password: 'p' };
  const own = { provider: 'own', address: 'a@b.example' };
  const url =
    '"imap" must be a URL such as imaps://user:password@imap.example.com, with percent-encoded user and password';
  const cases: [entry: object, fault: string | RegExp][] = [
    [{ ...gmail, provider: 'Gmail' }, /own in lowercase .*\. Did you mean "gmail"\?$/],
    [
      { ...gmail, provider: 'gmial' },
      /"gmial" isn’t a known provider .*\. Did you mean "gmail"\?$/,
    ],
    [{ ...gmail, password: 123 }, '"password" must be text without line breaks'],
    [{ ...gmail, password: 'p\r\nA LOGOUT' }, '"password" must be text without line breaks'],
    [{ ...gmail, address: 'a,b@gmail.com' }, '"address" must be an email address'],
    [{ ...gmail, address: 'a\u0000@gmail.com' }, '"address" must be an email address'],
    [{ ...gmail, address: 'größe@gmail.com' }, /^"name" is missing: for this address, it must be/],
    [{ ...gmail, name: 'my seed' }, /^"name" must be up to 100 letters/],
    [{ ...own, imap: 'imaps://u:p@host:0' }, url],
    [{ ...own, imap: 'imaps://u:p%ZZ@host' }, url],
    [{ ...own, imap: 'imaps://u:p%0d%0aA@host' }, url],
    [{ ...own, imap: 'imaps://u:p@host', password: 'q' }, /^the password is set twice/],
    [{ provider: 'proton', address: 'a@proton.me' }, /set the address of your Proton Mail Bridge/],
  ];
  for (const [entry, expected] of cases) {
    const [fault = 'none', ...others] = faultsOfEntries(entry);
    const text = fault.replace(/^mailbox 1 \(.*?\): /su, '');
    if (typeof expected === 'string') assert.equal(text, expected);
    else assert.match(text, expected);
    assert.deepEqual(others, []);
  }
  assert.deepEqual(faultsOf('\ufeff[]'), []);
});

test('SEED_MAILBOXES that is no JSON array is one fault that does not quote it', () => {
  assert.deepEqual(faultsOf('[{"password":"hunter2"'), [
    `${NAME} must be JSON: an array of objects with "provider", "address" and "password"`,
  ]);
  assert.deepEqual(faultsOf('{}'), [`${NAME} must be a JSON array of mailboxes`]);
  const many = Array.from({ length: MAX_SEED_MAILBOXES + 1 }, () => ({}));
  assert.match(faultsOf(JSON.stringify(many))[0]!, /at most 200 mailboxes/);
});
