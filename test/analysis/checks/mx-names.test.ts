/** The check `mx`: what forms make of names, old hosts, IPv6 alone, and a null MX beside others. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { mx } from '../../../src/analysis/checks/mx.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { DKIM_KEYS, item } from '../domain/domains.ts';
import { assertProposalsCure } from '../domain/publish.ts';

const GOOGLE = '1 smtp.google.com';
const MICROSOFT = '0 bakery-example.mail.protection.outlook.com';

/** A firm with these MX records. */
const world = (records: string[], changes: Zone = {}): Zone => ({
  'bakery.example': { TXT: ['v=spf1 ip4:192.0.2.30 -all'], MX: records },
  '_dmarc.bakery.example': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@reports.example'] },
  'bakery.example._report._dmarc.reports.example': { TXT: ['v=DMARC1'] },
  'reports.example': { MX: ['10 mx.reports.example'] },
  'mx.reports.example': { A: ['192.0.2.40'] },
  'k1._domainkey.bakery.example': { TXT: [DKIM_KEYS.strong] },
  'mail.bakery.example': { A: ['192.0.2.30'] },
  'mail2.bakery.example': { A: ['192.0.2.31'], AAAA: ['2001:db8::31'] },
  'six.bakery.example': { AAAA: ['2001:db8::6'] },
  'mail_old.bakery.example': { A: ['192.0.2.32'] },
  'smtp.google.com': { A: ['192.0.2.50'] },
  'bakery-example.mail.protection.outlook.com': { A: ['192.0.2.51'] },
  'mx.mailgate.example': { A: ['192.0.2.60'] },
  'd1.a.ess.barracudanetworks.com': { A: ['192.0.2.61'] },
  'mx1.hornetsecurity.com': { A: ['192.0.2.62'] },
  'mx00.emailsrvr.com': { A: ['192.0.2.62'] },
  ...changes,
});

interface Expected {
  status: CheckStatus;
  title: RegExp;
  fix?: RegExp;
  /** Null: no record is proposed. */
  record?: string | null;
}

