/** International domain names as people write them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { domainToASCII } from 'node:url';
import { bothForms, readableDomain, withReadableNames } from '../../src/lib/readable-domain.ts';

const SHOWN = [
  'bücher.example',
  'señal.es',
  'mail.почта.рф',
  '例え.jp',
  'ひらカナ漢字abc.jp',
  '한국어.kr',
  'δοκιμή.gr',
  'مثال.com',
  'उदाहरण.in',
  'straße.de',
  'l·l.cat',
];

for (const name of SHOWN)
  test(`${name} is shown as people write it`, () => {
    const encoded = domainToASCII(name);
    assert.match(encoded, /xn--/);
    assert.equal(readableDomain(encoded), name);
    assert.equal(bothForms(encoded), `${name} (${encoded})`);
  });

const KEPT: [name: string, encoded: string][] = [
  ['Cyrillic a in a Latin word', domainToASCII('pаypal.com')],
  ['a Cyrillic word that looks Latin', domainToASCII('рау.com')],
  ['Greek and Latin', domainToASCII('gοogle.com')],
  ['Devanagari and Thai', domainToASCII('उदกข.com')],
  ['a label that decodes to ASCII', 'xn--example-.com'],
  ['a label that is not Punycode', 'xn--99999999.example'],
  ['a symbol', domainToASCII('i❤.ws')],
];

for (const [name, encoded] of KEPT)
  test(`A name stays encoded: ${name}`, () => {
    assert.match(encoded, /xn--/);
    assert.equal(readableDomain(encoded), encoded);
    assert.equal(bothForms(encoded), encoded);
  });

test('A Cyrillic name is shown below a Cyrillic top-level domain, whatever it looks like', () => {
  assert.equal(readableDomain(domainToASCII('рау.рф')), 'рау.рф');
});

test('Only names on their own become readable in a sentence', () => {
  const name = domainToASCII('bücher.example');
  const rows: [string, string][] = [
    [`${name} has no SPF record.`, 'bücher.example has no SPF record.'],
    [`The servers of ${name}: mx.${name}.`, 'The servers of bücher.example: mx.bücher.example.'],
    [`Publish it at _dmarc.${name}.`, `Publish it at _dmarc.${name}.`],
    [`"include:${name}" refers to ${name}`, `"include:${name}" refers to bücher.example`],
    [`Write to postmaster@${name}.`, `Write to postmaster@${name}.`],
    [`https://${name}/logo.svg`, `https://${name}/logo.svg`],
    ['example.com is healthy.', 'example.com is healthy.'],
  ];
  for (const [text, expected] of rows) assert.equal(withReadableNames(text), expected);
});
