/** A channel is declared in one file: the form, the API, its secrets and its delivery follow from that. */

// @isolated: it adds a channel before the schema of the API is built.

import './pigeon.ts';

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memberOf } from '../dashboard/member.ts';
import { mainOf } from '../dashboard/pages.ts';
import { startAlerting } from './alerting.ts';

const TOKEN = 'very-secret-token';
const BASE = { name: 'By pigeon', condition: 'score_below', threshold: 80 };

test('A channel that is declared in one file has its fields in the form, the API and notifications', async (t) => {
  // One server takes the posts of both channels.
  const { app, service, slack, complete, sendDue, incidents } = await startAlerting(t);
  const loft = () => slack.requests.filter(({ path }) => path.endsWith('secret-path'));
  const owner = await memberOf(service, 'owner@example.com');
  const url = `${slack.url}/very-secret-path`;
  const call = (method: string, path: string, json?: object) =>
    service.call<Record<string, never>>(method as 'GET', path as '/v1/alerts', { json } as object);

  // The form.
  const { html } = await owner.get('/alerts/new');
  assert.match(html, /value="pigeon"/);
  assert.match(
    html,
    /Enter the URL of <code>the loft<\/code>\. See <a href="\/alerts">alerts<\/a>/,
  );
  assert.match(mainOf(html), /Pigeon url.*The url of the loft\..*Pigeon token.*Pigeon room/s);

  // Validation by the API, also of what the form sends.
  for (const [param, value] of [
    ['pigeon_url', 'ftp://loft.example/'],
    ['pigeon_url', 'http://127.0.0.2/'],
    ['pigeon_url', 'http://192.0.2.1/'],
    ['pigeon_url', 'https://127.0.0.2/'],
    ['pigeon_token', 'with space'],
    ['pigeon_room', ''],
    ['pigeon_size', 'large'],
  ] as const) {
    const rule = { ...BASE, channels: ['pigeon'], [param]: value };
    const { status, body, text } = await service.call('POST', '/v1/alerts', {
      json: rule as never,
    });
    const { errors } = body as { errors?: { param: string }[] };
    assert.deepEqual([status, errors?.[0]?.param], [422, param], text);
  }
  const typed = { ...BASE, threshold: '80', channels: ['pigeon', 'slack'], enabled: 'on' };
  const refused = await owner.post('/alerts', { ...typed, pigeon_url: 'ftp://loft.example/' });
  assert.equal(refused.status, 422);
  assert.match(mainOf(refused.html), /Pigeon url must start with https/);
  const settings = { pigeon_url: url, pigeon_token: TOKEN, pigeon_room: 'tower' };
  const created = await owner.post('/alerts', { ...typed, ...settings });
  assert.equal(created.status, 303, mainOf(created.html));
  const path = created.location!.replace(/\?.*/, '');

  // Secrets are encrypted, and shown nowhere.
  const { body } = await call('GET', `/v1${path}`);
  assert.partialDeepStrictEqual(body, {
    channels: ['pigeon', 'slack'],
    unconfigured_channels: [],
    slack_webhook_host: null,
    pigeon_host: new URL(url).host,
    pigeon_token_set: true,
    pigeon_room: 'tower',
  });
  const stored = await app.db.selectFrom('alerts').selectAll().execute();
  const page = (await owner.get(path)).html;
  assert.match(mainOf(page), /Pigeon url.*\(secret\).*Pigeon token.*Set \(secret\).*tower/s);
  assert.match(page, /name="remove_pigeon_token"/);
  assert.match(page, /name="pigeon_room"[^>]*value="tower"|value="tower"[^>]*name="pigeon_room"/);

  // What does not change stays, also without the secrets in the form.
  assert.equal(
    (await owner.post(path, { ...typed, name: 'Renamed', pigeon_room: 'barn' })).status,
    303,
  );
  const changed = (await call('GET', `/v1${path}`)).body;
  assert.partialDeepStrictEqual(changed, { pigeon_token_set: true, pigeon_room: 'barn' });

  // Delivery, with the sample and with an incident.
  await owner.post(`${path}/test`);
  assert.equal(loft().length, 1);
  await complete({ score: 10 });
  slack.respond = ({ path }) => (path.endsWith('secret-path') ? 503 : 200);
  await sendDue();
  const [incident] = await incidents();
  assert.deepEqual(
    incident!.notifications.map(({ channel, status }) => [channel, status]),
    [
      ['pigeon', 'queued'],
      ['slack', 'sent'],
    ],
  );
  assert.match(JSON.stringify(incident!.notifications), /status 503/);
  const { headers, body: posted } = loft()[1]!;
  assert.equal(headers.authorization, `Bearer ${TOKEN}`);
  assert.match(posted, /^\{"room":"barn","text":"Alert: .+"\}$/);
  assert.equal(slack.requests.length, 4);

  const events = await app.db.selectFrom('events').selectAll().execute();
  const audits = await app.db.selectFrom('audit_log').selectAll().execute();
  const shown = JSON.stringify([stored, body, changed, page, events, audits, incident]);
  assert.doesNotMatch(shown, /very-secret/);
  assert.match(JSON.stringify(audits), /pigeon_room/);

  // One secret is removed, and the other one stays.
  await owner.post(path, { ...typed, pigeon_room: '', remove_pigeon_url: 'on' });
  assert.partialDeepStrictEqual((await call('GET', `/v1${path}`)).body, {
    unconfigured_channels: ['pigeon'],
    pigeon_host: null,
    pigeon_token_set: true,
    pigeon_room: null,
  });
  const { body: openapi } = await call('GET', '/openapi.json');
  assert.match(JSON.stringify(openapi), /The token of the loft of pigeons/);
});
