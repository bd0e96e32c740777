/** Replies of providers, gateways and blocklists as they arrive, and what they mean. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHECKS } from '../../../src/analysis/checks/index.ts';
import { PROVIDER_RULES } from '../../../src/analysis/providers/evaluate.ts';
import { explainBounce, isPolicyReply } from '../../../src/feedback/bounces/explain.ts';
import { COMMON_REPLIES, REPLY_GROUPS } from '../../../src/feedback/bounces/policy-codes.ts';

/** Domain of the server, code, reply; who replied, a part of the explanation, and the first check. */
const REPLIES: [string, string | null, string | null, string | null, RegExp, string | null][] = [
  [
    'google.com',
    '5.7.26',
    '550-5.7.26 Your email has been blocked because the sender is unauthenticated.',
    'Gmail',
    /without a passing SPF or DKIM/,
    'dkim',
  ],
  [
    'google.com',
    '5.7.26',
    "550-5.7.26 Unauthenticated email from example.com is not accepted due to domain's DMARC policy.",
    'Gmail',
    /fails DMARC/,
    'dmarc',
  ],
  ['google.com', '4.7.27', '421-4.7.27 SPF did not pass', 'Gmail', /SPF does not pass/, 'spf'],
  ['google.com', '5.7.30', '550-5.7.30 DKIM did not pass', 'Gmail', /DKIM does not pass/, 'dkim'],
  [
    'google.com',
    '5.7.25',
    '550-5.7.25 The IP address sending this message does not have a PTR record',
    'Gmail',
    /no PTR record/,
    'ptr',
  ],
  [
    'google.com',
    '4.7.23',
    '451-4.7.23 does not have a PTR record',
    'Gmail',
    /no PTR record/,
    'ptr',
  ],
  [
    'google.com',
    '5.7.29',
    '550-5.7.29 not sent over a TLS connection',
    'Gmail',
    /without TLS/,
    'tls',
  ],
  ['google.com', '5.7.32', null, 'Gmail', /aligns with neither/, 'dmarc'],
  ['google.com', '5.7.40', null, 'Gmail', /no DMARC record/, 'dmarc_record'],
  [
    'google.com',
    '4.7.28',
    '421-4.7.28 Gmail has detected an unusual rate of unsolicited mail',
    'Gmail',
    /limits mail/,
    'list_unsubscribe',
  ],
  [
    'google.com',
    '5.7.1',
    '550-5.7.1 Our system has detected that this message is likely unsolicited mail.',
    'Gmail',
    /as spam/,
    'link_blocklists',
  ],
  [
    'google.com',
    '5.7.1',
    '550-5.7.1 This message is not RFC 5322 compliant, the issue is: duplicate headers',
    'Gmail',
    /RFC 5322/,
    'from',
  ],
  [
    'google.com',
    '5.7.0',
    '552-5.7.0 This message was blocked because its content presents a potential security issue.',
    'Gmail',
    /attachments/,
    'attachments',
  ],
  [
    'unknown',
    '5.7.1',
    '550-5.7.1 This message violates example.net email policy. - gcdp x - gsmtp',
    'Gmail',
    /rule of its own/,
    null,
  ],
  [
    'outlook.com',
    '5.7.515',
    '550 5.7.515 Access denied, sending domain EXAMPLE.COM does not meet the required authentication level.',
    'Microsoft',
    /5,000 messages a day/,
    'dkim',
  ],
  [
    'outlook.com',
    '5.7.509',
    '550 5.7.509 Access denied, sending domain does not pass DMARC verification and has a DMARC policy of reject.',
    'Microsoft',
    /fails DMARC/,
    'dmarc',
  ],
  [
    'outlook.com',
    '5.7.606',
    '550 5.7.606 Access denied, banned sending IP [192.0.2.9]',
    'Microsoft',
    /delist portal/,
    'ip_blocklists',
  ],
  ['outlook.com', '5.7.649', null, 'Microsoft', /delist portal/, 'ip_blocklists'],
  [
    'outlook.com',
    '4.7.650',
    '451 4.7.650 The mail server has been temporarily rate limited due to IP reputation.',
    'Microsoft',
    /limits mail/,
    'ip_blocklists',
  ],
  [
    'outlook.com',
    '5.7.1',
    "550 5.7.1 Unfortunately, messages from [192.0.2.9] weren't sent. Please contact your ISP since part of their network is on our block list (S3150).",
    'Microsoft',
    /Outlook\.com blocks/,
    'ip_blocklists',
  ],
  [
    'outlook.com',
    '5.7.1',
    '550 5.7.1 Service unavailable, Client host [192.0.2.9] blocked using Spamhaus.',
    'Microsoft',
    /Spamhaus lists/,
    'ip_blocklists',
  ],
  [
    'outlook.com',
    '5.7.64',
    '550 5.7.64 TenantAttribution; Relay Access Denied',
    'Microsoft',
    /connector/,
    null,
  ],
  [
    'outlook.com',
    '5.7.23',
    '550 5.7.23 The message was rejected because of Sender Policy Framework violation',
    'Microsoft',
    /SPF fails/,
    'spf',
  ],
  [
    'yahoodns.net',
    '4.7.0',
    '421 4.7.0 [TSS04] Messages from 192.0.2.9 temporarily deferred due to unexpected volume or user complaints',
    'Yahoo',
    /complaints/,
    'list_unsubscribe',
  ],
  [
    'yahoodns.net',
    '5.7.2',
    '553 5.7.2 [TSS09] All messages from 192.0.2.9 will be permanently deferred',
    'Yahoo',
    /no longer accepts/,
    'list_unsubscribe',
  ],
  [
    'yahoodns.net',
    '5.7.1',
    '553 5.7.1 [TS03] All messages from 192.0.2.9 will be permanently deferred',
    'Yahoo',
    /no longer accepts/,
    'list_unsubscribe',
  ],
  [
    'unknown',
    null,
    '554 Message not allowed - [PH01] Email not accepted for policy reasons.',
    'Yahoo',
    /phishing/,
    'link_blocklists',
  ],
  [
    'yahoodns.net',
    '5.7.1',
    '553 5.7.1 [BL21] Connections will not be accepted from 192.0.2.9',
    'Yahoo',
    /public blocklist/,
    'ip_blocklists',
  ],
  [
    'yahoodns.net',
    '5.7.9',
    '554 5.7.9 Message not accepted for policy reasons.',
    'Yahoo',
    /fails DMARC/,
    'dkim',
  ],
  [
    'icloud.com',
    '5.7.1',
    '554 5.7.1 [CS01] Message rejected due to local policy.',
    'Apple iCloud',
    /content/,
    'link_blocklists',
  ],
  [
    'icloud.com',
    '5.7.1',
    '554 5.7.1 [HM08] Message rejected due to local policy.',
    'Apple iCloud',
    /reputation/,
    'ip_blocklists',
  ],
  [
    'icloud.com',
    '5.7.1',
    "554 5.7.1 Your message was rejected due to example.com's DMARC policy.",
    'Apple iCloud',
    /fails DMARC/,
    'dmarc',
  ],
  [
    'gmx.net',
    '5.0.0',
    '554-gmx.net (mxgmx114) Nemesis ESMTP Service not available 554-No SMTP service 554-Bad DNS PTR resource record.',
    'GMX and WEB.DE',
    /PTR/,
    'ptr',
  ],
  [
    'web.de',
    '5.0.0',
    '554-No SMTP service 554-IP address is block listed.',
    'GMX and WEB.DE',
    /block the sending IP/,
    'ip_blocklists',
  ],
  [
    'comcast.net',
    '5.0.0',
    '554 comcast.net 192.0.2.9 Comcast block for spam. http://postmaster.comcast.net/smtp-error-codes.php#BL000001',
    'Comcast',
    /spam came from it/,
    'ip_blocklists',
  ],
  [
    'comcast.net',
    '5.2.0',
    '550 5.2.0 Message rejected due to DMARC. smtp-error-codes.php#DM000001',
    'Comcast',
    /fails DMARC/,
    'dmarc',
  ],
  [
    't-online.de',
    '5.0.0',
    '554 IP=192.0.2.9 - None/bad reputation. Ask your postmaster for help or to contact …@rx.t-online.de for reset. (NOWL)',
    'T-Online',
    /does not know/,
    'ptr',
  ],
  [
    'pphosted.com',
    '5.7.1',
    '554 5.7.1 Blocked - see https://ipcheck.proofpoint.com/?ip=192.0.2.9',
    'Proofpoint',
    /reputation/,
    'ip_blocklists',
  ],
  ['pphosted.com', '5.7.0', '550 5.7.0 Local Policy Violation', 'Proofpoint', /rule/, 'dkim'],
  [
    'mimecast.com',
    '5.0.0',
    '550 DMARC Sender Invalid - envelope rejected',
    'Mimecast',
    /fails DMARC/,
    'dmarc',
  ],
  [
    'mimecast.com',
    '5.0.0',
    '550 SPF Sender Invalid - envelope rejected',
    'Mimecast',
    /SPF fails/,
    'spf',
  ],
  [
    'mimecast.com',
    '5.0.0',
    '550 Email rejected due to security policies - MCSpamSignature.x',
    'Mimecast',
    /content/,
    'link_blocklists',
  ],
  [
    'barracudanetworks.com',
    '5.0.0',
    '554 Service unavailable; Client host [192.0.2.9] blocked using Barracuda Reputation',
    'Barracuda',
    /Reputation Block List/,
    'ip_blocklists',
  ],
  [
    'mailbox.example',
    '5.7.1',
    '554 5.7.1 Service unavailable; Client host [192.0.2.9] blocked using zen.spamhaus.org',
    null,
    /Spamhaus lists/,
    'ip_blocklists',
  ],
  [
    'mailbox.example',
    '5.7.1',
    '554 5.7.1 blocked using zen.spamhaus.org; Error: open resolver; https://check.spamhaus.org/returnc/pub/',
    null,
    /probably not listed/,
    null,
  ],
  [
    'mailbox.example',
    '5.7.1',
    '554 5.7.1 Sender rejected, see dbl.spamhaus.org',
    null,
    /DBL lists a domain/,
    'domain_blocklists',
  ],
  [
    'mailbox.example',
    '5.7.1',
    '550 5.7.1 Client host [192.0.2.9] blocked using bl.example.org',
    null,
    /blocklist that the reply names/,
    'ip_blocklists',
  ],
  [
    'mailbox.example',
    '4.7.25',
    '450 4.7.25 Client host rejected: cannot find your hostname, [192.0.2.9]',
    null,
    /no host name/,
    'ptr',
  ],
  [
    'mailbox.example',
    '5.7.23',
    '550 5.7.23 Message rejected due to: SPF fail - not authorized.',
    null,
    /SPF does not pass/,
    'spf',
  ],
  ['mailbox.example', '5.7.26', null, null, /Several authentication checks/, 'dkim'],
  [
    'mailbox.example',
    '5.7.1',
    '554 5.7.1 Spam message rejected',
    null,
    /as spam/,
    'link_blocklists',
  ],
  ['mailbox.example', '5.7.1', '554 5.7.1 Relay access denied', null, /does not handle mail/, null],
];

