/** What each service says when it refuses a message: the words on the page, and whether the message is retried. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Reply, startReceiver } from '../../helpers/receiver.ts';
import { startAlerting } from '../alerting.ts';
import { appriseService, customService, SERVICES, slackCompatibleService } from './services.ts';

const HOUR_MS = 3_600_000;

type Row = [reply: Reply, said: RegExp, isRetried: boolean];

const text = (status: number, body: string): Reply => ({
  status,
  headers: { 'content-type': 'text/html' },
  body,
});
const json = (status: number, body: unknown): Reply => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

// docs.slack.dev, “Sending messages using incoming webhooks”, “Handling errors”.
const SLACK: Row[] = [
  [text(404, 'no_service'), /^status 404: the webhook was removed or disabled; create/, false],
  [text(404, 'no_service_id'), /the webhook was removed or disabled; create a new one/, false],
  [text(404, 'no_active_hooks'), /the webhook was removed or disabled/, false],
  [text(403, 'invalid_token'), /^status 403: the webhook URL is wrong, or was revoked/, false],
  [text(404, 'no_team'), /the Slack workspace no longer exists or is disabled/, false],
  [text(403, 'team_disabled'), /the Slack workspace no longer exists or is disabled/, false],
  [text(404, 'channel_not_found'), /the Slack channel was deleted, or/, false],
  [text(410, 'channel_is_archived'), /^status 410: .* archived; unarchive it/, false],
  [text(403, 'action_prohibited'), /does not let the webhook post there; ask an admin/, false],
  [text(403, 'posting_to_general_channel_denied'), /only admins can post to #general/, false],
  [text(400, 'invalid_payload'), /^status 400: Slack rejected the format of the message/, false],
  [text(400, 'invalid_blocks'), /rejected the format of the message.*“invalid_blocks”/, false],
  [text(400, 'no_text'), /the message was rejected; .*“no_text”/, false],
  [text(400, 'too_many_attachments'), /the message was rejected; check/, false],
  [text(400, 'user_not_found'), /the recipient no longer exists in Slack/, false],
  [text(400, 'a_word_of_tomorrow'), /the message was rejected; .*“a_word_of_tomorrow”/, false],
  [text(500, 'rollup_error'), /Slack had an error of its own, and may accept/, true],
  [text(500, 'server_error'), /^status 500: the server had an internal error/, true],
  [text(404, '<html>Not Found</html>'), /^status 404: the webhook was removed/, true],
  [text(503, ''), /^status 503: the server is unavailable/, true],
];

/** Since version 7.10, the `id` is the same for all of them, and the status tells them apart. */
const mattermost = (status: number, id = 'web.incoming_webhook.general.app_error'): Reply =>
  json(status, {
    id,
    message:
      'Failed to handle the payload of media type application/json for incoming webhook very-secret-hook.',
    detailed_error: '',
    request_id: 'k9w5bq7h3tfmzc1n8xprdyeu4o',
    status_code: status,
  });
const MATTERMOST: Row[] = [
  [mattermost(400), /^status 400: Mattermost does not know the webhook/, false],
  [
    mattermost(400, 'web.incoming_webhook.invalid.app_error'),
    /Mattermost does not know the webhook, .*for incoming webhook …\.”\)$/,
    false,
  ],
  [mattermost(403), /check that its creator is active and can post/, false],
  [mattermost(404), /the Mattermost channel was deleted/, false],
  [mattermost(413), /too long for Mattermost/, false],
  [mattermost(501), /incoming webhooks are disabled in Mattermost/, false],
  [mattermost(500), /^status 500: the server had an internal error/, true],
  [json(404, { message: 'Gone.' }), /the webhook was removed or disabled; .*“Gone\.”/, false],
];

const ROCKET_CHAT: Row[] = [
  [
    json(404, { success: false, error: 'Invalid integration id or token provided.' }),
    /Rocket\.Chat does not know the webhook; create a new one/,
    false,
  ],
  [
    json(400, { success: false, error: 'Invalid integration id or token provided.' }),
    /Rocket\.Chat does not know the webhook/,
    false,
  ],
  [
    json(503, { success: false, error: 'Service Unavailable' }),
    /the integration is disabled in Rocket\.Chat; enable it/,
    false,
  ],
  [
    json(400, { success: false, error: 'invalid-channel' }),
    /check the webhook and its channel.*“invalid-channel”/,
    false,
  ],
  [json(503, { error: 'Service Unavailable' }), /^status 503: the server is unavailable/, true],
];

// github.com/caronc/apprise-api, apprise_api/api/views.py and responses.py.
const APPRISE: Row[] = [
  [{ status: 204 }, /^status 204: Apprise has nothing to notify: it stores no config/, false],
  [json(400, { error: 'Payload lacks minimum requirements' }), /check the key, the tag/, false],
  [json(401, { error: 'Access Denied' }), /requires a user and password/, false],
  [
    text(401, '<html><head><title>401 Authorization Required</title></head></html>'),
    /^status 401: Apprise requires a user and password, or rejects them; enter them again$/,
    false,
  ],
  [
    json(403, { error: 'The site has been configured to deny this request' }),
    /Apprise does not allow this/,
    false,
  ],
  [json(404, { error: 'Not found' }), /this is not an Apprise API server/, false],
  [json(406, { error: 'The recursion limit has been reached' }), /on to itself/, false],
  [json(431, { error: 'JSON Payload provided is too large' }), /too long for Apprise/, false],
  [
    json(424, { error: 'One or more notification could not be sent', details: [] }),
    /could not reach one of its services.*All get the message again/,
    true,
  ],
  [json(500, { error: 'An error occurred accessing configuration' }), /internal error/, true],
  [text(404, '404 page not found'), /^status 404: this is not an Apprise API server/, true],
  [text(200, '<!doctype html>Welcome'), /not a response of this service; check its URL/, true],
];

