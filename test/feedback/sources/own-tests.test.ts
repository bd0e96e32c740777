/** Tests of the team show which addresses are its own, and forged or forwarded ones do not. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownSenderOf } from '../../../src/feedback/sources/own-tests.ts';
import type { FeedbackSource } from '../../../src/feedback/sources/schema.ts';
import { sendAndWait } from '../../e2e/sender.ts';
import { goodMessage } from '../../helpers/good-message.ts';
import { makeKey, signMessage } from '../../helpers/signer.ts';
import { dmarc, record } from '../reading/builders.ts';
import { NOW, named, startFeedback } from '../start.ts';
import { SENDERS, STORY_ZONE } from '../story.ts';

const KEY = makeKey();
const FAILING = { dkim: 'fail', spf: 'fail', results: '' };

const signed = (fields: Record<string, string> = {}) =>
  signMessage(goodMessage(fields), {
    domain: 'example.com',
    selector: 's1',
    key: KEY,
    signTime: NOW - 60_000,
  });

test('An address becomes an own source by a test only if its From domain is authenticated', async (t) => {
  const feedback = await startFeedback(t, {
    zone: {
      ...STORY_ZONE,
      's1._domainkey.example.com': { TXT: [KEY.record] },
      // Included, so that the record itself does not name the address.
      'servers.mcsv.net': { TXT: ['v=spf1 ip4:203.0.114.61 -all'] },
      'crm.example': { TXT: ['v=spf1 ip4:203.0.114.65 -all'] },
    },
  });
  const { service, domain, upload } = feedback;
  const at = (last: number) => `203.0.114.${last}`;
  await upload(
    dmarc({
      records: [
        ...[61, 62, 65].map((last) => record({ source: at(last), count: '20', ...FAILING })),
        ...[63, 64].map((last) => record({ source: at(last), count: '20', spf: 'fail' })),
        record({ source: SENDERS.mailchimp, count: '50', spf: 'fail' }),
      ].join(''),
    }),
  );
  await named(feedback);
  const read = async () => {
    const path = `/v1/feedback/sources?domain_id=${domain.id}`;
    const { body } = await service.call<{ data: FeedbackSource[] }>('GET', path);
    return Object.fromEntries(body.data.map((source) => [source.name, source]));
  };
  assert.deepEqual(Object.keys(await read()).sort(), ['203.0.114.0/24', 'Mailchimp']);

  const other = { mailFrom: 'bounce@crm.example' };
  for (const mail of [
    { clientIp: at(61), mailFrom: 'bounce@example.com' },
    // Its signature could be sent again by anyone, and nothing else passes from there.
    { clientIp: at(62), ...other, raw: await signed() },
    { clientIp: at(63), ...other, raw: await signed() },
    { clientIp: at(64), ...other, raw: await signed({ 'List-Post': '<mailto:l@list.example>' }) },
    // SPF passes, but for another domain.
    { clientIp: at(65), ...other },
    { clientIp: SENDERS.mailchimp, ...other, raw: await signed() },
  ]) {
    const done = await sendAndWait(service, { raw: goodMessage(), ...mail });
    assert.equal(done.status, 'completed');
  }
  // A file claims any address, and the signature of another message.
  const received = `Received: from out.example.com (out.example.com [${at(66)}]) by mx.google.com with ESMTPS id 1; Sat, 21 Nov 2026 09:59:59 +0000\r\n`;
  const file = await service.call<{ id: string }>('POST', '/v1/tests/raw', {
    body: Buffer.concat([Buffer.from(received), await signed()]),
    headers: { 'content-type': 'message/rfc822' },
  });
  assert.equal(file.status, 201);
  const { envelope, auth_results } = await service.getTest(file.body.id, '?wait=50');
  assert.deepEqual([envelope?.client_ip, auth_results?.dmarc], [at(66), 'pass']);
  const ownAt = (last: number) =>
    ownSenderOf(service.app.db, {
      client_ip: at(last),
      mail_from: 'news@mail.example.com',
      helo: null,
    });
  assert.deepEqual(
    await Promise.all([61, 62, 64, 65, 66].map(ownAt)),
    [['example.com'], ['example.com'], [], [], []],
    'a test that passes SPF, one that passes DKIM, a forwarded one, one of another domain, a file',
  );
  // The tests had their addresses looked up again.
  await named(feedback);
  const sources = await read();
  assert.deepEqual(
    Object.entries(sources)
      .map(([name, { kind, messages }]) => [name, kind, messages])
      .sort(),
    [
      ['203.0.114.0/24', 'unknown', 60],
      // All of its messages failed so far.
      ['203.0.114.61', 'misconfigured', 20],
      ['203.0.114.63', 'own', 20],
      ['Mailchimp', 'service', 50],
    ],
  );
  assert.equal(
    sources[at(63)]!.evidence,
    'A test of your team came from 203.0.114.63 on 22 Nov 2026 and was authenticated as example.com.',
  );
});

test('A test by a neighbour under a suffix of others shows nothing, even if it passes DMARC', async (t) => {
  const keys = { TXT: [KEY.record] };
  const { service } = await startFeedback(t, {
    zone: {
      // It takes part in DMARC without psd=y, so that all domains below it align.
      '_dmarc.uk.com': { TXT: ['v=DMARC1; p=none'] },
      'shop.uk.com': { A: ['192.0.2.1'] },
      's1._domainkey.shop.uk.com': keys,
      's1._domainkey.neighbour.uk.com': keys,
      'neighbour.uk.com': { TXT: ['v=spf1 ip4:203.0.114.71 -all'] },
    },
  });
  await service.call('POST', '/v1/domains', { json: { name: 'shop.uk.com' } });
  const raw = goodMessage({ From: 'Shop <news@shop.uk.com>' });
  const by = (domain: string) =>
    signMessage(raw, { domain, selector: 's1', key: KEY, signTime: NOW - 60_000 });
  const other = { mailFrom: 'bounce@crm.example' };
  const ownAfter = async (last: number, mail: { raw: string | Buffer; mailFrom: string }) => {
    const clientIp = `203.0.114.${last}`;
    const { auth_results } = await sendAndWait(service, { clientIp, ...mail });
    assert.equal(auth_results?.dmarc, 'pass');
    return ownSenderOf(service.app.db, {
      client_ip: clientIp,
      mail_from: 'a@shop.uk.com',
      helo: null,
    });
  };
  assert.deepEqual(await ownAfter(71, { raw, mailFrom: 'bounce@neighbour.uk.com' }), []);
  assert.deepEqual(await ownAfter(72, { raw: await by('neighbour.uk.com'), ...other }), []);
  assert.deepEqual(await ownAfter(73, { raw: await by('shop.uk.com'), ...other }), ['shop.uk.com']);
});
