/** Mail from a real signer, sent by real SMTP clients, checked against a real DNS server. */

// @one-database: about the analysis of mail.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Test } from '../../src/mailtests/schema.ts';
import type { Zone } from '../../src/net/dns/zone.ts';
import { RECEIVED_AT } from '../helpers/analysis.ts';
import type { SendOptions } from '../helpers/send.ts';
import { makeKey } from '../helpers/signer.ts';
import { assertAllPassed, SENDER_ZONE, sendAndWait, signed, startWithDns } from './sender.ts';

test('A signed message sent by nodemailer passes SPF, DKIM and DMARC with grade A', async (t) => {
  const { service, dns } = await startWithDns(t);
  const ended = await sendAndWait(service, { raw: await signed() });
  assertAllPassed(ended);
  for (const asked of [
    'example.com/TXT',
    's1._domainkey.example.com/TXT',
    '_dmarc.example.com/TXT',
  ])
    assert.equal(dns.queries.get(asked), 1, asked);
  assert.deepEqual(ended.envelope, {
    mail_from: 'bounce@example.com',
    client_ip: '192.0.2.1',
    helo: 'mail.example.com',
    tls: { used: true, version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384' },
    reported_by: null,
    file: null,
  });
});

interface Fault {
  name: string;
  mail(): Promise<Buffer>;
  how?: Partial<SendOptions>;
  zone?: Zone;
  /** The failed checks with their text, and the checks skipped because of them. */
  fails: Record<string, RegExp>;
  skips?: string[];
  auth: Partial<Test['auth_results']>;
}

const OTHER_SENDER: Zone = {
  'sender.example': SENDER_ZONE['example.com']!,
  's1._domainkey.sender.example': SENDER_ZONE['s1._domainkey.example.com']!,
};

const FAULTS: Fault[] = [
  {
    name: 'a changed body',
    mail: async () => Buffer.concat([await signed(), Buffer.from('One line more.\r\n')]),
    fails: { dkim: /^The body was changed after \S+ signed the message/ },
    skips: ['dkim_alignment'],
    auth: { dkim: 'fail' },
  },
  {
    name: 'a changed header',
    mail: async () => Buffer.from((await signed()).toString().replace('Your order', 'My order')),
    fails: { dkim: /header/i },
    skips: ['dkim_alignment'],
    auth: { dkim: 'fail' },
  },
  {
    name: 'an unaligned DKIM signature',
    mail: () => signed({ domain: 'sender.example' }),
    zone: OTHER_SENDER,
    fails: { dkim_alignment: /signed by sender\.example, not by example\.com/ },
    auth: {},
  },
  {
    name: 'unaligned DKIM signature and envelope sender',
    mail: () => signed({ domain: 'sender.example' }),
    how: { mailFrom: 'bounce@sender.example' },
    zone: OTHER_SENDER,
    fails: {
      dkim_alignment: /signed by sender\.example, not by example\.com/,
      spf_alignment: /checks sender\.example, not example\.com/,
      dmarc: /^DMARC fails for example\.com/,
    },
    auth: { dmarc: 'fail' },
  },
  {
    name: 'an expired signature',
    mail: () => signed({ signTime: RECEIVED_AT - 3_600_000, expires: RECEIVED_AT - 60_000 }),
    fails: { dkim: /expired/ },
    skips: ['dkim_alignment'],
    auth: { dkim: 'policy' },
  },
  {
    name: 'a wrong DKIM key',
    mail: () => signed({ key: makeKey() }),
    fails: { dkim: /different key than the one published at s1\._domainkey\.example\.com/ },
    skips: ['dkim_alignment'],
    auth: { dkim: 'fail' },
  },
  {
    name: 'an unpublished DKIM key',
    mail: () => signed({ selector: 's2' }),
    fails: { dkim: /No DKIM key is published at s2\._domainkey\.example\.com/ },
    skips: ['dkim_alignment', 'dkim_key'],
    auth: { dkim: 'permerror' },
  },
  {
    name: 'a client address not allowed by SPF',
    mail: () => signed(),
    how: { clientIp: '198.51.100.7' },
    zone: {
      'mail.example.com': { A: ['198.51.100.7'] },
      '7.100.51.198.in-addr.arpa': { PTR: ['mail.example.com'] },
    },
    fails: { spf: /198\.51\.100\.7/ },
    skips: ['spf_alignment'],
    auth: { spf: 'fail' },
  },
];

for (const { name, mail, how, zone, fails, skips = [], auth } of FAULTS)
  test(`Message with ${name}: only the responsible checks fail`, async (t) => {
    const { service } = await startWithDns(t, { ...SENDER_ZONE, ...zone });
    const ended = await sendAndWait(service, { raw: await mail(), ...how });
    assert.equal(ended.status, 'completed');
    assert.deepEqual(ended.auth_results, { spf: 'pass', dkim: 'pass', dmarc: 'pass', ...auth });
    const notPassed = ended.checks.filter(({ status }) => status !== 'pass' && status !== 'info');
    const ids = (wanted: string) =>
      notPassed.flatMap(({ id, status }) => (status === wanted ? [id] : [])).sort();
    assert.deepEqual(ids('fail'), Object.keys(fails).sort());
    assert.deepEqual([...ids('warn'), ...ids('error')], []);
    // This message has no HTML.
    const follow = notPassed.filter(
      (c) => c.status === 'skipped' && /DKIM|SPF|DMARC/.test(c.label),
    );
    assert.deepEqual(follow.map(({ id }) => id).sort(), skips);
    for (const [id, title] of Object.entries(fails)) {
      const found = ended.checks.find((check) => check.id === id)!;
      assert.match(found.title, title);
      assert.ok(found.gain > 0 && found.fix, id);
    }
  });
