/** The pages of webhook endpoints and their deliveries. */

// @one-database: about pages; the operations behind them run on both.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isoTime } from '../../src/lib/clock.ts';
import {
  createEndpoint,
  ENDPOINTS,
  type Endpoint,
  startWebhookService,
} from '../webhooks/webhook-service.ts';
import { memberOf, newMember } from './member.ts';
import { fieldOf, mainOf } from './pages.ts';

const DAY_MS = 86_400_000;

test('A new endpoint shows its secret once, and a test event shows its delivery', async (t) => {
  const client = await startWebhookService(t);
  const { service, receiver } = client;
  const owner = await memberOf(service, 'owner@example.com');
  assert.match(mainOf((await owner.get('/webhooks')).html), /No webhook endpoints yet/);
  assert.match(mainOf((await owner.get('/webhooks/new')).html), /gets live events only/);
  const created = await owner.post('/webhooks', {
    url: receiver.url,
    events: ['test.completed', 'alert.triggered'],
    description: 'The shop',
  });
  assert.equal(created.status, 200, mainOf(created.html));
  assert.equal(created.headers.get('cache-control'), 'no-store');
  const [secret] = /whsec_[\w+/=-]+/.exec(created.html)!;
  assert.match(created.html, /href="\/docs#events"/);
  const { body } = await service.call<{ data: Endpoint[] }>('GET', ENDPOINTS);
  const [endpoint] = body.data;
  assert.deepEqual(endpoint!.events, ['test.completed', 'alert.triggered']);
  const page = await owner.get(`/webhooks/${endpoint!.id}`);
  assert.ok(!page.html.includes(secret));
  assert.match(mainOf(page.html), /No deliveries yet/);
  receiver.respond = () => ({ status: 200, body: '<script>alert(1)</script>' });
  const sent = await owner.post(`/webhooks/${endpoint!.id}/test`);
  const delivery = await owner.get(sent.location!);
  assert.match(mainOf(delivery.html), /Test event sent\. The endpoint responded with 200\./);
  assert.match(mainOf(delivery.html), /"type": "test\.completed"/);
  assert.match(mainOf(delivery.html), /<script>alert\(1\)<\/script>/);
  assert.doesNotMatch(delivery.html, /<script>alert/);
  const list = mainOf((await owner.get('/webhooks')).html);
  assert.match(list, /The shop.*Active.*100% of 1.*test\.completed and 1 more/s);
});

test('The form for an endpoint keeps what was typed and explains each error', async (t) => {
  const { service } = await startWebhookService(t);
  const owner = await memberOf(service, 'owner@example.com');
  const { status, html } = await owner.post('/webhooks', {
    url: 'ftp://example.com/hook',
    events: [],
    description: 'x'.repeat(501),
  });
  assert.equal(status, 422);
  const text = mainOf(html);
  assert.match(text, /The URL must start with https/);
  assert.match(text, /The list of events must contain at least one event type/);
  assert.match(text, /The description must have at most 500 characters/);
  assert.equal(fieldOf(html, 'url').value, 'ftp://example.com/hook');
  assert.equal(fieldOf(html, 'description').value?.length, 501);
  const privateUrl = await owner.post('/webhooks', { url: 'https://10.0.0.1/x', events: '*' });
  assert.match(mainOf(privateUrl.html), /The URL must not point to 10\.0\.0\.1/);
});

