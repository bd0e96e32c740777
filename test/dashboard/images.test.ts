/** The page of the images of a test, and the choice to show messages with a shared link. */

// @one-database: about pages; the operations behind them run on both.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { StoredShare } from '../../src/report/report.ts';
import type { Share } from '../../src/shares/schema.ts';
import type { ServiceOptions } from '../helpers/app.ts';
import { webOf } from '../helpers/web.ts';
import { pngOf } from '../mailtests/image-files.ts';
import { newMember, startWithOwner } from './member.ts';
import { mainOf } from './pages.ts';

const HERO = 'https://images.example.com/hero.png';
const MESSAGE = [
  'From: News <news@example.com>',
  'Subject: Spring <b>',
  'Message-ID: <1@example.com>',
  'Content-Type: text/html; charset=utf-8',
  '',
  `<p>Hello</p><img src="${HERO}"><img src="https://images.example.com/gone.png">`,
  '<img src="https://track.example.com/open.gif" width="1" height="1">',
].join('\r\n');

async function start(t: TestContext, options: ServiceOptions = {}) {
  const web = webOf({ [HERO]: { body: pngOf(600, 200), type: 'image/png' } });
  const made = await startWithOwner(t, { web, ...options });
  const { service } = made;
  const { body } = await service.call<{ id: string }>('POST', '/v1/tests/raw', {
    body: MESSAGE,
    headers: { 'content-type': 'message/rfc822' },
  });
  assert.equal((await service.getTest(body.id, '?wait=50')).status, 'completed');
  return { ...made, id: body.id };
}

test('A member loads the images of a test, sees what failed, and deletes them', async (t) => {
  const { service, id } = await start(t);
  const member = await newMember(service, 'member');
  const path = `/tests/${id}/images`;
  const before = await member.get(path);
  assert.match(mainOf(before.html), /are not loaded.*sender’s web servers see that someone looked/);
  assert.match(before.html, /Load images/);
  const loaded = await member.post(path, { back: 'images' });
  assert.deepEqual([loaded.status, loaded.location], [303, `${path}?done=loaded`]);
  const main = mainOf((await member.get(loaded.location!)).html);
  assert.match(main, /1 of 3 images loaded/);
  assert.match(main, /hero\.png.*Loaded.*PNG.*600 × 200/);
  assert.match(main, /gone\.png.*The server responded with 404\..*Failed/);
  assert.match(main, /open\.gif.*It is a tracking pixel.*Skipped/);
  assert.equal((await member.post(path, { back: 'test' })).location, `/tests/${id}#preview`);
  const deleted = await member.post(`${path}/delete`);
  assert.equal(deleted.location, `${path}?done=deleted`);
  assert.match(mainOf((await member.get(path)).html), /are not loaded/);
});

test('Viewers see the images of a test, but cannot load or delete them', async (t) => {
  const { service, id } = await start(t);
  const viewer = await newMember(service, 'viewer');
  const path = `/tests/${id}/images`;
  assert.doesNotMatch((await viewer.get(path)).html, /Load images/);
  assert.equal((await viewer.post(path, {})).status, 403);
  await service.call('POST', `/v1${path}`);
  const { html } = await viewer.get(path);
  assert.match(mainOf(html), /1 of 3 images loaded/);
  assert.doesNotMatch(html, /Delete images/);
});

test('The page says so if this server makes no requests to addresses in messages', async (t) => {
  const { owner, id } = await start(t, { env: { DELIVERABILITY_CHECK_LINKS: 'false' } });
  const refused = await owner.post(`/tests/${id}/images`, {});
  assert.equal(refused.status, 409);
  assert.match(mainOf(refused.html), /This server makes no requests to addresses in messages/);
});

test('The form for a link suggests messages without images, and passes the choice on', async (t) => {
  const { service, owner, id } = await start(t);
  const { html } = await owner.get(`/reports/shares/new?test_ids=${id}`);
  const [, options] = /<select[^>]*name="preview"[^>]*>(.*?)<\/select>/s.exec(html)!;
  assert.match(
    options!,
    /<option[^>]*(?:selected[^>]*value="without_images"|value="without_images"[^>]*selected)/,
  );
  assert.match(mainOf(html), /Anyone with the link can then read the message/);
  const passed: StoredShare[] = [];
  const { render } = service.app.reportRenderer;
  service.app.reportRenderer.render = async (job) => {
    if (job.kind === 'shared') passed.push(await job.shared());
    return render(job);
  };
  for (const [preview, words] of [
    ['none', 'Not shown'],
    ['without_images', 'Without images'],
    ['with_images', 'With images'],
  ] as const) {
    const created = await owner.post('/reports/shares', {
      test_ids: id,
      expires_in: '86400',
      preview,
    });
    assert.equal(created.status, 303);
    assert.match(mainOf((await owner.get(created.location!)).html), new RegExp(`Message${words}`));
    const shareId = created.location!.split(/[/?]/)[3];
    const { body } = await service.call<Share>('GET', `/v1/reports/shared/${shareId}`);
    assert.equal(body.preview, preview);
    const page = await service.call('GET', `/reports/public/${body.token}`, { key: null });
    assert.equal(page.status, 200);
    assert.equal(passed.at(-1)!.reports[0]!.message === null, preview === 'none');
    assert.equal(page.text.includes('<iframe'), preview !== 'none');
  }
  assert.match(
    mainOf((await owner.get('/reports/shares')).html),
    /With images.*Without images.*Not shown/,
  );
  const wrong = await owner.post('/reports/shares', {
    test_ids: id,
    expires_in: '86400',
    preview: 'all',
  });
  assert.equal(wrong.status, 422);
  const old = await owner.post('/reports/shares', { test_ids: id, expires_in: '86400' });
  const [newest] = (await service.call<{ data: Share[] }>('GET', '/v1/reports/shared')).body.data;
  assert.deepEqual([old.status, newest!.preview], [303, 'none']);
});
