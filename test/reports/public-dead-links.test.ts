/** Pages of links that do not work, and what they tell browsers, caches and search engines. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getPage, postForm } from '../dashboard/pages.ts';
import { startSharing } from './sharing.ts';

const BROWSER = { accept: 'text/html,*/*;q=0.8' };
const TOKEN = 'x'.repeat(43);

test('a page of a link that leads nowhere is as private as the one that it would lead to', async (t) => {
  const { service, analysed, share } = await startSharing(t);
  const { id, token } = await share({ test_ids: [(await analysed()).id] });
  await service.call('DELETE', `/v1/reports/shared/${id}`);
  const answers = {
    unsubscribe: await getPage(service, `/unsubscribe/${TOKEN}`, BROWSER),
    'unsubscribe by form': await postForm(service, `/unsubscribe/${TOKEN}`, {
      'List-Unsubscribe': 'One-Click',
    }),
    unknown: await getPage(service, `/reports/public/${TOKEN}`, BROWSER),
    'unknown PDF': await getPage(service, `/reports/public/${TOKEN}.pdf`, BROWSER),
    revoked: await getPage(service, `/reports/public/${token}`, BROWSER),
  };
  for (const [what, { status, headers, html }] of Object.entries(answers)) {
    assert.equal(status, what === 'revoked' ? 410 : 404, what);
    assert.match(headers.get('content-type')!, /^text\/html/, what);
    assert.equal(headers.get('referrer-policy'), 'no-referrer', what);
    assert.equal(headers.get('x-robots-tag'), 'noindex', what);
    assert.match(headers.get('cache-control')!, /no-store/, what);
    assert.match(html, /<meta name="referrer" content="no-referrer"\/?>/, what);
    assert.ok(!html.includes(TOKEN) && !html.includes(token), what);
  }
});
