/** The icon of the service: at its well-known paths, and in every page. */

// @one-database: about pages; the operations behind them run on both.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestService } from '../helpers/app.ts';
import { getPage } from './pages.ts';

test('The icon is served as ICO and SVG, and pages contain it', async (t) => {
  const service = await startTestService(t);
  const ico = await fetch(`${service.url}/favicon.ico`);
  assert.deepEqual([ico.status, ico.headers.get('content-type')], [200, 'image/x-icon']);
  assert.match(ico.headers.get('cache-control')!, /max-age/);
  const etag = ico.headers.get('etag')!;
  const headers = { 'if-none-match': etag };
  assert.equal((await fetch(`${service.url}/favicon.ico`, { headers })).status, 304);
  const bytes = Buffer.from(await ico.arrayBuffer());
  // One image of 32 × 32 pixels, which is a complete PNG.
  assert.deepEqual([...bytes.subarray(0, 8)], [0, 0, 1, 0, 1, 0, 32, 32]);
  const png = bytes.subarray(bytes.readUInt32LE(18));
  assert.equal(png.length, bytes.readUInt32LE(14));
  assert.equal(png.subarray(1, 4).toString(), 'PNG');
  assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [32, 32]);
  assert.equal(png.subarray(-8, -4).toString(), 'IEND');
  const svg = await fetch(`${service.url}/favicon.svg`);
  assert.deepEqual([svg.status, svg.headers.get('content-type')], [200, 'image/svg+xml']);
  const text = await svg.text();
  const { html } = await getPage(service, '/');
  const href = /<link rel="icon"[^>]* href="data:image\/svg\+xml,([^"]+)"/.exec(html)?.[1];
  assert.equal(decodeURIComponent(href!), text);
  assert.match(html, /<span>Dark theme<\/span>/);
});