test('An endpoint is changed, disabled, enabled, rotated and deleted', async (t) => {
  const client = await startWebhookService(t);
  const { service, receiver } = client;
  const owner = await memberOf(service, 'owner@example.com');
  const { id, secret } = await createEndpoint(client);
  const path = `/webhooks/${id}`;
  const read = async () => (await service.call<Endpoint>('GET', `${ENDPOINTS}/${id}`)).body;
  const saved = await owner.post(path, { url: receiver.url, events: 'test.failed' });
  assert.equal(saved.location, `${path}?done=saved`);
  assert.deepEqual((await read()).events, ['test.failed']);
  const wrong = await owner.post(path, { url: 'nonsense', events: 'test.failed' });
  assert.equal(wrong.status, 422);
  assert.equal(fieldOf(wrong.html, 'url').value, 'nonsense');
  await owner.post(`${path}/state`, { enabled: 'false' });
  assert.equal((await read()).status, 'disabled');
  const disabled = mainOf((await owner.get(path)).html);
  assert.doesNotMatch(disabled, /Send a test event/);
  assert.equal((await owner.post(`${path}/test`)).status, 409);
  await owner.post(`${path}/state`, { enabled: 'true' });
  assert.equal((await read()).status, 'active');
  const rotated = await owner.post(`${path}/rotate`, { overlap: '3600' });
  const [newSecret] = /whsec_[\w+/=-]+/.exec(rotated.html)!;
  assert.notEqual(newSecret, secret);
  assert.equal(rotated.headers.get('cache-control'), 'no-store');
  assert.match(mainOf((await owner.get(path)).html), /The previous secret also signs until/);
  const deleted = await owner.post(`${path}/delete`);
  assert.equal(deleted.location, '/webhooks?done=deleted');
  assert.equal((await owner.get(path)).status, 404);
});

test('A hostile response is shown as text, which it cannot reorder or break out of', async (t) => {
  const client = await startWebhookService(t);
  const { service, receiver, append, deliverDue, deliveries } = client;
  const owner = await memberOf(service, 'owner@example.com');
  await createEndpoint(client);
  receiver.respond = () => ({
    status: 500,
    headers: { 'x-html': '</pre><img src=x onerror=alert(1)>' },
    body: `</pre><script>alert(1)</script>\u202e\u2066\u200b\u0007\tend${'\u202e<b>'.repeat(25_000)}`,
  });
  await append({ data: { id: 'test_1' } });
  await deliverDue();
  const [delivery] = await deliveries();
  const { status, html } = await owner.get(`/webhooks/deliveries/${delivery!.id}`);
  assert.equal(status, 200);
  assert.doesNotMatch(html, /<script>alert|<img|[\u202a-\u202e\u2066-\u2069\u0007]/);
  assert.match(mainOf(html), /<\/pre><script>alert\(1\)<\/script>··\u200b·\tend·<b>/);
  assert.ok(html.length < 60_000, `${html.length}`);
});

test('A failed delivery shows each attempt, and is sent again', async (t) => {
  const client = await startWebhookService(t);
  const { service, receiver, append, deliverDue, deliveries } = client;
  const owner = await memberOf(service, 'owner@example.com');
  const { id } = await createEndpoint(client);
  receiver.respond = () => ({
    status: 500,
    headers: { 'x-note': 'a\u00e9b', 'content-type': 'text/html' },
    body: `<h1>Failure</h1>${'x'.repeat(5000)}`,
  });
  await append({ data: { id: 'test_1', object: 'test', subject: 'evil \u202e txt' } });
  await deliverDue();
  const [delivery] = await deliveries();
  const path = `/webhooks/deliveries/${delivery!.id}`;
  const { html } = await owner.get(path);
  const text = mainOf(html);
  assert.match(text, /Pending/);
  assert.match(text, /500First attempt/);
  assert.match(text, /Status 500: the server had an internal error\./);
  assert.match(text, /<h1>Failure<\/h1>x{4000,}/);
  assert.match(text, /Only the first 4 KB are kept/);
  assert.match(text, /"subject": "evil \\u202e txt"/);
  assert.doesNotMatch(html, /<h1>Failure/);
  assert.match(mainOf((await owner.get(`/webhooks/${id}`)).html), /Every attempt has failed since/);
  receiver.respond = () => 204;
  const resent = await owner.post(`${path}/resend`);
  assert.equal(resent.location, `${path}?done=resent`);
  const after = mainOf((await owner.get(resent.location!)).html);
  assert.match(after, /Event resent\. The endpoint responded with 204\./);
  assert.match(after, /204Resent manually.*500First attempt/s);
});

