/** DKIM selectors that a domain learns from DMARC reports. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Domain } from '../../src/domains/schema.ts';
import { dmarc, gzip, mail, record, text } from './reading/builders.ts';
import { startFeedback } from './start.ts';

const signedBy = (domain: string, selector: string, result = 'pass', aligned = 'pass') =>
  record({
    dkim: aligned,
    results: `<auth_results><dkim><domain>${domain}</domain><selector>${selector}</selector><result>${result}</result></dkim><spf><domain>example.com</domain><result>pass</result></spf></auth_results>`,
  });

const reportOf = (id: string, records: string) =>
  mail([text('x'), { type: 'application/gzip', content: gzip(dmarc({ id, records })) }]);

test('A domain learns the selectors with which its mail passed, from reports that count', async (t) => {
  const { domain, send, service, reports } = await startFeedback(t);
  const records = [
    signedBy('example.com', 'news2026'),
    signedBy('EXAMPLE.COM', 'Billing'),
    signedBy('example.com', 'broken', 'fail', 'fail'),
    signedBy('service.example', 'foreign', 'pass', 'fail'),
    signedBy('news.example.com', 'below'),
  ].join('');
  const learned = async () =>
    (await service.call<Domain>('GET', `/v1/domains/${domain.id}`)).body.dkim_selectors.toSorted();
  // Nothing shows that this report is from a receiver.
  await send(reportOf('r-1', signedBy('example.com', 'forged')), { from: 'broken.example' });
  await send(reportOf('r-2', records));
  assert.deepEqual(
    (await reports()).map(({ status }) => status),
    ['unverified', 'counted'],
  );
  assert.deepEqual(await learned(), ['billing', 'news2026']);
});
