/** Messages through the whole service with a real SpamAssassin and Rspamd, running and suspended. */

// @one-database: about spam engines.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { analyze } from '../../src/analysis/analyze.ts';
import { NO_SETUP } from '../../src/analysis/context.ts';
import { zoneResolver } from '../../src/net/dns/zone.ts';
import { assertAllPassed, SENDER_ZONE, sendAndWait, signed, startWithDns } from '../e2e/sender.ts';
import { ENVELOPE, RECEIVED_AT } from '../helpers/analysis.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { GTUBE } from '../helpers/gtube.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { type Rspamd, startRspamd } from '../helpers/rspamd.ts';
import { type Spamd, startSpamd } from '../helpers/spamd.ts';

const statuses = (checks: { id: string; status: string }[]) =>
  ['spamassassin', 'rspamd'].map((id) => checks.find((check) => check.id === id)?.status);

describe('Spam engines end to end', {
  skip: skipUnlessInstalled('spamd') || skipUnlessInstalled('rspamd'),
}, () => {
  let spamd: Spamd;
  let rspamd: Rspamd;
  before(async () => {
    [spamd, rspamd] = await Promise.all([startSpamd(), startRspamd()]);
  });
  after(() => Promise.all([spamd.kill(), rspamd.kill()]));
  const env = () => ({
    DELIVERABILITY_SPAMD_URL: spamd.url,
    DELIVERABILITY_RSPAMD_URL: rspamd.url,
  });

  it('neither SpamAssassin nor Rspamd flags a clean message', async (t) => {
    const { service } = await startWithDns(t, SENDER_ZONE, { env: env() });
    const ended = await sendAndWait(service, { raw: await signed() });
    assert.deepEqual(statuses(ended.checks), ['pass', 'pass']);
    assertAllPassed(ended);
  });

  it('a GTUBE message loses the spam filter points', async (t) => {
    const { service } = await startWithDns(t, SENDER_ZONE, { env: env() });
    const raw = await signed({ message: goodMessage({}, GTUBE) });
    const ended = await sendAndWait(service, { raw });
    assert.deepEqual(statuses(ended.checks), ['fail', 'fail']);
    assert.deepEqual(ended.auth_results, { spf: 'pass', dkim: 'pass', dmarc: 'pass' });
    const found = ended.checks.filter(({ category }) => category === 'spam_filters');
    for (const { id, fix } of found) assert.ok(fix?.text.includes('GTUBE'), id);
    assert.ok(ended.score! < 100);
  });

  it('suspended engines are errors and the analysis ends in time', async () => {
    spamd.stop();
    rspamd.stop();
    const result = await analyze(
      { raw: await signed(), envelope: ENVELOPE, receivedAt: RECEIVED_AT, kind: 'auto' },
      {
        resolver: zoneResolver(SENDER_ZONE),
        setup: { ...NO_SETUP, spamd: spamd.url, rspamd: rspamd.url },
        deadlineMs: 1500,
      },
    );
    assert.deepEqual(statuses(result.checks), ['error', 'error']);
    assert.equal(result.auth_results.dkim, 'pass');
    assert.ok(result.score !== null);
  });
});
