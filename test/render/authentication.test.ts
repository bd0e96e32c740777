/** SPF, DKIM and DMARC side by side: what is aligned with From, told from what the checks noted. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { authenticationOf, type Identifier } from '../../src/render/authentication.ts';
import type { Report } from '../../src/render/report.ts';
import { makeKey, signMessage } from '../helpers/signer.ts';
import { ORDER } from './mails.ts';
import { badReport, goodReport, reportOn, unscoredReport } from './reports.ts';

const aligned = (report: Report): [string, string | null, string | null, boolean | null][] =>
  authenticationOf(report).identifiers.map(({ mechanism, domain, result, aligned }: Identifier) => [
    mechanism,
    domain,
    result,
    aligned,
  ]);

describe('the identifiers', () => {
  it('of a message in order are aligned', async () => {
    const report = await goodReport();
    assert.deepEqual(aligned(report), [
      ['SPF', 'shop.example', 'pass', true],
      ['DKIM', 'shop.example', 'pass', true],
    ]);
    const { fromDomain, dmarc, ignored } = authenticationOf(report);
    assert.equal(fromDomain, 'shop.example');
    assert.deepEqual(dmarc, {
      result: 'pass',
      policy: 'reject',
      record: 'v=DMARC1; p=reject; rua=mailto:dmarc@shop.example',
      at: '_dmarc.shop.example',
    });
    assert.equal(ignored, 0);
  });

  it('of a service that signs for itself are not', async () => {
    assert.deepEqual(aligned(await badReport()), [
      ['SPF', 'acme.example', 'softfail', true],
      ['DKIM', 'sender.example', 'pass', false],
    ]);
  });

  it('are each signature, in the order of the message', async () => {
    const key = makeKey();
    const inner = await signMessage(ORDER, { domain: 'mail.shop.example', selector: 'a', key });
    const raw = await signMessage(inner, { domain: 'sender.example', selector: 'b', key });
    const report = await reportOn({
      name: 'two',
      raw,
      zone: {
        '_dmarc.shop.example': { TXT: ['v=DMARC1; p=none'] },
        'a._domainkey.mail.shop.example': { TXT: [key.record] },
        'b._domainkey.sender.example': { TXT: [key.record] },
        'shop.example': { TXT: ['v=spf1 -all'] },
      },
      envelope: { mail_from: 'bounces@shop.example' },
    });
    assert.deepEqual(aligned(report), [
      ['SPF', 'shop.example', 'fail', true],
      ['DKIM', 'sender.example', 'pass', false],
      ['DKIM', 'mail.shop.example', 'pass', true],
    ]);
  });

  it('that could not be compared are neither aligned nor not', async () => {
    const key = makeKey();
    const raw = await signMessage(ORDER, { domain: 'sender.example', selector: 'a', key });
    const report = await reportOn({
      name: 'silent',
      raw,
      zone: {
        '_dmarc.shop.example': { fails: 'timeout' },
        'a._domainkey.sender.example': { TXT: [key.record] },
      },
      envelope: { mail_from: 'bounces@sender.example' },
    });
    for (const [, , , isAligned] of aligned(report)) assert.equal(isAligned, null);
  });

  it('that were not asked about have no result', async () => {
    const report = await unscoredReport();
    assert.deepEqual(aligned(report), [
      ['SPF', null, null, null],
      ['DKIM', null, 'none', null],
    ]);
    assert.equal(authenticationOf(report).fromDomain, 'shop.example');
  });

  it('are read from results of other rules too', () => {
    const { identifiers, dmarc } = authenticationOf({
      checks: [],
      auth_results: { spf: 'pass', dkim: null, dmarc: null },
      from_address: null,
    });
    assert.deepEqual(identifiers, [
      { mechanism: 'SPF', result: 'pass', domain: null, aligned: null, notes: [] },
      { mechanism: 'DKIM', result: null, domain: null, aligned: null, notes: [] },
    ]);
    assert.equal(dmarc.record, null);
  });
});
