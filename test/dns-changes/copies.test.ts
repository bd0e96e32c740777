/** Records as text to copy. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { copiesOf } from '../../src/dns-changes/copies.ts';
import { quotedStrings, unquotedText } from '../../src/dns-changes/presentation.ts';
import { startBind } from '../helpers/bind.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';

const copies = (name: string, type: string, ...values: string[]) =>
  copiesOf({ name, type, values, ttl: 3600 }, 'example.com');

test('a DMARC record is copied as a zone-file line, a Terraform block and an octoDNS entry', () => {
  const { zone_file, terraform, octodns } = copies('_dmarc.example.com', 'TXT', 'v=DMARC1; p=none');
  assert.equal(zone_file, '_dmarc.example.com. 3600 IN TXT "v=DMARC1; p=none"');
  assert.equal(
    terraform,
    `resource "cloudflare_dns_record" "_dmarc_example_com_txt" {
  zone_id = var.cloudflare_zone_id
  name    = "_dmarc.example.com"
  type    = "TXT"
  ttl     = 3600
  content = "\\"v=DMARC1; p=none\\""
}`,
  );
  assert.equal(
    octodns,
    `"_dmarc":
  - type: TXT
    ttl: 3600
    values:
      - "v=DMARC1\\\\; p=none"`,
  );
});

test('copies of MX, CAA, TLSA and address records have the parts that each tool wants', () => {
  const mx = copies('example.com', 'MX', '10 a.example.com', '20 b.example.com');
  assert.equal(mx.zone_file.split('\n')[1], 'example.com. 3600 IN MX 20 b.example.com.');
  assert.match(
    mx.terraform,
    /"example_com_mx_2" \{[^}]*content\s+= "b\.example\.com"\s+priority = 20/,
  );
  assert.match(mx.octodns, /^"":\n/);
  assert.match(mx.octodns, /- \{"preference":10,"exchange":"a\.example\.com\."\}/);
  const caa = copies('example.com', 'CAA', '0 issue "ca.example"');
  assert.equal(caa.zone_file, 'example.com. 3600 IN CAA 0 issue "ca.example"');
  assert.match(caa.terraform, /data {4}= \{ flags = 0, tag = "issue", value = "ca\.example" \}/);
  assert.match(caa.octodns, /\{"flags":0,"tag":"issue","value":"ca\.example"\}/);
  const tlsa = copies('_25._tcp.mx.example.com', 'TLSA', '3 1 1 abcd');
  assert.match(tlsa.terraform, /usage = 3, selector = 1, matching_type = 1, certificate = "abcd"/);
  assert.match(tlsa.octodns, /"certificate_usage":3,.*"certificate_association_data":"abcd"/);
  assert.match(copies('9.example.com', 'A', '192.0.2.1').terraform, /"_9_example_com_a"/);
});

test('SPF macros do not become templates of Terraform', () => {
  const { terraform } = copies('example.com', 'TXT', `v=spf1 exists:%{i}.x.example $\{y} -all`);
  assert.match(terraform, /exists:%%\{i\}\.x\.example \$\$\{y\} -all/);
});

const TEXTS = [
  '',
  'a"b\\c',
  'é\u0007',
  `v=DKIM1; p=${'M'.repeat(600)}`,
  '“quoted”',
  'ü'.repeat(300),
];

test('names that differ only in a hyphen have different blocks of Terraform', () => {
  const labels = ['a-b', 'a.b'].map(
    (name) => copies(`${name}.example.com`, 'TXT', 'x').terraform.split(' ')[2],
  );
  assert.deepEqual(labels, ['"a-b_example_com_txt"', '"a_b_example_com_txt"']);
});

test('octoDNS gets a text with quotation marks as it removes them, and none that it refuses', () => {
  assert.match(
    copies('example.com', 'TXT', '"v=spf1 -all"').octodns,
    /- "\\"\\"v=spf1 -all\\"\\""$/,
  );
  for (const text of ['é', 'a" "b'])
    assert.match(copies('example.com', 'TXT', text).octodns, /^# octoDNS cannot publish/);
});

test('quotation marks in a CAA record are escaped in a zone file', () => {
  assert.equal(
    copies('example.com', 'CAA', '0 issue "a"b\\"').zone_file,
    'example.com. 3600 IN CAA 0 issue "a\\"b\\\\"',
  );
});

test('text becomes quoted strings and back', () => {
  for (const text of TEXTS) assert.equal(unquotedText(quotedStrings(text)), text);
  assert.equal(unquotedText('v=spf1 -all'), 'v=spf1 -all');
  assert.deepEqual(quotedStrings('M'.repeat(256)), `"${'M'.repeat(255)}" "M"`);
});

test('BIND reads zone-file lines as the text that they stand for', {
  skip: skipUnlessInstalled('named'),
}, async (t) => {
  const lines = TEXTS.map((text, i) => copies(`t${i}.example.com`, 'TXT', text).zone_file);
  const { resolver } = await startBind(t, {
    zones: { 'example.com': {} },
    lines: { 'example.com': lines },
  });
  for (const [i, text] of TEXTS.entries()) {
    const answer = await resolver(`t${i}.example.com`, 'TXT');
    assert.deepEqual(answer.status === 'found' && answer.records, [text]);
  }
});
