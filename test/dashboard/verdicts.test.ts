/** The same thing has the same verdict on every page. */

// @one-database: about pages; the operations behind them run on both.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startWithOwner } from './member.ts';
import { storeTest } from './stored-tests.ts';

/** The marks of a table row: their states and words. */
function marksIn(html: string, path: string): string[] {
  const row = html.split('<tr>').find((part) => part.includes(`href="${path}"`)) ?? '';
  const marks = [...row.matchAll(/class="(?:state|score) (\w+)"[^>]*>(.*?)<\/td>/gs)];
  assert.ok(marks.length > 0, path);
  return marks.map(([, state, inner]) => `${state}: ${inner!.replace(/<[^>]+>/g, ' ').trim()}`);
}

test('A test has the same result and authentication on the overview and in the list', async (t) => {
  const { service, owner } = await startWithOwner(t);
  const { app } = service;
  const none = { score: null, grade: null, spf: null, dkim: null, dmarc: null };
  const ids = [
    await storeTest(app, { spf: 'permerror', dkim: 'none', dmarc: 'fail', score: 40, grade: 'F' }),
    await storeTest(app, { spf: 'temperror', dkim: 'neutral', score: 88, grade: 'B' }),
    await storeTest(app, { ...none, spf: 'pass', dkim: 'pass' }),
    await storeTest(app, { ...none, status: 'failed', failure_reason: 'not_received' }),
    await storeTest(app, { ...none, status: 'failed', failure_reason: 'analysis_error' }),
  ];
  const [overview, list] = [await owner.get('/'), await owner.get('/tests')];
  for (const id of ids)
    assert.deepEqual(marksIn(overview.html, `/tests/${id}`), marksIn(list.html, `/tests/${id}`));
  const [first, second] = ids.map((id) => marksIn(list.html, `/tests/${id}`).join());
  assert.match(first!, /fail: .*permerror/s);
  assert.match(second!, /unknown: .*temperror/s);
});

test('Domains have the same states on the overview and in the list', async (t) => {
  const { service, owner } = await startWithOwner(t);
  await storeTest(service.app);
  for (const [status, health_status] of [
    ['verified', 'critical'],
    ['verified', 'warning'],
    ['verified', 'healthy'],
    ['failed', 'healthy'],
    ['pending', 'unknown'],
  ] as const) {
    const name = `${status}-${health_status}.example`;
    await service.call('POST', '/v1/domains', { json: { name } });
    await service.app.db
      .updateTable('domains')
      .set({ status, health_status })
      .where('name', '=', name)
      .execute();
  }
  const { html } = await owner.get('/');
  const states = [...html.matchAll(/<li><a href="\/domains\?state=(\w+)">(.*?)<\/a>/gs)];
  const names = states.map(([, state]) => state);
  assert.deepEqual(names, ['critical', 'failed', 'warning', 'pending', 'healthy']);
  for (const [, state, mark] of states) {
    const list = await owner.get(`/domains?state=${state}`);
    assert.ok(list.html.includes(mark!), `${state}: ${mark}`);
  }
});
