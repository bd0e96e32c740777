/** The check `bimi`: the record, where it is looked for, and what keeps the logo away. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bimi } from '../../../src/analysis/authentication/bimi.ts';
import type { Zone } from '../../../src/net/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { KEYS, MESSAGE, sign, zoneWith } from './signed-mail.ts';

const GOOD = 'v=BIMI1; l=https://example.com/logo.svg; a=https://example.com/logo.pem';
const ENFORCED = 'v=DMARC1; p=reject';

const zoneOf = (record: string, dmarc = ENFORCED, name = 'default._bimi.example.com'): Zone => ({
  ...zoneWith(KEYS.rsa.record),
  '_dmarc.example.com': { TXT: [dmarc] },
  [name]: { TXT: [record] },
});

const rows: { name: string; zone: Zone; obstacles: RegExp[] }[] = [
  { name: 'nothing', zone: zoneOf(GOOD), obstacles: [] },
  { name: 'p=none', zone: zoneOf(GOOD, 'v=DMARC1; p=none'), obstacles: [/not enforced/] },
  {
    name: 'test mode',
    zone: zoneOf(GOOD, 'v=DMARC1; p=quarantine; t=y'),
    obstacles: [/not enforced/],
  },
  { name: 'sp=none', zone: zoneOf(GOOD, `${ENFORCED}; sp=none`), obstacles: [/sp=none/] },
  {
    name: 'pct',
    zone: zoneOf(GOOD, 'v=DMARC1; p=quarantine; pct=50'),
    obstacles: [/50 % of the mail/],
  },
  {
    name: 'no certificate',
    zone: zoneOf('v=BIMI1; l=https://example.com/logo.svg'),
    obstacles: [/no certificate/],
  },
  {
    name: 'a logo without TLS, and a certificate without',
    zone: zoneOf('v=BIMI1; l=http://example.com/logo.svg; a=http://example.com/logo.pem'),
    obstacles: [/logo \(l=\) is not an https/, /certificate \(a=\) is not an https/],
  },
  {
    name: 'a logo of another format',
    zone: zoneOf(GOOD.replace('.svg', '.png')),
    obstacles: [/end in \.svg/],
  },
  {
    name: 'no logo',
    zone: zoneOf('v=BIMI1; a=https://example.com/logo.pem'),
    obstacles: [/names no logo/],
  },
  {
    name: 'two records',
    zone: { ...zoneOf(GOOD), 'default._bimi.example.com': { TXT: [GOOD, 'v=BIMI1; l=; a='] } },
    obstacles: [/2 records/],
  },
  {
    name: 'no DMARC record',
    zone: { 'default._bimi.example.com': { TXT: [GOOD] } },
    obstacles: [/no DMARC record/, /does not pass DMARC/],
  },
];

for (const { name, zone, obstacles } of rows) {
  test(`bimi: kept away by ${name}`, async () => {
    const finding = await runCheck(bimi, { message: await sign(), zone });
    assert.equal(finding.status, 'info');
    const found = finding.evidence?.obstacles as string[];
    assert.equal(found.length, obstacles.length, found.join(' '));
    obstacles.forEach((obstacle, index) => {
      assert.match(found[index] ?? '', obstacle);
    });
    assert.equal(finding.evidence?.logo_and_certificate, 'not fetched');
  });
}

test('bimi: a message that fails DMARC shows no logo', async () => {
  const finding = await runCheck(bimi, {
    message: MESSAGE,
    zone: zoneOf(GOOD),
    envelope: { mail_from: 'x@elsewhere.example' },
  });
  assert.deepEqual(finding.evidence?.obstacles, ['This message does not pass DMARC.']);
});

test('bimi: the organisational domain is asked after the From domain, by the selector of the message', async () => {
  const message = `BIMI-Selector: v=BIMI1; s=Brand\n${MESSAGE.replace('ann@example.com', 'ann@mail.example.com')}`;
  const zone = zoneOf(GOOD, ENFORCED, 'brand._bimi.example.com');
  const finding = await runCheck(bimi, { message, zone });
  assert.equal(finding.evidence?.name, 'brand._bimi.example.com');
  assert.equal(finding.evidence?.logo, 'https://example.com/logo.svg');
});

test('bimi: no record, a declined one, one that cannot be asked for, and offline', async () => {
  const message = await sign();
  const none = await runCheck(bimi, { message, zone: zoneOf('v=spf1 -all') });
  assert.deepEqual([none.status, none.evidence?.record], ['info', null]);
  assert.equal(none.fix?.record?.name, 'default._bimi.example.com');
  const declined = await runCheck(bimi, { message, zone: zoneOf('v=BIMI1; l=; a=') });
  assert.match(declined.title, /no logo is to be shown/);
  const unanswered: Zone = { ...zoneOf(GOOD), 'default._bimi.example.com': { fails: 'timeout' } };
  assert.equal((await runCheck(bimi, { message, zone: unanswered })).status, 'error');
  assert.equal((await runCheck(bimi, { message, zone: {}, offline: true })).status, 'skipped');
});
