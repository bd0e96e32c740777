/** What people paste: web addresses, email addresses, lists and tables. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDomain, splitPasted } from '../../../src/analysis/domain/read-pasted.ts';

test('readDomain takes the domain of a web address and of an email address', () => {
  for (const [text, name] of [
    ['https://shop.example/x', 'shop.example'],
    ['HTTP://user:pass@Shop.Example:8080/a@b?c#d', 'shop.example'],
    ['shop.example/path', 'shop.example'],
    ['shop.example:25', 'shop.example'],
    ['*.shop.example', 'shop.example'],
    ['ann@shop.example', 'shop.example'],
    ['"Smith, Ann" <ann@Shop.example>', 'shop.example'],
    ['mailto:ann@shop.example?subject=Hi', 'shop.example'],
    ['@shop.example', 'shop.example'],
    ['ann@bücher.example', 'xn--bcher-kva.example'],
    ['ann@www.shop.example', 'www.shop.example'],
    ['Shop.Example.', 'shop.example'],
    ['www.example', 'www.example'],
    ['www.co.uk', 'www.co.uk'],
  ])
    assert.deepEqual(readDomain(text!), { name }, text);
});

test('readDomain reads a website as its domain, and says so', () => {
  for (const text of ['https://www.shop.example/x', 'WWW.shop.example', 'www.shop.example.']) {
    const { name, note } = readDomain(text);
    assert.equal(name, 'shop.example');
    assert.match(note!, /^www\.shop\.example was read as shop\.example, .*postmaster@www\.shop/);
  }
});

test('readDomain says why a text names no domain', () => {
  for (const [text, fault] of [
    ['', /is empty/],
    ['https://', /is empty/],
    ['http://localhost/', /single label/],
    ['http://192.0.2.1/', /IP address/],
    ['ann@[192.0.2.1]', /IP address/],
    ['[2001:db8::1]', /IP address/],
    ['2001:db8::1', /IP address/],
    ['https://co.uk', /public suffix/],
    ['ann@gmail.com', /is an address at Gmail, not at your own domain/],
    ['Ann Smith', /not a domain name/],
    ['_dmarc.shop.example', /name of a DNS record/],
    [`https://${'a'.repeat(5000)}.example`, /not a domain name|too long/],
  ] as const)
    assert.match(readDomain(text).fault ?? '', fault, text);
});

const namesIn = (text: string) =>
  splitPasted(text).map((part) => readDomain(part).name ?? `?${part}`);

test('splitPasted understands lines, commas, semicolons, tabs and spaces', () => {
  const names = ['a.example', 'b.example', 'c.example'];
  for (const text of [
    'a.example\nb.example\r\nc.example',
    'a.example,b.example, c.example,',
    'a.example; b.example;c.example',
    'a.example\tb.example\tc.example',
    'a.example b.example  c.example',
    '- a.example\n- b.example\n* c.example',
    '1. a.example\n2) b.example\n3. c.example',
    '# my domains\na.example.\n\nB.EXAMPLE\nhttps://c.example/',
    '["a.example", "b.example", "c.example"]',
    'Ann <x@a.example>, "Bob, Jr." <bob@b.example>; c@c.example',
    'a.example, a.example, www.a.example, b.example, c.example, info@b.example',
  ])
    assert.deepEqual(namesIn(text), names, text);
});

test('splitPasted reads the columns of a table that hold names', () => {
  const names = ['a.example', 'b.example'];
  for (const text of [
    'Client,Domain,Since\nAcme,a.example,2024-01-02\nBolt,b.example,2025-03-04',
    'domain;contact\na.example;ann@other.example\nb.example;bob@other.example',
    'Name\tWebsite\nAcme\thttps://www.a.example/\nBolt\twww.b.example',
    'E-Mail,Plan\nann@a.example,pro\nbob@b.example,free',
    'a.example,Acme Ltd,12\nb.example,Bolt Ltd,34',
    '"Acme, Inc.",a.example\n"Bolt, Inc.",b.example',
    'Plan,Note,Domain\npro,,a.example\n,,b.example',
    'Domain\na.example\nb.example',
  ])
    assert.deepEqual(namesIn(text), names, text);
});

test('splitPasted keeps what is no name, so that each gets a message', () => {
  assert.deepEqual(namesIn('a.example\nfoo\nb..example, b.example'), [
    'a.example',
    '?foo',
    '?b..example',
    'b.example',
  ]);
  assert.deepEqual(namesIn('Acme\nBolt'), ['?Acme', '?Bolt']);
  assert.deepEqual(namesIn('Domain,Plan\n,pro\na.example,free'), ['?pro', 'a.example']);
  assert.deepEqual(splitPasted(' \n,;\t\n'), []);
});

test('splitPasted reads half a megabyte of anything in a moment', () => {
  const units = ['a.example\n', '"', ',', '<', 'a@', 'www.', ' .', '("', ')', 'a\n', '\u202e\0\n'];
  for (const unit of units) {
    const text = unit.repeat(Math.ceil(512_000 / unit.length));
    // A quote that is never closed, too.
    for (const one of [text, `"${text}x`]) assert.ok(splitPasted(one).length >= 0);
  }
});
