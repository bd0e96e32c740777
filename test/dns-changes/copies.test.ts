/** Records as text to copy. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { parse } from 'yaml';
import { spawnSync } from '../../scripts/programs.ts';
import { copiesOf } from '../../src/dns-changes/copies.ts';
import { quotedStrings, unquotedText } from '../../src/dns-changes/presentation.ts';
import { startBind } from '../helpers/bind.ts';
import { parseStrings } from '../helpers/dns-apis/records.ts';
import { readBlocks } from '../helpers/hcl.ts';
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

/** What each tool reads from its copy, in the notation of the resolver. */
const HOSTILE_TEXTS = [
  `v=spf1 exists:%{i}.x.example $\{y} $$\{z} -all`,
  'a; b \\; c',
  'say "hi" \\ twice: "" \' `tick`',
  `v=DKIM1; p=${'M'.repeat(600)}`,
];

test('a set with several values is one Terraform block for each provider that manages sets', () => {
  const made = copies('_x.example.com', 'TXT', ...HOSTILE_TEXTS);
  const [aws, ...others] = readBlocks(made.terraform_aws);
  assert.deepEqual(
    [others, aws!.resource, aws!.attributes.zone_id, aws!.attributes.name, aws!.attributes.ttl],
    [[], 'aws_route53_record', { reference: 'var.route53_zone_id' }, '_x.example.com', 3600],
  );
  // The provider puts a quotation mark at both ends.
  const sent = (aws!.attributes.records as string[]).map((text) => `"${text}"`);
  const text = (data: string, radix?: 8) => Buffer.concat(parseStrings(data, radix)).toString();
  assert.deepEqual(
    sent.map((data) => text(data, 8)),
    HOSTILE_TEXTS,
  );
  const [hetzner] = readBlocks(made.terraform_hetzner);
  assert.deepEqual(
    [hetzner!.resource, hetzner!.attributes.zone, hetzner!.attributes.name],
    ['hcloud_zone_rrset', 'example.com', '_x'],
  );
  const objects = hetzner!.attributes.records as { value: string }[];
  assert.deepEqual(
    objects.map(({ value }) => text(value)),
    HOSTILE_TEXTS,
  );
  for (const [copy, attributes] of [
    [made.terraform_desec, { domain: 'example.com', subname: '_x' }],
    [made.terraform_powerdns, { zone: 'example.com.', name: '_x.example.com.' }],
  ] as const) {
    const [block] = readBlocks(copy);
    for (const [key, value] of Object.entries(attributes))
      assert.equal(block!.attributes[key], value);
    assert.deepEqual(
      (block!.attributes.records as string[]).map((data) => text(data)),
      HOSTILE_TEXTS,
    );
  }
  const cloudflare = readBlocks(made.terraform);
  assert.deepEqual(
    cloudflare.map(({ attributes }) => text(String(attributes.content))),
    HOSTILE_TEXTS,
  );
});

test('copies at the zone itself have the name that each tool has for it', () => {
  const made = copies('example.com', 'MX', '10 mx.example.com');
  assert.equal(readBlocks(made.terraform_hetzner)[0]!.attributes.name, '@');
  assert.equal(readBlocks(made.terraform_desec)[0]!.attributes.subname, '');
  for (const copy of [made.terraform_aws, made.terraform_desec, made.terraform_powerdns])
    assert.deepEqual(readBlocks(copy)[0]!.attributes.records, ['10 mx.example.com.']);
  assert.equal(made.dnscontrol, 'MX("@", 10, "mx.example.com.", TTL(3600)),');
});

test('the octoDNS YAML has values with escaped semicolons', () => {
  const texts = HOSTILE_TEXTS.filter((text) => !text.includes('" "'));
  const { octodns } = copies('_x.example.com', 'TXT', ...texts);
  const [set] = parse(octodns)._x;
  assert.deepEqual([set.type, set.ttl], ['TXT', 3600]);
  assert.deepEqual(
    set.values.map((value: string) => value.replaceAll('\\;', ';')),
    texts,
  );
});

test('DNSControl runs its lines as calls with the parts of each record', () => {
  const calls: unknown[][] = [];
  const call =
    (type: string) =>
    (...parts: unknown[]) => {
      calls.push([type, ...parts]);
    };
  const run = (...lines: string[]) => {
    calls.length = 0;
    runInNewContext(`D(${lines.join('\n')} 0)`, {
      ...Object.fromEntries(['TXT', 'MX', 'A', 'CAA', 'TLSA'].map((type) => [type, call(type)])),
      D() {},
      TTL: (seconds: number) => ({ ttl: seconds }),
      CAA_CRITICAL: 'critical',
    });
    return JSON.parse(JSON.stringify(calls));
  };
  assert.deepEqual(
    run(copies('_x.example.com', 'TXT', ...HOSTILE_TEXTS, 'é\u2028').dnscontrol),
    [...HOSTILE_TEXTS, 'é\u2028'].map((text) => ['TXT', '_x', text, { ttl: 3600 }]),
  );
  assert.deepEqual(
    run(
      copies('example.com', 'CAA', '128 issue "ca.example"').dnscontrol,
      copies('_25._tcp.mx.example.com', 'TLSA', '3 1 1 abcd').dnscontrol,
      copies('mx.example.com', 'A', '192.0.2.1', '192.0.2.2').dnscontrol,
    ),
    [
      ['CAA', '@', 'issue', 'ca.example', 'critical', { ttl: 3600 }],
      ['TLSA', '_25._tcp.mx', 3, 1, 1, 'abcd', { ttl: 3600 }],
      ['A', 'mx', '192.0.2.1', { ttl: 3600 }],
      ['A', 'mx', '192.0.2.2', { ttl: 3600 }],
    ],
  );
});

test('named-checkzone accepts a zone of zone-file lines', {
  skip: skipUnlessInstalled('named-checkzone'),
}, (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'zone-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'zone');
  const lines = [
    copies('_x.example.com', 'TXT', ...HOSTILE_TEXTS, ...TEXTS),
    copies('example.com', 'MX', '10 mx.example.com'),
    copies('example.com', 'CAA', '0 issue "ca.example"'),
    copies('mx.example.com', 'A', '192.0.2.1'),
    copies('_25._tcp.mx.example.com', 'TLSA', `3 1 1 ${'ab'.repeat(32)}`),
  ].map(({ zone_file }) => zone_file);
  const soa = 'example.com. 3600 IN SOA ns.example.net. h.example.net. 1 1 1 1 1';
  writeFileSync(file, [soa, 'example.com. 3600 IN NS ns.example.net.', ...lines, ''].join('\n'));
  const { status, stdout } = spawnSync('named-checkzone', ['-i', 'none', 'example.com', file]);
  assert.equal(status, 0, String(stdout));
});
