import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  addressDomain,
  isReservedName,
  normalizeDomain,
  organizationalDomain,
} from '../../src/lib/domain-names.ts';

const LABEL = 'a'.repeat(63);

it('normalizeDomain returns lower-case A-labels and rejects invalid names', () => {
  const cases: [string, string | null][] = [
    ['Example.COM', 'example.com'],
    ['example.com.', 'example.com'],
    [' example.com\n', 'example.com'],
    ['_dmarc.example.com', '_dmarc.example.com'],
    ['s1._domainkey.bücher.example', 's1._domainkey.xn--bcher-kva.example'],
    ['BÜCHER.example', 'xn--bcher-kva.example'],
    ['ｅｘａｍｐｌｅ.com', 'example.com'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['localhost', 'localhost'],
    [`${LABEL}.example`, `${LABEL}.example`],
    ['', null],
    ['.', null],
    ['example..com', null],
    ['.example.com', null],
    ['example.com..', null],
    ['-a.example', null],
    ['a-.example', null],
    ['a b.example', null],
    ['a/b.example', null],
    ['a@example.com', null],
    ['[192.0.2.1]', null],
    ['example.com:25', null],
    ['exa\u0000mple.com', null],
    [`${LABEL}a.example`, null],
    [[LABEL, LABEL, LABEL, LABEL].join('.'), null],
    ['ü'.repeat(2000), null],
  ];
  for (const [name, expected] of cases) assert.equal(normalizeDomain(name), expected, name);
});

it('normalizeDomain accepts names up to 253 octets', () => {
  const longest = [LABEL, LABEL, LABEL, 'a'.repeat(61)].join('.');
  assert.equal(longest.length, 253);
  assert.equal(normalizeDomain(longest), longest);
  assert.equal(normalizeDomain(`${longest}.`), longest);
  assert.equal(normalizeDomain(`a${longest}`), null);
});

it('organizationalDomain follows the ICANN part of the public suffix list', () => {
  const cases: [string, string | null][] = [
    ['mail.example.com', 'example.com'],
    ['a.b.example.co.uk', 'example.co.uk'],
    ['example.com', 'example.com'],
    ['co.uk', null],
    ['com', null],
    // The private part of the list is not used: each of these is one organization.
    ['someone.github.io', 'github.io'],
    ['_dmarc.mail.example.com', 'example.com'],
  ];
  for (const [name, expected] of cases) assert.equal(organizationalDomain(name), expected, name);
});

it('addressDomain returns the part after the last @', () => {
  assert.equal(addressDomain('Someone@Example.COM'), 'example.com');
  assert.equal(addressDomain('"a@b"@example.com'), 'example.com');
  assert.equal(addressDomain('someone@bücher.example'), 'xn--bcher-kva.example');
  for (const address of ['', 'someone', 'someone@', 'someone@-'])
    assert.equal(addressDomain(address), null, address);
});

it('Names reserved for tests and examples are recognized', () => {
  for (const name of [
    'localhost',
    'inbox.demo.example',
    'a.test',
    'x.invalid',
    'inbox.example.com',
  ])
    assert.ok(isReservedName(name), name);
  for (const name of ['example.de', 'myexample.com', 'test.com', 'localhost.de', 'mytest'])
    assert.ok(!isReservedName(name), name);
});