test('An endpoint that was disabled automatically tells how to recover, and recovers', async (t) => {
  const client = await startWebhookService(t);
  const { service, app, clock, receiver, append, deliverDue, deliveries } = client;
  const owner = await memberOf(service, 'owner@example.com');
  const { id } = await createEndpoint(client);
  const since = isoTime(clock.now() - 5 * DAY_MS);
  await app.db
    .updateTable('webhook_endpoints')
    .set({ auto_disabled_at: isoTime(clock.now()), failing_since: since })
    .execute();
  await append();
  await append();
  const path = `/webhooks/${id}`;
  assert.match(mainOf((await owner.get('/webhooks')).html), /Auto-disabled.*0% of 2/s);
  const broken = mainOf((await owner.get(path)).html);
  assert.match(broken, /This endpoint was disabled automatically/);
  assert.match(broken, /Recover what it missed: 2 deliveries/);
  await owner.post(`${path}/state`, { enabled: 'true' });
  assert.match(mainOf((await owner.get(path)).html), /2 deliveries failed or were held/);
  const recovered = await owner.post(`${path}/recover`, { since: 'all' });
  assert.equal(recovered.location, `${path}?done=recovered&count=2`);
  assert.match(
    mainOf((await owner.get(recovered.location!)).html),
    /2 deliveries are being resent/,
  );
  await deliverDue();
  assert.equal(receiver.requests.length, 2);
  assert.deepEqual(
    (await deliveries()).map(({ status }) => status),
    ['succeeded', 'succeeded'],
  );
  clock.advance(2 * 3_600_000);
  const nothing = await owner.post(`${path}/recover`, { since: '3600' });
  assert.match(mainOf((await owner.get(nothing.location!)).html), /Nothing to resend/);
});

test('Deliveries can be filtered by state and event, and paged', async (t) => {
  const client = await startWebhookService(t);
  const { service, app, append, deliverDue } = client;
  const owner = await memberOf(service, 'owner@example.com');
  const { id } = await createEndpoint(client);
  for (let i = 0; i < 22; i++) await append();
  await append({ type: 'test.failed' });
  await deliverDue();
  await app.db
    .updateTable('webhook_deliveries')
    .set({ status: 'failed' })
    .where('event_type', '=', 'test.failed')
    .execute();
  const path = `/webhooks/${id}`;
  const rows = (html: string) =>
    html.match(/class="row-link" href="\/webhooks\/deliveries\//g) ?? [];
  const { html } = await owner.get(path);
  assert.equal(rows(html).length, 20);
  const older = /rel="next" href="([^"]+)"/.exec(html)![1]!.replaceAll('&amp;', '&');
  assert.equal(rows((await owner.get(older)).html).length, 3);
  assert.equal(rows((await owner.get(`${path}?status=failed`)).html).length, 1);
  assert.equal(rows((await owner.get(`${path}?event_type=test.failed`)).html).length, 1);
  const none = await owner.get(`${path}?status=held`);
  assert.match(mainOf(none.html), /No deliveries match the filters/);
});

test('Test-mode and live endpoints are shown in their own mode only', async (t) => {
  const client = await startWebhookService(t);
  const { service } = client;
  const owner = await memberOf(service, 'owner@example.com');
  const { id } = await createEndpoint(client);
  const { cookie: mode } = await owner.post('/mode', { mode: 'test', next: '/webhooks' });
  const cookie = `${owner.cookie}; ${mode}`;
  assert.match(
    mainOf((await owner.get('/webhooks', { cookie })).html),
    /No test-mode endpoints yet/,
  );
  assert.equal((await owner.get(`/webhooks/${id}`, { cookie })).status, 404);
  const form = await owner.get('/webhooks/new', { cookie });
  assert.match(mainOf(form.html), /gets the events of test-mode keys only/);
});

test('Members below admin have no webhook pages', async (t) => {
  const client = await startWebhookService(t);
  const { service } = client;
  const { id } = await createEndpoint(client);
  for (const role of ['viewer', 'member'] as const) {
    const member = await newMember(service, role);
    for (const path of ['/webhooks', '/webhooks/new', `/webhooks/${id}`])
      assert.equal((await member.get(path)).status, 403);
    assert.equal((await member.post(`/webhooks/${id}/delete`)).status, 403);
    assert.doesNotMatch((await member.get('/')).html, /href="\/webhooks"/);
  }
  const admin = await newMember(service, 'admin');
  assert.equal((await admin.get(`/webhooks/${id}`)).status, 200);
});