test('The replies of providers are explained, with the checks that show the cause', () => {
  for (const [provider, status_code, diagnostic, who, text, check] of REPLIES) {
    const found = explainBounce({ provider, status_code, diagnostic });
    const name = `${provider} ${status_code} ${diagnostic}`;
    assert.ok(found, name);
    assert.equal(found.provider, who, name);
    assert.match(found.text, text, name);
    assert.equal(found.checks[0] ?? null, check, name);
  }
});

test('Codes that no table has are explained by class and detail of RFC 3463', () => {
  const explained = (status_code: string | null) =>
    explainBounce({ provider: 'mailbox.example', status_code, diagnostic: null });
  assert.match(explained('5.1.1')!.text, /mailbox does not exist/);
  assert.match(explained('4.2.2')!.text, /mailbox is full/);
  assert.match(explained('5.7.99')!.text, /security or policy reason/);
  assert.match(explained('5.99.1')!.text, /no detailed code/);
  assert.equal(explained('5.1.1')!.reference, 'https://www.rfc-editor.org/rfc/rfc3463');
  assert.equal(explained(null), null);
});

test('A reply without an enhanced code is a rejection by policy only if its text says so', () => {
  const isPolicy = (diagnostic: string | null) =>
    isPolicyReply({ provider: 'mailbox.example', status_code: '5.0.0', diagnostic });
  assert.ok(isPolicy('550 Message rejected, looks like spam'));
  assert.ok(!isPolicy('550 No such user here'));
  assert.ok(!isPolicy(null));
});

