/** DKIM2 verification: signatures, hashes, the chain of custody and malformed fields. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dkim2 } from '../../../src/analysis/checks/dkim2.ts';
import type { Dkim2Outcome } from '../../../src/analysis/dkim2/verify.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { RECEIVED_AT, runCheck } from '../../helpers/analysis.ts';
import { type Dkim2Hop, signDkim2 } from '../../helpers/dkim2-signer.ts';
import { alter, KEYS, MESSAGE, zoneWith } from '../dkim/signed-mail.ts';

const MAIL = Buffer.from(MESSAGE.replace(/\n/g, '\r\n'));
const TIME = Math.floor(RECEIVED_AT / 1000) - 60;
const DAY = 86_400;
const RELAY_KEY = 'ed._domainkey.relay.example';

const zone: Zone = {
  ...zoneWith(KEYS.rsa.record),
  ...zoneWith(KEYS.ed25519.record, RELAY_KEY),
  ...zoneWith(KEYS.rsa768.record, 'weak._domainkey.example.com'),
  ...zoneWith('v=DKIM1; p=', 'old._domainkey.example.com'),
};

const FIRST: Dkim2Hop = {
  key: KEYS.rsa,
  domain: 'example.com',
  mailFrom: 'ann@example.com',
  recipients: ['bob@relay.example'],
  time: TIME,
};
const SECOND: Dkim2Hop = {
  key: KEYS.ed25519,
  domain: 'relay.example',
  selector: 'ed',
  mailFrom: 'bounce@relay.example',
  recipients: ['test@receiver.example'],
  time: TIME + 10,
};

const replacing = (from: string, to: string) => (tags: string) => {
  assert.ok(tags.includes(from), `${tags} has no ${from}`);
  return tags.replace(from, to);
};

interface Row {
  name: string;
  hops: Dkim2Hop[];
  mailFrom?: string | null;
  change?(message: Buffer): Buffer;
  zone?: Zone;
  result: Dkim2Outcome['result'];
  reason?: RegExp;
}

const ROWS: Row[] = [
  // Valid.
  { name: 'one signature with RSA', hops: [FIRST], result: 'pass' },
  {
    name: 'one signature with Ed25519',
    hops: [{ ...SECOND, mailFrom: 'ann@relay.example' }],
    mailFrom: 'ann@relay.example',
    result: 'pass',
  },
  {
    name: 'a hop that changed nothing',
    hops: [FIRST, SECOND],
    mailFrom: 'bounce@relay.example',
    result: 'pass',
  },
  {
    name: 'SHA-512 next to SHA-256',
    hops: [{ ...FIRST, instance: { number: 1, hashes: ['sha256', 'sha512'] } }],
    result: 'pass',
  },
  {
    name: 'an envelope sender at a subdomain of the signing domain',
    hops: [{ ...FIRST, mailFrom: 'b@bounces.example.com' }],
    mailFrom: 'b@BOUNCES.example.com',
    result: 'pass',
  },
  {
    name: 'a bounce with the null sender',
    hops: [{ ...FIRST, mailFrom: '' }],
    mailFrom: '',
    result: 'pass',
  },
  {
    name: 'trace fields that were added later',
    hops: [FIRST],
    change: (message) =>
      Buffer.concat([
        Buffer.from(
          'Received: by mx.example\r\nReceived-SPF: pass\r\nX-Spam: no\r\nDelivered-To: x@y.example\r\n',
        ),
        message,
      ]),
    result: 'pass',
  },
  {
    name: 'empty lines at the end of the body',
    hops: [FIRST],
    change: (message) => Buffer.concat([message, Buffer.from('\r\n\r\n')]),
    result: 'pass',
  },
  {
    name: 'a header that was folded in another way',
    hops: [FIRST],
    change: (message) => alter(message, 'Subject: Hello', 'subject:\r\n  Hello '),
    result: 'pass',
  },
  // Incomplete.
  {
    name: 'a hop that changed the message',
    hops: [FIRST, { ...SECOND, instance: { number: 2, recipes: '{"h":{"subject":[]}}' } }],
    mailFrom: 'bounce@relay.example',
    result: null,
    reason: /earlier versions were not checked/,
  },
  { name: 'an unknown envelope sender', hops: [FIRST], mailFrom: null, result: null },
  {
    name: 'an unknown hash',
    hops: [FIRST],
    change: (message) => alter(message, 'h=sha256:', 'h=md5:'),
    result: 'fail',
    reason: /does not verify/,
  },
  // Failures.
  {
    name: 'a changed body',
    hops: [FIRST],
    change: (message) => alter(message, 'the body', 'a body'),
    result: 'fail',
    reason: /body was changed/,
  },
  {
    name: 'a changed subject',
    hops: [FIRST],
    change: (message) => alter(message, 'Subject: Hello', 'Subject: Hi'),
    result: 'fail',
    reason: /header was changed/,
  },
  {
    name: 'an added field, because all fields are signed',
    hops: [FIRST],
    change: (message) => Buffer.concat([Buffer.from('Reply-To: e@evil.example\r\n'), message]),
    result: 'fail',
    reason: /header was changed/,
  },
  {
    name: 'a changed envelope in the signature',
    hops: [FIRST],
    change: (message) => alter(message, 'm=1; t=', 'm=1; n=1; t='),
    result: 'fail',
    reason: /i=1 does not verify with s1\._domainkey\.example\.com/,
  },
  {
    name: 'a wrong key',
    hops: [{ ...FIRST, key: KEYS.other }],
    result: 'fail',
    reason: /does not verify/,
  },
  {
    name: 'a broken first signature below a valid one',
    hops: [{ ...FIRST, key: KEYS.other }, SECOND],
    mailFrom: 'bounce@relay.example',
    result: 'fail',
    reason: /i=1 does not verify/,
  },
  // Chain of custody.
  {
    name: 'another envelope sender',
    hops: [FIRST],
    mailFrom: 'eve@example.com',
    result: 'permerror',
    reason: /envelope sender differs/,
  },
  {
    name: 'an envelope sender of another domain in the signature',
    hops: [{ ...FIRST, mailFrom: 'ann@other.example' }],
    mailFrom: 'ann@other.example',
    result: 'permerror',
    reason: /does not match its envelope sender/,
  },
  {
    name: 'a domain that only ends alike',
    hops: [{ ...FIRST, mailFrom: 'ann@notexample.com' }],
    mailFrom: 'ann@notexample.com',
    result: 'permerror',
    reason: /does not match its envelope sender/,
  },
  {
    name: 'a hop that the message was not sent to',
    hops: [{ ...FIRST, recipients: ['bob@else.example'] }, SECOND],
    mailFrom: 'bounce@relay.example',
    result: 'permerror',
    reason: /i=2 does not come from a recipient/,
  },
  {
    name: 'a signature older than 14 days',
    hops: [{ ...FIRST, time: TIME - 15 * DAY }],
    result: 'permerror',
    reason: /older than 14 days/,
  },
  // Keys.
  {
    name: 'a key that is not published',
    hops: [{ ...FIRST, selector: 'gone' }],
    result: 'permerror',
    reason: /no key is published at gone/,
  },
  {
    name: 'a revoked key',
    hops: [{ ...FIRST, selector: 'old' }],
    result: 'permerror',
    reason: /revoked/,
  },
  {
    name: 'a key that is too short',
    hops: [{ ...FIRST, selector: 'weak', key: KEYS.rsa768 }],
    result: 'permerror',
    reason: /too short/,
  },
  {
    name: 'several keys',
    hops: [FIRST],
    zone: { 's1._domainkey.example.com': { TXT: [KEYS.rsa.record, KEYS.other.record] } },
    result: 'permerror',
    reason: /several TXT records/,
  },
  {
    name: 'a key of another type',
    hops: [FIRST],
    zone: zoneWith(KEYS.ed25519.record),
    result: 'permerror',
    reason: /does not fit/,
  },
  {
    name: 'a key lookup that times out',
    hops: [FIRST],
    zone: { 's1._domainkey.example.com': { fails: 'timeout' } },
    result: 'temperror',
    reason: /could not be looked up/,
  },
  // Malformed fields.
  {
    name: 'no Message-Instance field',
    hops: [{ ...FIRST, instance: null, change: replacing('m=0', 'm=1') }],
    result: 'permerror',
    reason: /no Message-Instance field/,
  },
  {
    name: 'a Message-Instance field that no signature covers',
    hops: [FIRST],
    change: (message) =>
      Buffer.concat([Buffer.from('Message-Instance: m=2; h=sha256:AA==:AA==;\r\n'), message]),
    result: 'permerror',
    reason: /m=2 is not signed/,
  },
  {
    name: 'a gap in the numbers',
    hops: [{ ...FIRST, change: replacing('i=1', 'i=2') }],
    result: 'permerror',
    reason: /i=\) of its DKIM2-Signature fields have gaps/,
  },
  {
    name: 'a tag twice',
    hops: [{ ...FIRST, change: (tags) => `d=evil.example; ${tags}` }],
    result: 'permerror',
    reason: /tag d= twice/,
  },
  {
    name: 'no envelope',
    hops: [{ ...FIRST, change: (tags) => tags.replace(/mf=[^;]*; rt=[^;]*; /, '') }],
    result: 'permerror',
    reason: /neither nd= nor mf=/,
  },
  {
    name: 'nd= in the last signature',
    hops: [
      { ...FIRST, change: (tags) => tags.replace(/mf=[^;]*; rt=[^;]*; /, 'nd=relay.example; ') },
    ],
    result: 'permerror',
    reason: /names the next domain/,
  },
  {
    name: 'an announced domain that signs next',
    hops: [
      { ...FIRST, change: (tags) => tags.replace(/mf=[^;]*; rt=[^;]*; /, 'nd=relay.example; ') },
      SECOND,
    ],
    mailFrom: 'bounce@relay.example',
    result: 'pass',
  },
  {
    name: 'a selector twice',
    hops: [{ ...FIRST, change: replacing('s=s1', 's=s1:rsa-sha256:AAAA,s1') }],
    result: 'permerror',
    reason: /selector twice/,
  },
  {
    name: 'a hash algorithm twice',
    hops: [{ ...FIRST, instance: { number: 1, hashes: ['sha256', 'sha256'] } }],
    result: 'permerror',
    reason: /hash algorithm twice/,
  },
];

describe('DKIM2', () => {
  for (const { name, hops, mailFrom, change, zone: more, result, reason } of ROWS)
    it(`${result ?? 'no'} result for ${name}`, async () => {
      const signed = signDkim2(MAIL, hops);
      const finding = await runCheck(dkim2, {
        message: change ? change(signed) : signed,
        zone: { ...zone, ...more },
        envelope: { mail_from: mailFrom === undefined ? hops[0]!.mailFrom : mailFrom },
      });
      const shown = JSON.stringify(finding);
      assert.equal(finding.status, 'info');
      assert.equal(finding.evidence?.result, result, shown);
      assert.equal(finding.title.includes('is valid'), result === 'pass', shown);
      if (reason) assert.match(String(finding.evidence?.reason), reason, shown);
    });

  it('does not verify more than 20 signatures', async () => {
    const message = `${'DKIM2-Signature: i=1;\n'.repeat(21)}${MESSAGE}`;
    const finding = await runCheck(dkim2, { message });
    assert.equal(finding.evidence?.result, null);
  });

  it('is skipped offline', async () => {
    const finding = await runCheck(dkim2, { message: signDkim2(MAIL, [FIRST]), offline: true });
    assert.equal(finding.status, 'skipped');
  });
});
