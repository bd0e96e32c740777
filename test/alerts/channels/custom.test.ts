/** Custom webhooks: templates whose values cannot break out, headers, what is refused on save, and the preview. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Alert } from '../../../src/alerts/schema.ts';
import { memberOf } from '../../dashboard/member.ts';
import { mainOf } from '../../dashboard/pages.ts';
import type { Received } from '../../helpers/receiver.ts';
import { startAlerting } from '../alerting.ts';
import { customService } from './services.ts';

const HOUR_MS = 3_600_000;
const HOSTILE = `"},{"x":"\\ ' & < > ]]> = % + ; {{secret}} ünï 🦊`;

async function startCustom(t: TestContext, settings: Record<string, unknown>) {
  const alerting = await startAlerting(t);
  const { slack: receiver, makeAlert } = alerting;
  const { origin } = new URL(receiver.url);
  const alert = await makeAlert({
    name: HOSTILE,
    channels: ['custom'],
    custom_url: `${origin}/hook`,
    ...settings,
  });
  const openIncident = async (): Promise<Received> => {
    await alerting.complete({ score: 10, subject: HOSTILE });
    await alerting.sendDue();
    return receiver.requests.at(-1)!;
  };
  return { ...alerting, alert, receiver, openIncident, path: `/v1/alerts/${alert.id}` };
}

test('Values in JSON stay within their quotes', async (t) => {
  const { openIncident } = await startCustom(t, {
    custom_secret: 'abc"def\\',
    custom_body: '{"a": "{{message}}", "b": ["<{{rule}}>"], "{{secret}}": {"n": 1}}',
  });
  const { body, headers } = await openIncident();
  assert.equal(headers['content-type'], 'application/json; charset=utf-8');
  const { a, b, ...others } = JSON.parse(body);
  assert.ok(a.includes(HOSTILE), a);
  assert.deepEqual(b, [`<${HOSTILE}>`]);
  assert.deepEqual(others, { 'abc"def\\': { n: 1 } });
});

test('Values in a form stay within their fields', async (t) => {
  const { openIncident } = await startCustom(t, {
    custom_content_type: 'application/x-www-form-urlencoded',
    custom_secret: 'azGDORePK8gMaC0QOYAMyEEuzJnyUi',
    custom_body: 'token={{secret}}\r\ntitle={{title}}\nmessage={{message}}\n\npriority=1',
  });
  const { body, headers } = await openIncident();
  assert.equal(headers['content-type'], 'application/x-www-form-urlencoded; charset=utf-8');
  const fields = new URLSearchParams(body);
  assert.deepEqual([...fields.keys()], ['token', 'title', 'message', 'priority']);
  assert.ok(fields.get('message')!.includes(HOSTILE));
  assert.equal(fields.get('priority'), '1');
});

test('Values in XML stay text', async (t) => {
  const { openIncident } = await startCustom(t, {
    custom_content_type: 'application/xml',
    custom_body: '<alert rule="{{rule}}">{{message}}</alert>',
  });
  const { body } = await openIncident();
  const inside = body.replace(/^<alert rule="/, '').replace(/<\/alert>$/, '');
  assert.deepEqual(inside.match(/[<>"']/g), ['"', '>'], 'only those of the template');
  const decoded = inside.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code));
  assert.ok(decoded.includes(HOSTILE), decoded);
  assert.doesNotMatch(inside.replace(/&#\d+;/g, ''), /&/);
});

test('Plain text has values as they are, and PUT is used for a path with the ID of the message', async (t) => {
  const { openIncident, receiver, sendDue, clock } = await startCustom(t, {
    custom_method: 'PUT',
    custom_content_type: 'text/plain',
    custom_body: '{{status}} {{subject}}\n{{message}}',
    custom_headers: 'Authorization: Bearer very-secret',
  });
  receiver.respond = () => 500;
  const first = await openIncident();
  assert.deepEqual([first.method, first.headers.authorization], ['PUT', 'Bearer very-secret']);
  assert.match(first.body, /^triggered example\.com\n/);
  assert.ok(first.body.includes(HOSTILE));
  receiver.respond = () => 204;
  clock.advance(61_000);
  await sendDue();
  assert.equal(receiver.requests.length, 2);
});

test('Placeholders in the URL are escaped, and the ID of a message stays the same in each attempt', async (t) => {
  const origin = 'http://192.0.2.1';
  const { service, receiver, path, openIncident, sendDue, clock } = await startCustom(t, {});
  const own = new URL(receiver.url).origin;
  const url = `${own}/rooms/!room:matrix.example/send/m.room.message/{{notification_id}}?rule={{rule}}&x={{status}}`;
  const changed = await service.call('PATCH', path, { json: { custom_url: url } });
  assert.equal(changed.status, 200, changed.text);
  receiver.respond = () => 502;
  const first = await openIncident();
  receiver.respond = () => 200;
  clock.advance(HOUR_MS);
  await sendDue();
  const target = new URL(first.path, origin);
  assert.match(
    target.pathname,
    /^\/rooms\/!room:matrix\.example\/send\/m\.room\.message\/ntf_\w+$/,
  );
  assert.deepEqual(
    [...target.searchParams],
    [
      ['rule', HOSTILE],
      ['x', 'triggered'],
    ],
  );
  assert.deepEqual(
    receiver.requests.map((request) => request.path),
    [first.path, first.path],
  );
});

test('A value of dots leads to no other path', async (t) => {
  const { service, receiver, path } = await startCustom(t, {});
  const custom_url = `${new URL(receiver.url).origin}/rules/{{rule}}/alerts/{{rule}}{{subject}}`;
  for (const name of ['..', '.', '%2e%2e', '../../x']) {
    const changed = await service.call('PATCH', path, { json: { custom_url, name } });
    assert.equal(changed.status, 200, changed.text);
    await service.call('POST', `${path}/test`);
    assert.match(receiver.requests.at(-1)!.path, /^\/rules\/[^/]+\/alerts\/[^/]+$/);
  }
});

test('Removing a setting is refused if the others do not fit without it', async (t) => {
  const { service, path } = await startCustom(t, {
    custom_content_type: 'text/plain',
    custom_body: '{{title}}',
  });
  for (const [setting, message] of [
    ['custom_content_type', /is not valid JSON/],
    ['custom_body', /is required for the content type text\/plain/],
  ] as const) {
    const refused = await service.call('PATCH', path, { json: { [setting]: null } });
    assert.equal(refused.status, 422, refused.text);
    assert.match(refused.text, message);
  }
  const json = { custom_content_type: null, custom_body: null };
  assert.equal((await service.call('PATCH', path, { json })).status, 200);
});

for (const [type, body, repeated] of [
  ['application/json', '{"token": "{{secret}}"}', (sent: string) => `Bad ${sent}`],
  ['application/x-www-form-urlencoded', 'token={{secret}}', (sent: string) => `Bad ${sent}`],
] as const)
  test(`A secret that a service repeats as it was sent is not shown: ${type}`, async (t) => {
    const { openIncident, receiver, app } = await startCustom(t, {
      custom_content_type: type,
      custom_secret: 'pa"ss/wo+rd',
      custom_body: body,
    });
    receiver.respond = (request) => ({ status: 400, body: repeated(request.body) });
    await openIncident();
    const [row] = await app.db.selectFrom('alert_notifications').select('error').execute();
    assert.match(row!.error!, /^status 400: .*…/);
    assert.doesNotMatch(row!.error!, /pa|wo.*rd/i);
  });

test('Without a body, the request is a JSON object with the most important values', async (t) => {
  const { openIncident, service, path } = await startCustom(t, {});
  const { body, method } = await openIncident();
  const { title, message, status, incident_id, url } = JSON.parse(body);
  assert.match(title, /^Alert: Mail from example\.com scored 10, below 70/);
  assert.match(message, /From domain: example\.com\nScore: 10 of 100/);
  assert.deepEqual([method, status], ['POST', 'triggered']);
  assert.match(incident_id, /^inc_/);
  assert.match(url, /\/tests\/test_/);
  const { body: alert } = await service.call<Alert>('GET', path);
  assert.partialDeepStrictEqual(alert, { custom_body: null } as never);
});

test('Saving a rule rejects settings that cannot work, with the reason', async (t) => {
  const { service, path } = await startCustom(t, {});
  const FORM = 'application/x-www-form-urlencoded';
  const refused: [settings: Record<string, unknown>, param: string, message: RegExp][] = [
    [
      { custom_body: '{"a": "{{titel}}"}' },
      'custom_body',
      /unknown placeholder \{\{titel\}\}; known ones are \{\{title\}\}, \{\{message\}\}/,
    ],
    [{ custom_body: '{"a": "{{#each x}}"}' }, 'custom_body', /unknown placeholder/],
    [{ custom_body: '{"a": {{title}}}' }, 'custom_body', /is not valid JSON; .*inside quotes/],
    [{ custom_body: '{"a": "\\{{title}}"}' }, 'custom_body', /is not valid JSON/],
    [{ custom_body: '{"a": "x",}' }, 'custom_body', /is not valid JSON/],
    [
      { custom_content_type: 'text/plain' },
      'custom_body',
      /is required for the content type text\/plain/,
    ],
    [
      { custom_content_type: FORM, custom_body: 'a=b c' },
      'custom_body',
      /one name=value on each line/,
    ],
    [{ custom_content_type: 'text/html' }, 'custom_content_type', /must be one of/],
    [{ custom_method: 'GET' }, 'custom_method', /must be one of POST, PUT, PATCH/],
    [
      { custom_url: 'https://example.com/{{who}}' },
      'custom_url',
      /unknown placeholder \{\{who\}\}/,
    ],
    [
      { custom_url: 'https://example.com/{{%20title%20}}' },
      'custom_url',
      /unknown placeholder \{\{%20title%20\}\}/,
    ],
    [{ custom_url: 'https://{{title}}.example/' }, 'custom_url', /valid/],
    [
      { custom_headers: 'Authorization Bearer x' },
      'custom_headers',
      /form “Name: value”, .*in line 1/,
    ],
    [
      { custom_headers: 'X-A: b\nHost: evil.example' },
      'custom_headers',
      /must not set host.*in line 2/,
    ],
    [{ custom_headers: 'content-length: 1' }, 'custom_headers', /must not set content-length/],
    [{ custom_headers: 'Content-Type: text/html' }, 'custom_headers', /must not set content-type/],
    [{ custom_headers: 'Transfer-Encoding: chunked' }, 'custom_headers', /must not set/],
    [{ custom_headers: 'Proxy-Authorization: x' }, 'custom_headers', /must not set/],
    [{ custom_headers: 'X-A: b\nx-a: c' }, 'custom_headers', /x-a is repeated in line 2/],
    [{ custom_headers: 'X-A: {{title}}' }, 'custom_headers', /must not have placeholders/],
    [{ custom_headers: 'X-A: ü' }, 'custom_headers', /form “Name: value”/],
    [{ custom_headers: 'X-A: b\rX-B: c\nX-A: d' }, 'custom_headers', /x-a is repeated in line 3/],
    [{ custom_headers: 'X-A: b\u0000' }, 'custom_headers', /control characters/],
    [{ custom_headers: 'X-A: b\u0085X-B: c' }, 'custom_headers', /control characters/],
  ];
  const base = { name: 'x', condition: 'score_below', channels: ['custom'] };
  for (const [settings, param, message] of refused) {
    const created = { ...base, custom_url: 'https://example.com/', ...settings };
    const answers = [
      await service.call('POST', '/v1/alerts', { json: created }),
      await service.call('PATCH', path, { json: settings }),
    ];
    for (const { status, body, text } of answers) {
      const { errors } = body as { errors?: { param: string; message: string }[] };
      assert.deepEqual(
        [status, errors?.[0]?.param],
        [422, param],
        `${JSON.stringify(settings)} ${text}`,
      );
      assert.match(errors![0]!.message, message, text);
    }
  }
});

test('Headers and the secret are never shown, and must be entered again for another URL', async (t) => {
  const service = customService();
  const {
    app,
    service: api,
    slack: receiver,
    makeAlert,
    complete,
    sendDue,
  } = await startAlerting(t);
  receiver.respond = () => service.revoked;
  const { origin } = new URL(receiver.url);
  const alert = await makeAlert({ channels: ['custom'], ...service.settings(origin) });
  const path = `/v1/alerts/${alert.id}`;
  assert.partialDeepStrictEqual(alert, {
    custom_host: new URL(origin).host,
    custom_headers_set: true,
    custom_secret_set: true,
  } as never);
  const owner = await memberOf(api, 'owner@example.com');
  await complete({ score: 10 });
  await sendDue();
  await owner.post(`/alerts/${alert.id}/test`);
  const page = await owner.get(`/alerts/${alert.id}`);
  assert.match(
    mainOf(page.html),
    /Custom webhook failedStatus 403: the server does not allow this/,
  );
  for (const custom_url of ['https://evil.example/', `${origin}/other`]) {
    const refused = await api.call('PATCH', path, { json: { custom_url } });
    assert.equal(refused.status, 422);
    assert.match(refused.text, /custom_headers.*must be entered again/);
  }
  const rows = await Promise.all(
    (['alerts', 'alert_notifications', 'events', 'audit_log'] as const).map((table) =>
      app.db.selectFrom(table).selectAll().execute(),
    ),
  );
  const seen = JSON.stringify([rows, alert, api.logged, page.html]);
  for (const secret of service.secrets) assert.ok(!seen.includes(secret), secret);
});

test('The form stores what was entered, but not the default of a choice', async (t) => {
  const { service, sendDue, complete, slack: receiver } = await startAlerting(t);
  const owner = await memberOf(service, 'owner@example.com');
  const typed = {
    name: 'Form',
    condition: 'score_below',
    threshold: '60',
    enabled: 'on',
    custom_method: 'POST',
    custom_content_type: 'application/json',
  };
  const plain = await owner.post('/alerts', { ...typed, channels: ['webhook'] });
  const { body } = await service.call<Alert>('GET', `/v1${plain.location!.replace(/\?.*/, '')}`);
  assert.partialDeepStrictEqual(body, { custom_method: null, custom_content_type: null } as never);
  const own = await owner.post('/alerts', {
    ...typed,
    channels: ['custom'],
    custom_url: `${new URL(receiver.url).origin}/form`,
    custom_method: 'PATCH',
    custom_headers: 'X-One: 1\r\n\r\nX-Two: 2\r\n',
    custom_body: '{\r\n"a": "{{title}}"\r\n}',
  });
  assert.equal(own.status, 303, mainOf(own.html));
  await complete({ score: 10 });
  await sendDue();
  const [request] = receiver.requests;
  assert.deepEqual(
    [request!.method, request!.headers['x-one'], request!.headers['x-two']],
    ['PATCH', '1', '2'],
  );
  assert.match(JSON.parse(request!.body).a, /^Alert: /);
});

test('Disabling a rule resolves its incidents at a custom webhook, with the old secrets if they changed', async (t) => {
  const service = customService();
  const { slack: receiver, makeAlert, complete, sendDue, service: api } = await startAlerting(t);
  receiver.respond = (request) => service.respond(request);
  const { origin } = new URL(receiver.url);
  const { id } = await makeAlert({ channels: ['custom', 'email'], ...service.settings(origin) });
  await complete({ score: 10 });
  await sendDue();
  const change = {
    channels: ['email'],
    custom_url: null,
    custom_headers: null,
    custom_secret: null,
    custom_body: null,
  };
  const changed = await api.call('PATCH', `/v1/alerts/${id}`, { json: change });
  assert.equal(changed.status, 200, changed.text);
  await sendDue();
  assert.deepEqual(
    service.shown.map(({ state }) => state),
    ['closed'],
  );
});

/** A server without TLS, as Gotify and ntfy often are at home. */
async function startPlain(t: TestContext) {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      bodies.push(`${request.url} ${body}`);
      response.setHeader('content-type', 'application/json').end('{"id": "1", "event": "message"}');
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => server.close());
  return { bodies, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('A server without TLS gets alerts if its private network is allowed', async (t) => {
  const plain = await startPlain(t);
  const { service, makeAlert, complete, sendDue, incidents } = await startAlerting(t);
  await makeAlert({
    channels: ['custom', 'ntfy'],
    custom_url: `${plain.url}/message?token=AbC`,
    ntfy_server_url: plain.url,
    ntfy_topic: 'alerts',
  });
  await complete({ score: 10 });
  await sendDue();
  assert.deepEqual(plain.bodies.map((body) => body.slice(0, 10)).sort(), [
    '/ {"topic"',
    '/message?t',
  ]);
  const [incident] = await incidents();
  assert.deepEqual(
    incident!.notifications.map(({ status }) => status),
    ['sent', 'sent'],
    JSON.stringify(incident),
  );
  const refused = await service.call('POST', '/v1/alerts', {
    json: {
      name: 'x',
      condition: 'score_below',
      channels: ['custom'],
      custom_url: 'http://10.0.0.1/',
    },
  });
  assert.equal(refused.status, 422);
  assert.match(refused.text, /must start with https:\/\/: .*DELIVERABILITY_WEBHOOK_ALLOW_NETWORKS/);
});

test('Without an allowed network, saving an http URL fails, and the error names the variable', async (t) => {
  const { service } = await startAlerting(t, {
    env: { DELIVERABILITY_WEBHOOK_ALLOW_NETWORKS: '', DELIVERABILITY_SLACK_WEBHOOK_URL: '' },
  });
  for (const custom_url of ['http://gotify.lan/', 'http://example.com/', 'http://127.0.0.1/']) {
    const json = { name: 'x', condition: 'score_below', channels: ['custom'], custom_url };
    const { status, text } = await service.call('POST', '/v1/alerts', { json });
    assert.equal(status, 422);
    assert.match(text, /private networks that your administrator allows \(DELIVERABILITY_WEBHOOK_/);
  }
});

// The examples of docs/alerts.md, at services that refuse what the real ones refuse.

interface Example {
  settings: Record<string, string>;
  /** Throws if the service would refuse the request. Returns the text that it shows. */
  accept(request: Received): string;
}

const json = ({ headers, body }: Received) => {
  assert.match(headers['content-type']!, /^application\/json\b/);
  return JSON.parse(body);
};
const form = ({ headers, body }: Received) => {
  assert.match(headers['content-type']!, /^application\/x-www-form-urlencoded\b/);
  return Object.fromEntries(new URLSearchParams(body));
};
const FORM_TYPE = { custom_content_type: 'application/x-www-form-urlencoded' };

const EXAMPLES: Record<string, Example> = {
  Gotify: {
    settings: {
      custom_url: '/message',
      custom_body: '{"title": "{{title}}", "message": "{{message}}", "priority": 8}',
      custom_headers: 'X-Gotify-Key: AbCdEf123456',
    },
    accept(request) {
      assert.equal(request.headers['x-gotify-key'], 'AbCdEf123456');
      const { title, message, priority } = json(request);
      assert.ok(typeof priority === 'number' && message !== '');
      return title + message;
    },
  },
  'Home Assistant': {
    settings: {
      custom_url: '/api/services/notify/mobile_app_phone',
      custom_body:
        '{"title": "{{title}}", "message": "{{lead}}", "data": {"tag": "{{incident_id}}", "url": "{{url}}"}}',
      custom_headers: 'Authorization: Bearer eyJhbGciOi',
    },
    accept(request) {
      assert.equal(request.headers.authorization, 'Bearer eyJhbGciOi');
      const { title, message, data, ...others } = json(request);
      assert.deepEqual(others, {});
      assert.match(data.tag, /^inc_/);
      return title + message;
    },
  },
  Zulip: {
    settings: {
      ...FORM_TYPE,
      custom_url: '/api/v1/messages',
      custom_body: 'type=stream\nto=mail\ntopic={{subject}}\ncontent={{message}}',
      custom_headers: `Authorization: Basic ${btoa('bot@zulip.example.com:KEY')}`,
    },
    accept(request) {
      assert.match(request.headers.authorization!, /^Basic /);
      const { type, to, topic, content } = form(request);
      assert.deepEqual([type, to, topic], ['stream', 'mail', 'example.com']);
      return content!;
    },
  },
  Matrix: {
    settings: {
      custom_url:
        '/_matrix/client/v3/rooms/!AbC:example.com/send/m.room.message/{{notification_id}}',
      custom_method: 'PUT',
      custom_body: '{"msgtype": "m.text", "body": "{{title}}\\n\\n{{message}}"}',
      custom_headers: 'Authorization: Bearer syt_abc',
    },
    accept(request) {
      assert.equal(request.method, 'PUT');
      assert.match(request.path, /\/send\/m\.room\.message\/ntf_\w+$/);
      const { msgtype, body } = json(request);
      assert.equal(msgtype, 'm.text');
      return body;
    },
  },
  Pushover: {
    settings: {
      ...FORM_TYPE,
      custom_url: '/1/messages.json',
      custom_secret: 'azGDORePK8gMaC0QOYAMyEEuzJnyUi',
      custom_body:
        'token={{secret}}\nuser=YOUR_USER_KEY\ntitle={{title}}\nmessage={{lead}}\nurl={{url}}',
    },
    accept(request) {
      const { token, user, title, message, url } = form(request);
      assert.deepEqual([token, user], ['azGDORePK8gMaC0QOYAMyEEuzJnyUi', 'YOUR_USER_KEY']);
      assert.ok(message!.length <= 1024 && title!.length <= 250 && url!.length <= 512);
      return title! + message!;
    },
  },
};

for (const [name, { settings, accept }] of Object.entries(EXAMPLES))
  test(`The documented example for ${name} sends a request that it accepts`, async (t) => {
    const docs = readFileSync(new URL('../../../docs/alerts.md', import.meta.url), 'utf8');
    const section = docs.split(`**${name}**`)[1]!.split('\n**')[0]!;
    for (const line of settings.custom_body!.startsWith('{')
      ? [settings.custom_body!, settings.custom_url!]
      : [settings.custom_url!, ...settings.custom_body!.split('\n')])
      assert.ok(section.includes(line), `${line} is not documented`);
    const { slack: receiver, makeAlert, complete, sendDue, incidents } = await startAlerting(t);
    const { origin } = new URL(receiver.url);
    const custom_url = origin + settings.custom_url;
    await makeAlert({ channels: ['custom'], ...settings, custom_url });
    const shown: string[] = [];
    receiver.respond = (request) => {
      try {
        shown.push(accept(request));
        return 200;
      } catch (error) {
        return { status: 400, body: String(error) };
      }
    };
    await complete({ score: 10 });
    await sendDue();
    const [incident] = await incidents();
    assert.deepEqual(incident!.notifications[0]!.error, null);
    assert.match(shown[0]!, /example\.com|score/);
  });