/** As endpoints of webhooks: nobody knows what a status of such a service means. */
const CUSTOM: Row[] = [
  [json(400, { error: 'title is missing' }), /^status 400: .*rejected.*“.*title is missing/, true],
  [
    json(401, { message: 'bad token very-secret-header' }),
    /^status 401: the server requires a valid token or password \(“\{"message":"bad token …"\}”\)/,
    true,
  ],
  [
    text(404, 'no such page'),
    /^status 404: the server found nothing at this URL; check the URL/,
    true,
  ],
  [text(405, ''), /^status 405: the server does not accept this method; check the URL$/, true],
  [text(302, ''), /^status 302: redirects are not followed/, true],
  [text(418, 'teapot\n\u0000'), /^status 418: only 2xx counts as success \(“teapot/, true],
];

const TELEGRAM: Row[] = [
  [
    json(400, { ok: false, error_code: 400, description: 'Bad Request: chat not found' }),
    /check the chat ID, and that the bot is in the chat/,
    false,
  ],
  [
    json(403, { ok: false, error_code: 403, description: 'Forbidden: bot was kicked' }),
    /the bot can’t write to the chat; add it/,
    false,
  ],
  [json(401, { ok: false, description: 'Unauthorized' }), /the bot token is invalid/, false],
];

for (const [name, id, service, rows] of [
  ['Slack', 'slack', slackCompatibleService(5000), SLACK],
  ['Mattermost', 'slack', slackCompatibleService(5000), MATTERMOST],
  ['Rocket.Chat', 'slack', slackCompatibleService(5000), ROCKET_CHAT],
  ['Apprise', 'apprise', appriseService(), APPRISE],
  ['Telegram', 'telegram', SERVICES.telegram(), TELEGRAM],
  ['a custom webhook', 'custom', customService(), CUSTOM],
] as const)
  test(`Each error of ${name} says what to do, and is retried only if that can help`, async (t) => {
    const alerting = await startAlerting(t);
    const { slack: receiver, makeAlert, complete, sendDue, app, clock } = alerting;
    await makeAlert({ channels: [id], ...service.settings(new URL(receiver.url).origin) });
    for (const [index, [reply, said, isRetried]] of rows.entries()) {
      receiver.respond = () => reply;
      await complete({ score: 10, from_domain: `d${index}.example` });
      await sendDue();
      const row = await app.db
        .selectFrom('alert_notifications')
        .select(['status', 'error'])
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirstOrThrow();
      const shown = `${JSON.stringify(reply)}: ${row.error}`;
      assert.match(row.error!, said, shown);
      assert.equal(row.status, isRetried ? 'queued' : 'failed', shown);
      for (const secret of service.secrets) assert.ok(!row.error!.includes(secret), shown);
    }
    // What is final stays so, and the rest arrives.
    const before = receiver.requests.length;
    receiver.respond = (request) => service.respond(request);
    clock.advance(HOUR_MS);
    for (let round = 0; round < rows.length; round++) await sendDue();
    const retried = rows.filter(([, , isRetried]) => isRetried).length;
    assert.equal(receiver.requests.length - before, retried);
    assert.equal(service.shown.length, retried);
  });

test('A custom webhook with Retry-After gets the message then, and no earlier', async (t) => {
  const service = customService();
  const { slack: receiver, makeAlert, complete, sendDue, clock } = await startAlerting(t);
  await makeAlert({ channels: ['custom'], ...service.settings(new URL(receiver.url).origin) });
  receiver.respond = () => service.throttled(600);
  await complete({ score: 10 });
  await sendDue();
  receiver.respond = (request) => service.respond(request);
  clock.advance(599_000);
  await sendDue();
  assert.equal(receiver.requests.length, 1);
  clock.advance(2000);
  await sendDue();
  assert.equal(service.shown.length, 1);
});

test('The default Slack URL of the server stays secret when its service repeats it', async (t) => {
  const receiver = await startReceiver(t);
  receiver.respond = ({ path }) => json(400, { success: false, error: `no ${path} here` });
  const { makeAlert, complete, sendDue, app, service } = await startAlerting(t, {
    env: {
      ...receiver.env,
      DELIVERABILITY_SLACK_WEBHOOK_URL: `${receiver.url}/very-secret-default`,
    },
  });
  await makeAlert({ channels: ['slack'] });
  await complete({ score: 10 });
  await sendDue();
  const [row] = await app.db.selectFrom('alert_notifications').selectAll().execute();
  assert.match(row!.error!, /“no \/hooks\/… here”/);
  assert.doesNotMatch(JSON.stringify([row, service.logged]), /very-secret-default/);
});
