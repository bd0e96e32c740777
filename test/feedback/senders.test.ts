/** Who a reporter is, by what a message authenticates. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReportType } from '../../src/feedback/reading/report.ts';
import { namedReporter, type Signer, signedReporter } from '../../src/feedback/senders/reporter.ts';

const CASES: [
  from: string,
  domain: string,
  method: Signer['method'],
  type: ReportType,
  name: string,
][] = [
  ['noreply-dmarc-support@google.com', 'google.com', 'dkim', 'dmarc', 'KNOWN google.com'],
  ['noreply@dmarc.yahoo.com', 'dmarc.yahoo.com', 'dkim', 'dmarc', 'KNOWN yahoo.com'],
  ['noreply@dmarc.yahoo.com', 'yahoo.com', 'dkim', 'dmarc', 'KNOWN yahoo.com'],
  ['no-reply@uk-1.mimecastreport.com', 'mimecastreport.com', 'dkim', 'dmarc', 'KNOWN mimecast.com'],
  ['staff@hotmail.com', 'hotmail.com', 'dkim', 'complaint', 'KNOWN hotmail.com'],
  // Each address counts with the types that it is known to send.
  ['noreply-smtp-tls-reporting@google.com', 'google.com', 'dkim', 'tls', 'KNOWN google.com'],
  ['noreply-smtp-tls-reporting@google.com', 'google.com', 'dkim', 'dmarc', 'DKIM google.com'],
  ['noreply-dmarc-support@google.com', 'google.com', 'dkim', 'tls', 'DKIM google.com'],
  ['noreply-dmarc-support@google.com', 'google.com', 'dkim', 'complaint', 'DKIM google.com'],
  ['dmarc-noreply@linkedin.com', 'linkedin.com', 'dkim', 'dmarc_failure', 'KNOWN linkedin.com'],
  ['dmarc-noreply@linkedin.com', 'linkedin.com', 'dkim', 'complaint', 'DKIM linkedin.com'],
  ['abuse@seznam.cz', 'seznam.cz', 'dkim', 'dmarc', 'KNOWN seznam.cz'],
  [
    'feedback@arf.mail.yahoo.com',
    'yahoo.com',
    'dkim',
    'dmarc_failure',
    'DKIM feedback@arf.mail.yahoo.com yahoo.com',
  ],
  // Another kind of report, another subdomain, and a weaker proof say nothing about a known address.
  ['staff@hotmail.com', 'hotmail.com', 'dkim', 'dmarc', 'DKIM staff@hotmail.com hotmail.com'],
  ['noreply-dmarc-support@google.com', 'old.google.com', 'dkim', 'dmarc', 'DKIM google.com'],
  ['noreply-dmarc-support@google.com', 'google.com', 'spf', 'dmarc', 'SPF google.com'],
  ['someone@google.com', 'google.com', 'dkim', 'dmarc', 'DKIM google.com'],
  // Users of public mailboxes, platforms and private suffixes speak for themselves.
  ['a@yahoo.com', 'yahoo.com', 'dkim', 'dmarc', 'DKIM a@yahoo.com yahoo.com'],
  [
    'a@t.onmicrosoft.com',
    't.onmicrosoft.com',
    'dkim',
    'dmarc',
    'DKIM a@t.onmicrosoft.com t.onmicrosoft.com',
  ],
  ['a@shop.uk.com', 'mail.shop.uk.com', 'dkim', 'dmarc', 'DKIM shop.uk.com'],
  ['a@mail.receiver.co.uk', 'mail.receiver.co.uk', 'dkim', 'dmarc', 'DKIM receiver.co.uk'],
];

test('A reporter is a known sender, the organizational domain that signs, or a shared address', () => {
  for (const [from, domain, method, type, name] of CASES)
    assert.equal(
      signedReporter({ from, domain, method }, { type, attached: false })?.name,
      name,
      `${from} ${domain}`,
    );
});

test('In an attached message, nothing is by a known sender, whatever it sends', () => {
  for (const [from, domain, method, type, name] of CASES) {
    const reporter = signedReporter({ from, domain, method }, { type, attached: true });
    if (name.startsWith('KNOWN ')) assert.equal(reporter, null, from);
    else assert.ok(!reporter?.name.startsWith('KNOWN '), from);
  }
});

test('SPF alone authenticates no TLS report', () => {
  const signer = { from: 'a@receiver.example', domain: 'receiver.example', method: 'spf' } as const;
  assert.equal(signedReporter(signer, { type: 'tls', attached: false }), null);
  assert.equal(signedReporter(null, { type: 'dmarc', attached: false }), null);
});

test('An uploaded file names a known receiver or nobody else’s reporter', () => {
  assert.equal(namedReporter('outlook.com', 'dmarc').name, 'KNOWN microsoft.com');
  assert.equal(namedReporter('dkim google.com', 'dmarc').name, 'FILE dkim google.com');
});
