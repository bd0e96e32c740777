/** `repairedRecord`: what owners write by mistake, and the record that they meant. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  isDmarcRecord,
  parseDmarcTags,
  repairedRecord,
  resemblesDmarc,
} from '../../../src/analysis/dmarc/record.ts';

const MEANT = 'v=DMARC1; p=none; rua=mailto:d@example.com';

const rows: [name: string, record: string, repaired: string][] = [
  ['a valid record', MEANT, MEANT],
  ['no semicolons', 'v=DMARC1 p=none rua=mailto:d@example.com', MEANT],
  ['commas instead of semicolons', 'v=DMARC1, p=none, rua=mailto:d@example.com', MEANT],
  ['escaped semicolons', 'v=DMARC1\\; p=none\\; rua=mailto:d@example.com', MEANT],
  ['curly quotes around it', '“v=DMARC1; p=none; rua=mailto:d@example.com”', MEANT],
  ['curly quotes inside', 'v=DMARC1; p=“none”; rua=‘mailto:d@example.com’', MEANT],
  ['quotes read in another encoding', 'â€œv=DMARC1; p=none; rua=mailto:d@example.comâ€', MEANT],
  ['straight quotes', '"v=DMARC1; p=none; rua=mailto:d@example.com"', MEANT],
  ['a doubled version', 'v=DMARC1; v=DMARC1; p=none; rua=mailto:d@example.com', MEANT],
  ['a version in lower case', 'v=dmarc1;p=none;rua=mailto:d@example.com', MEANT],
  ['a version without a semicolon', 'v=DMARC1p=none; rua=mailto:d@example.com', MEANT],
  ['colons instead of equals signs', 'v:DMARC1; p: none; rua:mailto:d@example.com', MEANT],
  ['spaces around equals signs', 'v = DMARC1 ; p = none ; rua = mailto:d@example.com', MEANT],
  ['no-break spaces', 'v=DMARC1;\u00a0p=none;\u00a0rua=mailto:d@example.com', MEANT],
  ['no mailto', 'v=DMARC1; p=none; rua=d@example.com', MEANT],
  ['mailto with slashes', 'v=DMARC1; p=none; rua=mailto://d@example.com', MEANT],
  ['the policy at the end', 'v=DMARC1; rua=mailto:d@example.com; p=none', MEANT],
  ['a misspelled policy', 'v=DMARC1; p=quarantene', 'v=DMARC1; p=quarantine'],
  ['the tag policy', 'v=DMARC1; policy=reject', 'v=DMARC1; p=reject'],
  ['no policy', 'v=DMARC1; sp=reject', 'v=DMARC1; p=none; sp=reject'],
  [
    'modes in words',
    'v=DMARC1; p=reject; adkim=strict; aspf=relaxed',
    'v=DMARC1; p=reject; adkim=r; aspf=r',
  ],
  ['a mode in upper case', 'v=DMARC1; p=none; aspf=S', 'v=DMARC1; p=none; aspf=s'],
  ['a mode that is no value', 'v=DMARC1; p=none; adkim=s-mode', 'v=DMARC1; p=none; adkim=r'],
  ['the name in front', `_dmarc ${MEANT}`, MEANT],
  ['the name in front, and an equals sign', `dmarc=${MEANT}`, MEANT],
  ['a field in front', `TXT value: "${MEANT}"`, MEANT],
  ['an unknown tag', 'v=DMARC1; p=reject; foo=bar', 'v=DMARC1; p=reject'],
  ['an obsolete tag', 'v=DMARC1; p=reject; pct=50', 'v=DMARC1; p=reject; pct=50'],
  ['options with spaces', 'v=DMARC1; p=reject; fo=1 : d : s', 'v=DMARC1; p=reject; fo=1 : d : s'],
  [
    'two addresses, separated by a space',
    'v=DMARC1 p=reject rua=mailto:a@example.com mailto:b@example.com',
    'v=DMARC1; p=reject; rua=mailto:a@example.com,mailto:b@example.com',
  ],
  [
    'two addresses and commas throughout',
    'v=DMARC1,p=reject,rua=mailto:a@example.com,mailto:b@example.com,adkim=s',
    'v=DMARC1; p=reject; rua=mailto:a@example.com,mailto:b@example.com; adkim=s',
  ],
  // An address is kept as it is or left out: a part of it may be someone else's address.
  ['a space in an address', 'v=DMARC1; p=none; rua=mailto:a b@c.example', 'v=DMARC1; p=none'],
  ['a bracket', 'v=DMARC1; p=none; rua=mailto:[x@b.example', 'v=DMARC1; p=none'],
  ['two at signs', 'v=DMARC1; p=none; rua=mailto:a@@x.example', 'v=DMARC1; p=none'],
  ['a control character', 'v=DMARC1; p=none; rua=mailto:a\u001bb@c.example', 'v=DMARC1; p=none'],
  ['a letter outside ASCII', 'v=DMARC1; p=none; rua=mailto:dö@müller.example', 'v=DMARC1; p=none'],
  ['a letter of another script', 'v=DMARC1; p=none; rua=mailto:d@exаmple.com', 'v=DMARC1; p=none'],
  ['a damaged last label', 'v=DMARC1; p=none; rua=mailto:d@example.comÂ', 'v=DMARC1; p=none'],
  [
    'a domain with a letter outside ASCII',
    'v=DMARC1; p=none; rua=mailto:d@müller.example',
    'v=DMARC1; p=none; rua=mailto:d@xn--mller-kva.example',
  ],
  ...[
    'rua=mailto=d@example.com',
    'rua=mailto : d@example.com',
    'rua=mailto:<d@example.com>',
    'rua=maito:d@example.com',
    'rua=mail:d@example.com',
    'rua=email: d@example.com',
    'rua mailto:d@example.com',
    'ra=mailto:d@example.com',
    'mailto:d@example.com',
  ].map((tag): [string, string, string] => [`"${tag}"`, `v=DMARC1; p=none; ${tag}`, MEANT]),
  ...[
    `_dmarc ${MEANT}`,
    `_dmarc=${MEANT}`,
    `@ ${MEANT}`,
    `text=${MEANT}`,
    `(${MEANT})`,
    `= ${MEANT}`,
    MEANT.replace('v=DMARC1; ', ''),
  ].map((text): [string, string, string] => [`"${text}"`, text, MEANT]),
  [
    'a policy before the version',
    'p=reject v=DMARC1; rua=mailto:d@example.com',
    'v=DMARC1; p=reject; rua=mailto:d@example.com',
  ],
  [
    'two tags for reports',
    'v=DMARC1; p=none; rua=mailto:a@example.com; rua=mailto:b@example.net',
    'v=DMARC1; p=none; rua=mailto:a@example.com,mailto:b@example.net',
  ],
  [
    'two records in one',
    'v=DMARC1; p=reject; rua=mailto:a@example.com v=DMARC1; p=none; rua=mailto:b@example.net',
    'v=DMARC1; p=none; rua=mailto:a@example.com,mailto:b@example.net',
  ],
  ['a quotation mark', 'v=DMARC1; p=none; rua=mailto:o’hara@c.example', 'v=DMARC1; p=none'],
  ['two dots', 'v=DMARC1; p=none; rua=mailto:a..b@c.example', 'v=DMARC1; p=none'],
  ['a domain without a dot', 'v=DMARC1; p=none; rua=mailto:a@localhost', 'v=DMARC1; p=none'],
  [
    'an invalid address beside a valid one',
    'v=DMARC1; p=none; rua=mailto:a@@x,mailto:d@example.com; ruf=mailto:@y.example',
    MEANT,
  ],
  [
    'an apostrophe and a size limit',
    "v=DMARC1; p=none; rua=mailto:o'hara@example.com!10m",
    "v=DMARC1; p=none; rua=mailto:o'hara@example.com!10m",
  ],
  ['an obsolete tag with another character', 'v=DMARC1; p=none; pct=5\u001b0', 'v=DMARC1; p=none'],
];

it('Keys and other records do not resemble DMARC records', () => {
  for (const text of [
    'v=DKIM1; p=MIGf',
    'p=MIGf',
    'v=spf1 -all',
    'v=TLSRPTv1; rua=mailto:a@b.example',
  ])
    assert.equal(resemblesDmarc(text), false, text);
});

describe('repairedRecord', () => {
  for (const [name, record, repaired] of rows)
    it(name, () => {
      assert.ok(resemblesDmarc(record), 'resemblesDmarc');
      const value = repairedRecord(record);
      assert.equal(value, repaired);
      assert.ok(isDmarcRecord(value));
      const { faults, duplicates, unknown } = parseDmarcTags(value);
      assert.deepEqual([faults, duplicates, unknown], [[], [], []]);
      assert.equal(repairedRecord(value), value, 'a second repair changes nothing');
    });
});