test('The tables name checks that exist, and texts that fit', () => {
  const ids = new Set(CHECKS.map(({ id }) => id));
  const replies = [...REPLY_GROUPS.flatMap((group) => group.replies), ...COMMON_REPLIES];
  assert.ok(replies.length >= 40, String(replies.length));
  for (const { checks, meaning, status, text } of replies) {
    for (const id of checks) assert.ok(ids.has(id), `${id}: ${meaning}`);
    assert.equal(new Set(checks).size, checks.length, meaning);
    assert.ok(status !== undefined || text !== undefined, meaning);
    assert.ok(meaning.length < 200, meaning);
  }
});

test('Each code that the provider rules of the checks name is explained by the table of that provider', () => {
  const servers: Record<string, string> = {
    gmail: 'google.com',
    microsoft: 'outlook.com',
    yahoo: 'yahoodns.net',
    apple: 'icloud.com',
  };
  for (const { provider, rules } of PROVIDER_RULES)
    for (const { error, id } of rules)
      for (const [status_code] of (error ?? '').matchAll(/[45]\.7\.\d{2,3}/g)) {
        const reply = { provider: servers[provider]!, status_code, diagnostic: null };
        const found = explainBounce(reply);
        assert.ok((found?.checks.length ?? 0) > 0, `${provider} ${id} ${status_code}`);
        assert.notEqual(found!.reference, 'https://www.rfc-editor.org/rfc/rfc3463');
      }
});
