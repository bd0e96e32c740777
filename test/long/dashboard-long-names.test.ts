/** Names without a place to break, on the pages that show them. */

// @one-database: about pages in a browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storeTest } from '../dashboard/stored-tests.ts';
import { startTestService } from '../helpers/app.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { SIZES, startMemberBrowser } from './dashboard.ts';

const WORD = 'W'.repeat(190);

test('No page is wider than a phone, however long the words in it are', {
  skip: skipUnlessInstalled('chromium'),
}, async (t) => {
  const service = await startTestService(t);
  const create = async (path: string, json: object) =>
    (await service.call<{ id: string }>('POST', path, { json })).body.id;
  const domain = await create('/v1/domains', {
    name: `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(60)}.example`,
  });
  const monitor = await create('/v1/monitors', {
    name: WORD,
    type: 'domain_health',
    domain_id: domain,
    frequency: 'daily',
  });
  const alert = await create('/v1/alerts', {
    name: WORD,
    condition: 'score_below',
    threshold: 50,
    channels: ['email'],
  });
  const endpoint = await create('/v1/webhooks/endpoints', {
    url: `https://example.com/${WORD.repeat(5)}`,
    events: ['*'],
    description: WORD,
  });
  const subject = `\u202e${WORD.repeat(500)}`;
  const ids = [
    await storeTest(service.app, { subject, from_address: `${WORD.repeat(20)}@example.com` }),
    await storeTest(service.app, { name: WORD, subject }),
  ];
  const browser = await startMemberBrowser(t, service);
  for (const path of [
    '/',
    '/tests',
    `/tests/${ids[0]}/edit`,
    `/tests/compare?a=${ids[0]}&b=${ids[1]}`,
    `/tests/delete?ids=${ids}`,
    `/reports/shares/new?test_ids=${ids}`,
    `/domains/${domain}`,
    `/monitors/${monitor}`,
    `/alerts/${alert}`,
    `/webhooks/${endpoint}`,
    '/audit-log',
  ]) {
    const page = await browser.open(path, { viewport: SIZES.phone });
    await page.evaluate(
      "document.querySelectorAll('details').forEach((fold) => (fold.open = true))",
    );
    const width = await page.evaluate('document.documentElement.scrollWidth');
    assert.equal(width, SIZES.phone.width, path);
    await page.context().close();
  }
});