const CASES: [name: string, zone: Zone, expected: Expected][] = [
  [
    'the domain appended to the host of a provider',
    world(['1 smtp.google.com.bakery.example']),
    {
      status: 'fail',
      title: /does not exist, because the domain was appended to its name/,
      fix: /Enter "smtp\.google\.com\." with a dot at the end/,
      record: GOOGLE,
    },
  ],
  [
    'the domain appended to a host of its own',
    world(['10 mail.bakery.example.bakery.example']),
    { status: 'fail', title: /was appended/, record: '10 mail.bakery.example' },
  ],
  [
    'the domain appended, below a wildcard that answers with the web server',
    world(['1 smtp.google.com.bakery.example'], { '*.bakery.example': { A: ['192.0.2.99'] } }),
    { status: 'fail', title: /was appended/, record: GOOGLE },
  ],
  [
    'the domain appended to one of two hosts',
    world([GOOGLE, '5 mail.bakery.example.bakery.example']),
    { status: 'warn', title: /was appended/, record: null },
  ],
  [
    'a host of the domain whose name resembles another domain',
    world(['10 mx.de.bakery.example'], {
      'mx.de.bakery.example': { A: ['192.0.2.33'] },
      'mx.de': { A: ['192.0.2.98'] },
    }),
    { status: 'pass', title: /can be delivered/ },
  ],
  [
    'a host that neither way exists',
    world(['10 mx.nowhere.test.bakery.example']),
    { status: 'fail', title: /do not resolve/, record: null },
  ],
  [
    'quotes and a priority in the name',
    world(['0 "10 mail.bakery.example"']),
    {
      status: 'fail',
      title: /has a priority in its name/,
      fix: /only mail\.bakery\.example\. The priority has its own field/,
      record: '0 mail.bakery.example',
    },
  ],
  [
    'quotes, and the domain appended',
    world(['10 "mail.bakery.example".bakery.example']),
    { status: 'fail', title: /quotation marks/, record: '10 mail.bakery.example' },
  ],
  [
    'a port',
    world(['10 mail.bakery.example:465']),
    { status: 'fail', title: /has a port in its name/, record: '10 mail.bakery.example' },
  ],
  [
    'a web address',
    world(['10 https://mail.bakery.example/inbox']),
    { status: 'fail', title: /is a web address/, record: '10 mail.bakery.example' },
  ],
  [
    'an email address',
    world(['10 mailto:office@bakery.example']),
    { status: 'fail', title: /is an email address/, record: null },
  ],
  [
    'an IP address with the domain appended',
    world(['10 192.0.2.30.bakery.example']),
    { status: 'fail', title: /is an IP address/, record: null },
  ],
  [
    'an IP address, with a wildcard',
    world(['10 192.0.2.30.bakery.example'], { '*.bakery.example': { A: ['192.0.2.99'] } }),
    { status: 'fail', title: /is an IP address/, record: null },
  ],
  [
    'a port in one of two names',
    world(['10 mail.bakery.example:25', '20 mail2.bakery.example']),
    { status: 'warn', title: /has a port/, fix: /only mail\.bakery\.example\./, record: null },
  ],
  [
    'an underscore',
    world(['10 mail_old.bakery.example']),
    { status: 'warn', title: /has an underscore in its name/, record: null },
  ],
  [
    'IPv6 alone',
    world(['10 six.bakery.example']),
    { status: 'warn', title: /only over IPv6/, fix: /A record with an IPv4 address/, record: null },
  ],
  [
    'IPv6 alone at one of two hosts',
    world(['10 six.bakery.example', '20 mail.bakery.example']),
    { status: 'pass', title: /can be delivered/ },
  ],
  [
    'a null MX beside a host',
    world(['0 .', '10 mail.bakery.example']),
    {
      status: 'fail',
      title: /has a null MX record beside/,
      fix: /keep mail\.bakery\.example/,
      record: '10 mail.bakery.example',
    },
  ],
  [
    'a null MX beside two hosts',
    world(['0 .', '10 mail.bakery.example', '20 mail2.bakery.example']),
    {
      status: 'fail',
      title: /null MX record beside/,
      fix: /keep mail\.bakery\.example, mail2\.bakery\.example/,
      record: null,
    },
  ],
  [
    'an own host before Google',
    world(['0 mail.bakery.example', GOOGLE]),
    {
      status: 'warn',
      title: /goes to mail\.bakery\.example before it goes to Google Workspace/,
      fix: /Does mail\.bakery\.example still receive your mail.*keep smtp\.google\.com/,
      record: null,
    },
  ],
  [
    'an own host after Microsoft',
    world([MICROSOFT, '30 mail.bakery.example']),
    {
      status: 'warn',
      title: /Some mail .* goes to mail\.bakery\.example instead of Microsoft 365/,
    },
  ],
  [
    'the host of a former provider',
    world([GOOGLE, '20 mx00.emailsrvr.com']),
    { status: 'warn', title: /goes to mx00\.emailsrvr\.com instead of Google Workspace/ },
  ],
  [
    'two providers with equal priority',
    world(['10 smtp.google.com', '10 bakery-example.mail.protection.outlook.com']),
    { status: 'warn', title: /goes to \S+ and .* with equal priority/, record: null },
  ],
  [
    'a filter that mail can bypass',
    world(['10 bakery-example.mail.protection.outlook.com', '20 mx1.hornetsecurity.com']),
    {
      status: 'warn',
      title: /can go to Microsoft 365 without passing Hornetsecurity/,
      fix: /delete the MX records of Microsoft 365/,
      record: null,
    },
  ],
  [
    'a gateway before Microsoft',
    world(['0 d1.a.ess.barracudanetworks.com', '10 bakery-example.mail.protection.outlook.com']),
    { status: 'pass', title: /can be delivered/ },
  ],
  [
    'an unknown host of someone else before Google',
    world(['0 mx.mailgate.example', GOOGLE]),
    { status: 'pass', title: /can be delivered/ },
  ],
  [
    'a host named twice',
    world(['10 mail.bakery.example', '20 mail.bakery.example']),
    { status: 'pass', title: /can be delivered/ },
  ],
];

for (const [name, zone, { status, title, fix, record }] of CASES)
  test(`mx check reports ${status}: ${name}`, async () => {
    const message = 'From: a@bakery.example\n\nx\n';
    const ofMessage = await runCheck(mx, {
      message,
      zone,
      envelope: { mail_from: 'a@bakery.example' },
    });
    const health = await assertProposalsCure(zone, 'bakery.example', { selectors: ['k1'] });
    const ofDomain = item(health, 'mx');
    assert.equal(ofMessage.status, status, ofMessage.title);
    assert.deepEqual([ofDomain.status, ofDomain.title], [ofMessage.status, ofMessage.title]);
    assert.match(ofDomain.title, title);
    if (fix) assert.match(ofDomain.fix!.text, fix);
    if (record !== undefined) assert.equal(ofDomain.fix!.record?.value ?? null, record);
    if (status === 'pass') assert.deepEqual([health.status, health.score], ['healthy', 100]);
    else assert.notEqual(health.status, 'healthy');
  });

test('mx check says that a second record of the same host is not needed', async () => {
  const zone = world(['10 mail.bakery.example', '20 mail.bakery.example']);
  const { detail } = await runCheck(mx, { message: 'From: a@bakery.example\n\nx\n', zone });
  assert.match(detail, /mail\.bakery\.example has several MX records: one is enough\.$/);
});
