/** Findings about list mail and forwarded mail name the server that changed it, and not the author. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Check, CheckStatus, Envelope, MessageKind } from '../../../src/analysis/check.ts';
import { dkim } from '../../../src/analysis/checks/dkim.ts';
import { dkimAlignment } from '../../../src/analysis/checks/dkim-alignment.ts';
import { dmarc } from '../../../src/analysis/checks/dmarc.ts';
import { dmarcPolicy } from '../../../src/analysis/checks/dmarc-policy.ts';
import { forwarding } from '../../../src/analysis/checks/forwarding.ts';
import { listUnsubscribeCheck } from '../../../src/analysis/checks/list-unsubscribe.ts';
import { oneClick } from '../../../src/analysis/checks/one-click.ts';
import { oneClickSigned } from '../../../src/analysis/checks/one-click-signed.ts';
import { spf } from '../../../src/analysis/checks/spf.ts';
import { spfAlignment } from '../../../src/analysis/checks/spf-alignment.ts';
import { unsubscribeLink } from '../../../src/analysis/checks/unsubscribe-link.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { addArcSets } from '../../helpers/arc-signer.ts';
import { alter, KEYS, MESSAGE, sign, zoneWith } from '../dkim/signed-mail.ts';

const ZONE: Zone = {
  ...zoneWith(KEYS.rsa.record),
  ...zoneWith(KEYS.other.record, 'l._domainkey.lists.example'),
  'example.com': { TXT: ['v=spf1 ip4:192.0.2.99 -all'] },
  'lists.example': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
  'alumni.example': { TXT: ['v=spf1 ip4:192.0.2.88 -all'] },
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@example.com'] },
};

const LIST_FIELDS =
  'List-Id: <talk.lists.example>\r\nList-Post: <mailto:talk@lists.example>\r\nX-Mailman-Version: 3.3.10\r\n';
const FORWARD_FIELDS = 'X-Forwarded-To: r@example.net\r\nDelivered-To: kim@alumni.example\r\n';

const prepend = (fields: string, message: Buffer): Buffer =>
  Buffer.concat([Buffer.from(fields), message]);
const tagged = (message: Buffer): Buffer =>
  alter(message, 'Subject: Hello', 'Subject: [Talk] Hello');
const withFooter = (message: Buffer): Buffer =>
  Buffer.concat([message, Buffer.from('-- sent through the list\r\n')]);

const SIGNED = await sign();
const UNSIGNED = Buffer.from(MESSAGE.replace(/\n/g, '\r\n'));
const LIST_KEY = { domain: 'lists.example', selector: 'l', key: KEYS.other };
const POST = prepend(LIST_FIELDS, withFooter(tagged(SIGNED)));
const SIGNED_POST = await sign(LIST_KEY, POST);

interface Row {
  name: string;
  check: Check;
  message: Buffer;
  envelope?: Partial<Envelope>;
  kind?: MessageKind;
  status: CheckStatus;
  title?: RegExp;
  says?: RegExp;
  fix?: RegExp;
  record?: string;
}

const LIST: Partial<Envelope> = { mail_from: 'talk-bounces@lists.example', helo: 'lists.example' };
const ALIAS: Partial<Envelope> = { mail_from: 'ann@example.com', helo: 'mail.alumni.example' };
const SRS: Partial<Envelope> = { mail_from: 'SRS0=a=b=example.com=ann@alumni.example' };

const ROWS: Row[] = [
  {
    name: 'a post with subject tag and footer, signed by the author only',
    check: dkim,
    message: POST,
    envelope: LIST,
    status: 'fail',
    title: /^The mailing list lists\.example changed the message, so the signature by example\.com/,
    says: /a tag in the subject and a changed body/,
    fix: /nothing to fix as the author.*footers/,
  },
  {
    name: 'a post that the list signs too',
    check: dkim,
    message: SIGNED_POST,
    envelope: LIST,
    status: 'pass',
    title: /signature by lists\.example/,
  },
  {
    name: 'a post that the list signs too',
    check: dkimAlignment,
    message: SIGNED_POST,
    envelope: LIST,
    status: 'fail',
    title: /mailing list lists\.example changed the message/,
    fix: /mailing list/,
  },
  {
    name: 'a post that only the list signed',
    check: dkimAlignment,
    message: await sign(LIST_KEY, prepend(LIST_FIELDS, UNSIGNED)),
    envelope: LIST,
    status: 'fail',
    title: /^Only the mailing list lists\.example signed the message, not example\.com/,
    fix: /Turn on DKIM signing for example\.com/,
    record: 's1._domainkey.example.com',
  },
  {
    name: 'a post that the list signs too',
    check: dmarc,
    message: SIGNED_POST,
    envelope: LIST,
    status: 'fail',
    fix: /^You have nothing to fix as the author: the mailing list/,
  },
  {
    name: 'a post that nobody changed',
    check: dmarc,
    message: prepend(LIST_FIELDS, SIGNED),
    envelope: LIST,
    status: 'pass',
  },
  {
    name: 'a list with its own envelope sender',
    check: spfAlignment,
    message: SIGNED_POST,
    envelope: LIST,
    status: 'info',
    title: /SPF checks lists\.example, because the mailing list lists\.example passed/,
  },
  {
    name: 'SRS',
    check: spfAlignment,
    message: SIGNED,
    envelope: SRS,
    status: 'info',
    says: /Only DKIM can authenticate forwarded mail/,
  },
  {
    name: 'an alias that keeps the envelope sender',
    check: spf,
    message: prepend(FORWARD_FIELDS, SIGNED),
    envelope: ALIAS,
    status: 'fail',
    title: /because alumni\.example passed the message on with an envelope sender at example\.com/,
    fix: /Do not add the forwarding server to your SPF record.*SRS/,
  },
  {
    name: 'a forwarder that its own SPF record does not allow',
    check: spf,
    message: SIGNED,
    envelope: SRS,
    status: 'fail',
    title: /SPF record of alumni\.example does not allow 192\.0\.2\.1/,
    fix: /administrator of alumni\.example must allow/,
  },
  {
    name: 'a forwarder that adds text to the body',
    check: dkim,
    message: prepend(FORWARD_FIELDS, withFooter(SIGNED)),
    envelope: ALIAS,
    status: 'fail',
    title: /^alumni\.example changed the message/,
    fix: /forward it unchanged/,
  },
  {
    name: 'a forwarder that adds text to the body',
    check: dmarc,
    message: prepend(FORWARD_FIELDS, withFooter(SIGNED)),
    envelope: ALIAS,
    status: 'fail',
    fix: /the forwarding server changed the message/,
  },
  {
    name: 'a forwarded message whose key the author did not publish',
    check: dkim,
    message: prepend(FORWARD_FIELDS, await sign({ selector: 'gone' })),
    envelope: ALIAS,
    status: 'fail',
    title: /No DKIM key is published at gone\._domainkey\.example\.com/,
    record: 'gone._domainkey.example.com',
  },
  {
    name: 'a direct message with a changed body',
    check: dkim,
    message: withFooter(SIGNED),
    status: 'fail',
    title: /The body was changed after example\.com signed/,
  },
  {
    name: 'a direct message from a server that SPF does not allow',
    check: spf,
    message: SIGNED,
    status: 'fail',
    envelope: { mail_from: 'ann@example.com' },
    record: 'example.com',
  },
  ...[listUnsubscribeCheck, oneClick, oneClickSigned, unsubscribeLink].map(
    (check): Row => ({
      name: 'a post to a discussion list',
      check,
      message: POST,
      envelope: LIST,
      status: 'skipped',
      says: /lists\.example sent the message, and it handles its own subscriptions/,
    }),
  ),
  {
    name: 'an announcement list that its owner calls marketing',
    check: listUnsubscribeCheck,
    message: POST,
    envelope: LIST,
    kind: 'marketing',
    status: 'fail',
  },
  {
    name: 'a post to a discussion list',
    check: forwarding,
    message: SIGNED_POST,
    envelope: LIST,
    status: 'info',
    title: /^This message was sent to you by the mailing list lists\.example\.$/,
    says: /results are those of the forwarded copy/,
  },
  {
    name: 'a direct message',
    check: forwarding,
    message: SIGNED,
    status: 'info',
    title: /no sign of forwarding/,
  },
];

describe('Findings about forwarded mail', () => {
  for (const { name, check, message, envelope, kind, ...expected } of ROWS)
    it(`${check.id} for ${name}: ${expected.status}`, async () => {
      const finding = await runCheck(check, { message, envelope, kind, zone: ZONE });
      const shown = JSON.stringify(finding);
      assert.equal(finding.status, expected.status, shown);
      if (expected.title) assert.match(finding.title, expected.title);
      if (expected.says) assert.match(finding.detail, expected.says);
      if (expected.fix) assert.match(finding.fix?.text ?? '', expected.fix);
      assert.equal(finding.fix?.record?.name, expected.record);
    });

  it('asks neither the author nor the list for anything if the list sealed the message', async () => {
    const sealed = addArcSets(SIGNED_POST, [LIST_KEY]);
    const asking = { message: sealed, zone: ZONE, envelope: LIST };
    for (const check of [dkimAlignment, dmarc]) {
      const { fix } = await runCheck(check, asking);
      assert.match(fix?.text ?? '', /^You have nothing to fix as the author.*valid ARC chain/);
      assert.equal(fix?.record, undefined);
    }
    const broken = { ...asking, message: alter(sealed, 'cv=none', 'cv=fail') };
    assert.match((await runCheck(dmarc, broken)).fix?.text ?? '', /can turn off subject tags/);
  });

  it('does not tell the author to make a message pass that a list broke', async () => {
    const record = { TXT: ['v=DMARC1; p=none; rua=mailto:d@example.com'] };
    const zone = { ...ZONE, '_dmarc.example.com': record };
    const { status, fix } = await runCheck(dmarcPolicy, { message: POST, zone, envelope: LIST });
    assert.equal(status, 'warn');
    assert.match(fix?.text ?? '', /test with a message that is not forwarded/);
    assert.equal(fix?.record, undefined);
  });

  it('reports no change if a signature of the author is valid', async () => {
    const message = await sign({}, prepend(LIST_FIELDS, tagged(UNSIGNED)));
    const finding = await runCheck(forwarding, { message, envelope: LIST, zone: ZONE });
    assert.deepEqual(finding.evidence?.changed, []);
    const changed = await runCheck(forwarding, { message: POST, envelope: LIST, zone: ZONE });
    assert.deepEqual(changed.evidence?.changed, ['subject', 'body']);
  });
});
