import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Problem } from '../../src/http/problem.ts';
import { brandColors } from '../../src/report/brand.ts';
import { contrastRatio } from '../../src/report/preview/contrast.ts';
import { startTestService } from '../helpers/app.ts';
import { JPEG_LOGO, pngLogo } from './logos.ts';

interface Shown {
  name: string | null;
  color: string | null;
  text_colors: { light: string; dark: string } | null;
  logo_url: string | null;
}

const PLAIN = { object: 'brand', name: null, color: null, text_colors: null, logo_url: null };
const PATH = '/v1/brand';

test('A brand is set, changed in parts, and removed', async (t) => {
  const { call, makeKey } = await startTestService(t);
  const patch = (json: object, headers = {}) =>
    call<Shown & Problem>('PATCH', PATH, { json, headers });
  assert.deepEqual((await call('GET', PATH)).body, PLAIN);
  const logo = pngLogo().toString('base64');
  const made = await patch({ name: 'Harbor Mail', color: '#0A7D5A', logo });
  assert.equal(made.status, 200, made.text);
  assert.deepEqual(
    [made.body.name, made.body.color, made.body.logo_url],
    ['Harbor Mail', '#0a7d5a', `data:image/png;base64,${logo}`],
  );
  const etag = (await call('GET', PATH)).headers.get('etag')!;
  const other = await patch({ logo: JPEG_LOGO.toString('base64') });
  assert.match(other.body.logo_url!, /^data:image\/jpeg;base64,/);
  assert.deepEqual([other.body.name, other.body.color], ['Harbor Mail', '#0a7d5a']);
  assert.equal((await patch({ color: null }, { 'if-match': etag })).status, 412);
  // Only admins change it.
  const key = await makeKey('member');
  assert.equal((await call('PATCH', PATH, { json: { name: 'Ours' }, key })).status, 403);
  const removed = await patch({ name: null, color: null, logo: null });
  assert.deepEqual(removed.body, PLAIN);
  assert.deepEqual((await call('GET', PATH)).body, PLAIN);
  const { data } = (
    await call<{ data: { action: string; details: object }[] }>('GET', '/v1/audit_log')
  ).body;
  const actions = data.filter(({ action }) => action === 'brand.changed');
  assert.equal(actions.length, 3);
  assert.ok(!JSON.stringify(actions).includes(logo.slice(0, 40)));
});

test('Invalid parts of a brand are rejected, and change nothing', async (t) => {
  const { call } = await startTestService(t);
  await call('PATCH', PATH, { json: { name: 'Harbor Mail' } });
  const before = (await call('GET', PATH)).body;
  const wrong: [object, string][] = [
    [{ color: 'green' }, 'color'],
    [{ color: '#fff' }, 'color'],
    [{ color: 'url(#000000)' }, 'color'],
    [{ name: '' }, 'name'],
    [{ name: 'a\r\nBcc: b@example.com' }, 'name'],
    [{ name: 'x'.repeat(201) }, 'name'],
    [{ logo: 'not base64!' }, 'logo'],
    [{ logo: Buffer.from('<svg/>').toString('base64') }, 'logo'],
    [{ name: null, color: '#000000' }, 'name'],
    [{ size: 4 }, 'size'],
  ];
  for (const [json, param] of wrong) {
    const { status, body } = await call<Problem>('PATCH', PATH, { json });
    assert.equal(status, 422, JSON.stringify(json));
    assert.deepEqual(
      body.errors!.map((error) => error.param),
      [param],
    );
  }
  assert.deepEqual((await call('GET', PATH)).body, before);
});

test('Every color is readable in both themes, and a readable one stays as it is', () => {
  const value = (color: string) => Number.parseInt(color.slice(1), 16);
  for (let color = 0; color < 0xffffff; color += 0x0f1f3d) {
    const { light, dark } = brandColors(`#${color.toString(16).padStart(6, '0')}`);
    for (const background of [0xffffff, 0xf6f6f9, 0xf3f3f8])
      assert.ok(contrastRatio(value(light), background) >= 4.5, light);
    for (const background of [0x0f1015, 0x17181f, 0x22242d])
      assert.ok(contrastRatio(value(dark), background) >= 4.5, dark);
    // White text on a button.
    assert.ok(contrastRatio(0xffffff, value(light)) >= 4.5, light);
  }
  assert.equal(brandColors('#4338ca').light, '#4338ca');
  assert.equal(brandColors('#aab4ff').dark, '#aab4ff');
  assert.notEqual(brandColors('#ffe600').light, '#ffe600');
});
