import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startWithOwner } from '../dashboard/member.ts';
import { pngLogo } from './logos.ts';

test('The form sets and removes the brand, and shows what is wrong with it', async (t) => {
  const { service, owner } = await startWithOwner(t);
  const post = async (fields: Record<string, string>, logo?: Buffer) => {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    if (logo) body.set('logo', new Blob([new Uint8Array(logo)]), 'logo.png');
    const headers = { 'sec-fetch-site': 'same-origin', cookie: owner.cookie };
    const url = `${service.url}/reports/brand`;
    const response = await fetch(url, { method: 'POST', body, headers, redirect: 'manual' });
    return { status: response.status, text: await response.text() };
  };
  const brand = async () =>
    (
      await service.call<{ name: string | null; color: string | null; logo_url: string | null }>(
        'GET',
        '/v1/brand',
      )
    ).body;
  assert.equal((await post({ name: 'Harbor Mail', color: '#0A7D5A' }, pngLogo())).status, 303);
  const { name, color, logo_url } = await brand();
  assert.deepEqual([name, color], ['Harbor Mail', '#0a7d5a']);
  assert.ok(logo_url?.includes(pngLogo().toString('base64')));
  const page = await owner.get('/reports/brand');
  assert.ok(page.html.includes(logo_url!) && page.html.includes('Harbor Mail'));
  // Other pages of the team keep our name.
  assert.ok(!(await owner.get('/reports')).html.includes('Harbor Mail'));
  const wrong = await post({ name: 'Harbor Mail', color: 'green' }, Buffer.from('GIF89a'));
  assert.equal(wrong.status, 422);
  assert.match(wrong.text, /must be a color such as #1a7f37/);
  assert.deepEqual((await brand()).color, '#0a7d5a');
  // Without a new file, the logo stays.
  await post({ name: 'Harbor', color: '' });
  assert.deepEqual(await brand(), { ...(await brand()), name: 'Harbor', color: null, logo_url });
  await post({ name: '', color: '#0a7d5a' });
  assert.deepEqual([(await brand()).name, (await brand()).logo_url], [null, null]);
});
