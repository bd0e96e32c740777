/** Display names that claim to be a brand, and names that only contain one. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BRANDS } from '../../../src/analysis/brands/brands.ts';
import { brandInName, ownsAny } from '../../../src/analysis/brands/impersonated-brand.ts';
import { normalizeDomain } from '../../../src/lib/domain-names.ts';

const NAMES: [name: string, brand: string | null][] = [
  ['PayPal Security', 'PayPal'],
  ['PayPal', 'PayPal'],
  ['  PAYPAL   Customer Service ', 'PayPal'],
  ['"PayPal" (Support)', 'PayPal'],
  // Cyrillic letters, a digit for a letter, full-width letters, invisible characters.
  ['Раypal Support', 'PayPal'],
  ['PayPa1', 'PayPal'],
  ['Ｍｉｃｒｏｓｏｆｔ account team', 'Microsoft'],
  ['Net\u200bflix', 'Netflix'],
  ['Micr0soft 365', 'Microsoft'],
  ['Amazon.com', 'Amazon'],
  ['Booking.com Support', 'Booking.com'],
  ['Apple ID', 'Apple'],
  ['Zoom Support', 'Zoom'],
  ['DHL Express', 'DHL'],
  ['American Express Fraud Protection', 'American Express'],
  // Other words make it a different sender.
  ['Apple Tree Nursery', null],
  ['Apple', null],
  ['Zoom', null],
  ['Chase Morgan', null],
  ['Microsoft User Group Berlin', null],
  ['The PayPal Story', null],
  ['PayPal via Book Club', null],
  ['LinkedIn for Nurses', null],
  ['Upstairs Bakery', null],
  ['Paypalo', null],
  ['Jane Visa', null],
  ['Example Shop', null],
  ['', null],
];

for (const [name, brand] of NAMES)
  test(`brandInName: “${name}” is ${brand ?? 'no brand'}`, () =>
    assert.equal(brandInName(name)?.name ?? null, brand));

const OWNERS: [brand: string, domains: string[], isOwner: boolean][] = [
  ['PayPal', ['paypal.com'], true],
  ['PayPal', ['mail.paypal.com'], true],
  ['PayPal', ['paypal.de'], true],
  ['PayPal', ['shop.example', 'paypal.com'], true],
  ['PayPal', ['paypal-security.example'], false],
  ['PayPal', ['paypal.com.example.net'], false],
  ['PayPal', ['notpaypal.com'], false],
  ['PayPal', [], false],
  ['Western Union', ['western-union.de'], true],
  ['Booking.com', ['mailer.booking.com'], true],
  ['Google', ['gmail.com'], false],
];

for (const [name, domains, isOwner] of OWNERS)
  test(`ownsAny: ${name} ${isOwner ? 'owns one of' : 'owns none of'} ${domains.join(', ') || 'nothing'}`, () =>
    assert.equal(ownsAny(BRANDS.find((brand) => brand.name === name)!, domains), isOwner));

test('Every brand is recognized by its own name with a role, and has valid domains', () => {
  assert.ok(BRANDS.length >= 55, String(BRANDS.length));
  for (const brand of BRANDS) {
    assert.equal(brandInName(`${brand.name} Security`), brand, brand.name);
    for (const domain of brand.domains) assert.equal(normalizeDomain(domain), domain);
    assert.ok(ownsAny(brand, [`mail.${brand.domains[0]}`]));
  }
});

test('brandInName takes no longer for a long name of many words', () => {
  assert.equal(brandInName('paypal '.repeat(100_000)), null);
  assert.equal(brandInName('\u200b'.repeat(100_000)), null);
});
