/** The check `arc`, which is informational. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sealMessage } from 'mailauth';
import { arc } from '../../../src/analysis/checks/arc.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { RECEIVED_AT, runCheck } from '../../helpers/analysis.ts';
import { goodMessage } from '../../helpers/good-message.ts';
import { alter, KEYS, MESSAGE, sign, zoneWith } from '../dkim/signed-mail.ts';

const SEAL_NAME = 'arc._domainkey.list.example';
const zone: Zone = {
  ...zoneWith(KEYS.rsa.record),
  ...zoneWith(KEYS.other.record, SEAL_NAME),
};

async function sealed(): Promise<Buffer> {
  const message = await sign();
  const headers = await sealMessage(message, {
    signingDomain: 'list.example',
    selector: 'arc',
    privateKey: KEYS.other.privateKey,
    authResults: 'mx.list.example; spf=pass smtp.mailfrom=ann@example.com',
    cv: 'none',
    signTime: new Date(RECEIVED_AT - 30_000),
  });
  return Buffer.concat([headers, message]);
}

test('arc check reports info for a message without ARC chain', async () => {
  const finding = await runCheck(arc, { message: await sign(), zone });
  assert.equal(finding.status, 'info');
  assert.match(finding.title, /no ARC chain/);
});

test('arc check reports an unreadable seal as an invalid chain', async () => {
  const finding = await runCheck(arc, { message: `ARC-Seal: x\n${goodMessage()}` });
  assert.equal(finding.status, 'info');
  assert.match(finding.title, /invalid/);
});

test('arc check reports a valid chain', async () => {
  const finding = await runCheck(arc, { message: await sealed(), zone });
  assert.equal(finding.status, 'info');
  assert.equal(finding.evidence?.result, 'pass', JSON.stringify(finding));
  assert.deepEqual(finding.evidence?.chain, [{ instance: 1, domain: 'list.example', cv: 'none' }]);
});

test('arc check reports a modified body and a missing key as failed chain', async () => {
  const changed = alter(await sealed(), 'the body', 'a body');
  for (const scene of [
    { message: changed, zone },
    { message: await sealed(), zone: zoneWith(KEYS.rsa.record) },
  ]) {
    const finding = await runCheck(arc, scene);
    assert.equal(finding.status, 'info');
    assert.equal(finding.evidence?.result, 'fail');
    assert.match(String(finding.evidence?.reason), /no valid signature|no key/);
  }
});

test('arc check reports error when the key lookup times out', async () => {
  const unanswered: Zone = { ...zone, [SEAL_NAME]: { fails: 'timeout' } };
  const finding = await runCheck(arc, { message: await sealed(), zone: unanswered });
  assert.equal(finding.status, 'error');
});

test('arc check is skipped offline and does not verify overlong chains', async () => {
  const offline = await runCheck(arc, { message: await sealed(), zone, offline: true });
  assert.equal(offline.status, 'skipped');
  const message = `${'ARC-Seal: i=1; cv=none\n'.repeat(50)}${MESSAGE}`;
  const long = await runCheck(arc, { message, zone });
  assert.equal(long.evidence?.seals, 50);
  assert.equal(long.evidence?.result, null);
});
