/** What is published where a DKIM key should be: records of another kind, and keys in quotation marks. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dkim } from '../../../src/analysis/checks/dkim.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { KEY_NAME, KEYS, sign, zoneWith } from '../dkim/signed-mail.ts';

const OTHER_KINDS = [
  'v=spf1 -all',
  'v=DMARC1; p=reject',
  'google-site-verification=dGhpcyBpcyBub3QgYSBrZXk',
  'Diese Domain ist geparkt',
];

for (const text of OTHER_KINDS)
  test(`dkim check: “${text}” where the key should be means that no key is published`, async () => {
    const zone = zoneWith(text);
    const { status, title, detail, fix } = await runCheck(dkim, { message: await sign(), zone });
    assert.equal(status, 'fail');
    assert.match(title, /^No DKIM key is published at s1\._domainkey\.example\.com\.$/);
    assert.ok(detail.includes(`of another kind: “${text}”`), detail);
    assert.ok(detail.includes('A wildcard record (*.example.com)'), detail);
    assert.equal(fix?.record?.name, KEY_NAME);
  });

const { record } = KEYS.rsa;
const QUOTED: [name: string, text: string][] = [
  ['around the record', `"${record}"`],
  ['between two strings', `"${record.slice(0, 200)}" "${record.slice(200)}"`],
  ['typographic ones', `“${record}”`],
  ['at the end only', `${record}"`],
];

for (const [name, text] of QUOTED)
  test(`dkim check: quotation marks in the key record, ${name}: the fix has the key without them`, async () => {
    const message = await sign();
    const broken = await runCheck(dkim, { message, zone: zoneWith(text) });
    assert.equal(broken.status, 'fail', broken.title);
    assert.match(broken.title, /contains quotation marks\.$/);
    const proposed = broken.fix?.record;
    assert.equal(proposed?.name, KEY_NAME);
    const cured = await runCheck(dkim, { message, zone: zoneWith(proposed!.value) });
    assert.equal(cured.status, 'pass', cured.title);
  });
