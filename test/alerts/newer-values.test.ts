/** Conditions and channels that a newer version has stored are shown as they are, and left alone. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Alert, AlertIncident } from '../../src/alerts/schema.ts';
import { type Member, memberOf } from '../dashboard/member.ts';
import { mainOf } from '../dashboard/pages.ts';
import { startAlerting } from './alerting.ts';

/** Not with `service.call`, which accepts declared values only. */
async function read<T>(owner: Member, path: string): Promise<T> {
  const { status, html } = await owner.get(path);
  assert.equal(status, 200, html);
  return JSON.parse(html);
}

const asStored = { condition: 'of_tomorrow', channels: '["email","pigeon"]' } as never;

test('A rule with a condition and a channel of a newer version is shown and left alone', async (t) => {
  const { app, service, makeAlert, complete, incidents } = await startAlerting(t);
  const { id } = await makeAlert();
  await app.db.updateTable('alerts').set(asStored).where('id', '=', id).execute();
  const path = `/v1/alerts/${id}`;
  const owner = await memberOf(service, 'owner@example.com');
  const before = await read<Alert>(owner, path);
  assert.deepEqual([before.condition, before.channels], ['of_tomorrow', ['email', 'pigeon']]);
  assert.deepEqual(before.unconfigured_channels, ['pigeon']);

  await complete({ score: 1 });
  assert.deepEqual(await incidents(), []);

  const changes = { name: 'Renamed', channels: ['webhook'] };
  const response = await fetch(service.url + path, {
    method: 'PATCH',
    body: JSON.stringify(changes),
    headers: {
      'content-type': 'application/json',
      cookie: owner.cookie,
      'sec-fetch-site': 'same-origin',
    },
  });
  assert.equal(response.status, 200);
  const changed = await read<Alert>(owner, path);
  assert.equal(changed.condition, 'of_tomorrow');
  assert.deepEqual(changed.channels, ['webhook', 'pigeon']);

  for (const page of ['/alerts', `/alerts/${id}`]) {
    const { html } = await owner.get(page);
    assert.match(mainOf(html), /of_tomorrow/, page);
    assert.match(mainOf(html), /pigeon/, page);
  }
  const form = { name: 'Saved', condition: 'of_tomorrow', channels: ['email', 'pigeon'] };
  const saved = await owner.post(`/alerts/${id}`, { ...form, enabled: 'on' });
  assert.equal(saved.status, 303, mainOf(saved.html));
  const after = await read<Alert>(owner, path);
  assert.deepEqual(
    [after.name, after.condition, after.channels],
    ['Saved', 'of_tomorrow', ['email', 'pigeon']],
  );
});

test('Other channels of a rule notify although one is unknown', async (t) => {
  const { app, service, makeAlert, complete } = await startAlerting(t);
  const { id } = await makeAlert();
  const { channels } = asStored as { channels: string };
  await app.db.updateTable('alerts').set({ channels }).where('id', '=', id).execute();
  await complete({ score: 1 });
  const owner = await memberOf(service, 'owner@example.com');
  const { data } = await read<{ data: AlertIncident[] }>(owner, '/v1/alert_incidents');
  const [incident] = data;
  const notified = incident!.notifications.map(({ channel, status }) => [channel, status]);
  assert.deepEqual(notified, [
    ['email', 'queued'],
    ['pigeon', 'unconfigured'],
  ]);
});
