/** The check `bimi`: the record, where it is looked up, its files, and obstacles to the logo. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { bimi } from '../../../src/analysis/checks/bimi.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import type { WebFailureReason } from '../../../src/net/guarded-connection.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { type Page, webOf } from '../../helpers/web.ts';
import { makeAuthority, makeIntermediate, makeMark } from '../bimi/mark-certificates.ts';
import { KEYS, MESSAGE, sign, zoneWith } from '../dkim/signed-mail.ts';

const GOOD = 'v=BIMI1; l=https://example.com/logo.svg; a=https://example.com/logo.pem';
const ENFORCED = 'v=DMARC1; p=reject';
const LOGO_URL = 'https://example.com/logo.svg';
const MARK_URL = 'https://example.com/logo.pem';
const LOGO =
  '<?xml version="1.0"?><svg version="1.2" baseProfile="tiny-ps" viewBox="0 0 64 64" xmlns="http://www.w3.org/2000/svg"><title>Example</title><circle cx="32" cy="32" r="30" fill="#305090"/></svg>';

const ROOT = makeAuthority();
const INTERMEDIATE = makeIntermediate(ROOT);
const MARK = `${makeMark(INTERMEDIATE, { logo: LOGO })}${INTERMEDIATE.pem}${ROOT.pem}`;
const PAGES = { [LOGO_URL]: { body: LOGO }, [MARK_URL]: { body: MARK } };

const zoneOf = (record: string, dmarc = ENFORCED, name = 'default._bimi.example.com'): Zone => ({
  ...zoneWith(KEYS.rsa.record),
  '_dmarc.example.com': { TXT: [dmarc] },
  [name]: { TXT: [record] },
});

const checkBimi = async (zone: Zone, pages: Record<string, Page | WebFailureReason> = PAGES) =>
  runCheck(bimi, { message: await sign(), zone, web: webOf(pages) });

const rows: { name: string; zone: Zone; obstacles: RegExp[] }[] = [
  { name: 'none', zone: zoneOf(GOOD), obstacles: [] },
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
    obstacles: [/50% of mail/],
  },
  {
    name: 'no certificate',
    zone: zoneOf('v=BIMI1; l=https://example.com/logo.svg'),
    obstacles: [/no certificate/],
  },
  {
    name: 'a logo and a certificate over http',
    zone: zoneOf('v=BIMI1; l=http://example.com/logo.svg; a=http://example.com/logo.pem'),
    obstacles: [/logo URL \(l=\) does not use https/, /certificate URL \(a=\) does not use https/],
  },
  {
    name: 'a logo of another format',
    zone: zoneOf(GOOD.replace('.svg', '.png')),
    obstacles: [/end in \.svg/, /responded with 404/],
  },
  {
    name: 'no logo',
    zone: zoneOf('v=BIMI1; a=https://example.com/logo.pem'),
    obstacles: [/has no logo URL/],
  },
  {
    name: 'two records',
    zone: { ...zoneOf(GOOD), 'default._bimi.example.com': { TXT: [GOOD, 'v=BIMI1; l=; a='] } },
    obstacles: [/2 BIMI records/],
  },
  {
    name: 'no DMARC record',
    zone: { 'default._bimi.example.com': { TXT: [GOOD] } },
    obstacles: [/no DMARC record/, /does not pass DMARC/],
  },
];

function assertObstacles(found: unknown, obstacles: RegExp[]): void {
  assert.ok(Array.isArray(found));
  assert.equal(found.length, obstacles.length, found.join(' '));
  obstacles.forEach((obstacle, index) => {
    assert.match(String(found[index]), obstacle);
  });
}

for (const { name, zone, obstacles } of rows) {
  test(`bimi check lists obstacles: ${name}`, async () => {
    const finding = await checkBimi(zone);
    assert.equal(finding.status, 'info');
    assertObstacles(finding.evidence?.obstacles, obstacles);
  });
}

test('bimi check evidence describes the logo and certificate files', async () => {
  const { title, evidence } = await checkBimi(zoneOf(GOOD));
  assert.match(title, /complete/);
  assert.deepEqual(evidence?.problems, []);
  assert.deepEqual(evidence?.logo_file, {
    bytes: LOGO.length,
    title: 'Example',
    view_box: '0 0 64 64',
  });
  assert.deepEqual(evidence?.certificate_file, {
    kind: 'VMC',
    mark_type: 'Registered Mark',
    names: ['example.com'],
    issuer: 'CN=Mark Intermediate',
    valid_from: '2026-10-22T10:00:00.000Z',
    valid_to: '2027-09-17T10:00:00.000Z',
    logotype: true,
  });
});

test('bimi check classifies download failures as obstacle or unknown', async () => {
  const cases: [Page | WebFailureReason, isObstacle: boolean, RegExp][] = [
    [{ code: 404 }, true, /responded with 404/],
    [{ code: 301 }, true, /redirects \(301\)/],
    ['no_such_name', true, /host name does not exist/],
    ['tls', true, /no valid TLS certificate/],
    ['forbidden_address', true, /no public IP address/],
    [{ body: 'x'.repeat(65 * 1024) }, true, /larger than 66 KB/],
    [{ code: 503 }, false, /responded with 503/],
    [{ code: 403 }, false, /responded with 403/],
    ['timeout', false, /could not be fetched/],
    ['dns', false, /could not be fetched/],
  ];
  for (const [page, isObstacle, words] of cases)
    for (const [url, what] of [
      [LOGO_URL, 'The logo'],
      [MARK_URL, 'The certificate'],
    ] as const) {
      const { status, evidence } = await checkBimi(zoneOf(GOOD), { ...PAGES, [url]: page });
      assert.equal(status, 'info');
      const sentences = evidence?.[isObstacle ? 'obstacles' : 'not_found_out'] as string[];
      assert.equal(sentences?.length, 1, JSON.stringify(page).slice(0, 100));
      assert.match(sentences[0]!, words);
      assert.ok(sentences[0]!.startsWith(what));
      if (!isObstacle) assert.deepEqual(evidence?.obstacles, []);
    }
});

test('bimi check unpacks a compressed logo and compares it with the certificate', async () => {
  const packed = await checkBimi(zoneOf(GOOD), { ...PAGES, [LOGO_URL]: { body: gzipSync(LOGO) } });
  assert.deepEqual(packed.evidence?.obstacles, []);
  const bomb = gzipSync(Buffer.alloc(10_000_000, 32));
  const bombed = await checkBimi(zoneOf(GOOD), { ...PAGES, [LOGO_URL]: { body: bomb } });
  assertObstacles(bombed.evidence?.obstacles, [/cannot be decompressed/]);
  const other = LOGO.replace('#305090', '#ff0000');
  const changed = await checkBimi(zoneOf(GOOD), { ...PAGES, [LOGO_URL]: { body: other } });
  assertObstacles(changed.evidence?.obstacles, [/differs from the logo in the certificate/]);
  assert.match(changed.fix?.text ?? '', /Fix the files/);
});

test('bimi check requires an enforced policy at the organizational domain too', async () => {
  const message = MESSAGE.replace('ann@example.com', 'ann@mail.example.com');
  const zone = {
    ...zoneOf(GOOD, 'v=DMARC1; p=none'),
    '_dmarc.mail.example.com': { TXT: [ENFORCED] },
  };
  const web = webOf(PAGES);
  const { evidence } = await runCheck(bimi, { message, zone, web });
  assert.match(String(evidence?.obstacles), /DMARC policy of example\.com is not enforced/);
  const strict = { ...zone, '_dmarc.example.com': { TXT: [ENFORCED] } };
  const enforced = await runCheck(bimi, { message, zone: strict, web });
  assert.doesNotMatch(String(enforced.evidence?.obstacles), /not enforced/);
  const silent: Zone = { ...zone, '_dmarc.example.com': { fails: 'timeout' } };
  assert.equal((await runCheck(bimi, { message, zone: silent, web })).status, 'error');
});

test('bimi check reports a message that fails DMARC as obstacle', async () => {
  const finding = await runCheck(bimi, {
    message: MESSAGE,
    zone: zoneOf(GOOD),
    web: webOf(PAGES),
    envelope: { mail_from: 'x@elsewhere.example' },
  });
  assert.deepEqual(finding.evidence?.obstacles, ['This message does not pass DMARC.']);
});

test('bimi check falls back to the organizational domain with the message’s selector', async () => {
  const message = `BIMI-Selector: v=BIMI1; s=Brand\n${MESSAGE.replace('ann@example.com', 'ann@mail.example.com')}`;
  const zone = zoneOf(GOOD, ENFORCED, 'brand._bimi.example.com');
  const finding = await runCheck(bimi, { message, zone, web: webOf(PAGES) });
  assert.equal(finding.evidence?.name, 'brand._bimi.example.com');
  assert.equal(finding.evidence?.logo, 'https://example.com/logo.svg');
});

test('bimi check handles missing, declined, unanswered records and offline mode', async () => {
  const none = await checkBimi(zoneOf('v=spf1 -all'));
  assert.deepEqual([none.status, none.evidence?.record], ['info', null]);
  assert.equal(none.fix?.record?.name, 'default._bimi.example.com');
  const declined = await checkBimi(zoneOf('v=BIMI1; l=; a='));
  assert.match(declined.title, /asks email clients to show no logo/);
  const unanswered: Zone = { ...zoneOf(GOOD), 'default._bimi.example.com': { fails: 'timeout' } };
  assert.equal((await checkBimi(unanswered)).status, 'error');
  const unknownPolicy: Zone = { ...zoneOf(GOOD), '_dmarc.example.com': { fails: 'timeout' } };
  assert.equal((await checkBimi(unknownPolicy)).status, 'error');
  const offline = await runCheck(bimi, { message: MESSAGE, zone: {}, offline: true });
  assert.equal(offline.status, 'skipped');
});
