/** Runs every command of the API reference in a shell, exactly as shown. */

// @one-database: about the commands; every operation runs on both in another test.

// @isolated: it adds a kind of name server before the schema of the API is built.

import '../dns-changes/memory-server.ts';

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { execFile } from '../../scripts/programs.ts';
import { curlsOf } from '../../src/dashboard/docs/curl.ts';
import { readReference } from '../../src/dashboard/docs/operations.ts';
import { EXAMPLE_TOKEN } from '../../src/dns-changes/schema.ts';
import { exampleId } from '../../src/http/schemas.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import { insertPasswordLink } from '../../src/team/passwords.ts';
import { insertSession } from '../../src/team/sessions.ts';
import { completeTest } from '../alerts/alerting.ts';
import { memory } from '../dns-changes/memory-server.ts';
import { dmarc, gzip, tls, zip } from '../feedback/reading/builders.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { insertAssistant } from '../oauth-server/freshly-connected.ts';
import { startAccounts } from '../receivers/accounts.ts';
import { accept, invite, tokenOf } from '../team/team-service.ts';

const BASE_URL = 'http://api.example';
const run = promisify(execFile);

type Variables = Record<string, string>;

/** What creates fresh objects, by the variables with their IDs that the commands use. */
const FRESH: [
  names: string,
  create: (service: TestService, nth: number, url: string) => Promise<Variables>,
][] = [
  ['TEST_ID', async (service) => ({ TEST_ID: await freshTest(service) })],
  ['INBOX_ID', ({ call }) => created(call, 'INBOX_ID', '/v1/tests', { reusable: true })],
  ['API_KEY_ID', ({ call }) => created(call, 'API_KEY_ID', '/v1/api_keys', { name: 'x' })],
  ['CONNECTED_ASSISTANT_ID', freshAssistant],
  ['MEMBER_ID', async ({ makeMember }) => ({ MEMBER_ID: (await makeMember('member')).id })],
  ['INVITATION_ID', freshInvitation],
  ['SESSION_ID SESSION', freshSessions],
  ['ENDPOINT_ID DELIVERY_ID EVENT_ID', freshDelivery],
  ['DOMAIN_ID MONITOR_ID SCHEDULE_ID ALERT_ID', freshMonitoring],
  ['SHARED_ID TOKEN NAME', freshShare],
  ['REPORT_ID REPORTER_ID SOURCE_ID', freshReport],
  ['RECEIVER_ID', receiverToFetch],
  ['DNS_SERVER_ID DNS_CHANGE_ID', freshDnsChange],
  ['MAILBOX_ID', freshMailbox],
];

async function freshAssistant(service: TestService): Promise<Variables> {
  const { id } = await insertAssistant(service, (await service.makeMember('member')).id);
  return { CONNECTED_ASSISTANT_ID: id };
}

/** Creates the fresh objects that a command uses. */
async function freshObjects(
  service: TestService,
  nth: number,
  url: string,
  isUsed: (variable: string) => boolean,
): Promise<Variables> {
  const variables: Variables = { API_KEY: service.key };
  for (const [names, create] of FRESH)
    if (names.split(' ').some(isUsed)) Object.assign(variables, await create(service, nth, url));
  return variables;
}

async function created(
  call: TestService['call'],
  variable: string,
  path: string,
  json: object,
): Promise<Variables> {
  const { status, text, body } = await call<{ id: string }>('POST', path, { json });
  assert.equal(status, 201, text);
  return { [variable]: body.id };
}

async function freshTest(service: TestService): Promise<string> {
  const { body } = await service.call<Test>('POST', '/v1/tests', {
    body: goodMessage(),
    headers: { 'content-type': 'message/rfc822' },
  });
  assert.equal((await service.getTest(body.id, '?wait=20')).status, 'completed');
  return body.id;
}

async function freshInvitation(service: TestService, nth: number) {
  const { body } = await invite(service, { email: `invited${nth}@example.com` });
  return { INVITATION_ID: body.id };
}

async function freshSessions({ app, call }: TestService) {
  const ownerId = (await call<{ member: { id: string } }>('GET', '/v1/me')).body.member.id;
  const startSession = () =>
    app.db
      .transaction()
      .execute((tx) => insertSession(tx, app, ownerId, { ip: null, userAgent: null }));
  return { SESSION_ID: (await startSession()).row.id, SESSION: (await startSession()).token };
}

/** Creates an endpoint with a completed delivery; adds the newest event. */
async function freshDelivery({ call }: TestService, _nth: number, url: string) {
  const { body: endpoint } = await call<{ id: string }>('POST', '/v1/webhooks/endpoints', {
    json: { url, events: ['*'] },
  });
  const { body: sample } = await call<{ id: string }>(
    'POST',
    `/v1/webhooks/endpoints/${endpoint.id}/test`,
  );
  await call('GET', `/v1/webhooks/deliveries/${sample.id}?wait=20`);
  const { body: events } = await call<{ data: { id: string }[] }>('GET', '/v1/events?limit=1');
  return { ENDPOINT_ID: endpoint.id, DELIVERY_ID: sample.id, EVENT_ID: events.data[0]!.id };
}

/** Creates a shared link. Its token is also the name of its badge. */
async function freshShare(service: TestService) {
  const json = { test_ids: [await freshTest(service)] };
  const { body } = await service.call<{ id: string; token: string }>('POST', '/v1/reports/share', {
    json,
  });
  return { SHARED_ID: body.id, TOKEN: body.token, NAME: body.token };
}

/** Creates a domain, a monitor, a schedule and an alert. */
async function freshMonitoring({ call }: TestService, nth: number) {
  const monitor = { name: 'x', type: 'blocklist', targets: ['example.com'] };
  const schedule = { name: 'x', frequency: 'daily', recipients: ['reader@example.com'] };
  const alert = { name: 'x', condition: 'auth_fail', channels: ['webhook'] };
  return {
    ...(await created(call, 'DOMAIN_ID', '/v1/domains', { name: `d${nth}.example` })),
    ...(await created(call, 'MONITOR_ID', '/v1/monitors', monitor)),
    ...(await created(call, 'SCHEDULE_ID', '/v1/reports/schedules', schedule)),
    ...(await created(call, 'ALERT_ID', '/v1/alerts', alert)),
  };
}

/** The ID of an open incident, which a result without authentication opened. */
async function openIncident({ app, call }: TestService): Promise<string> {
  const rule = { name: 'x', condition: 'auth_fail', channels: ['webhook'] };
  const { body: alert } = await call<{ id: string }>('POST', '/v1/alerts', { json: rule });
  await completeTest(app, { dmarc: 'fail' });
  const path = `/v1/alert_incidents?alert_id=${alert.id}`;
  const { body: incidents } = await call<{ data: { id: string }[] }>('GET', path);
  return incidents.data[0]!.id;
}

/** An account that was not fetched within the last minute. */
async function receiverToFetch({ app }: TestService) {
  await app.db.updateTable('receivers').set({ attempted_at: null }).execute();
  return { RECEIVER_ID: 'google_postmaster' };
}

/** Uploads a report about a new domain, which has a source. */
async function freshReport({ app, call }: TestService, nth: number) {
  const domain = await call<{ id: string }>('POST', '/v1/domains', {
    json: { name: `r${nth}.example` },
  });
  const policy = `<policy_published><domain>r${nth}.example</domain><p>none</p></policy_published>`;
  const { body } = await call<{ data: { id: string; reporter_id: string }[] }>(
    'POST',
    '/v1/feedback/reports',
    { body: dmarc({ policy }), headers: { 'content-type': 'application/octet-stream' } },
  );
  const { id, reporter_id } = body.data[0]!;
  const source = await app.db
    .insertInto('feedback_sources')
    .values({
      id: app.newId('src'),
      domain_id: domain.body.id,
      key: 'host example.net',
      name: 'example.net',
      evidence: 'x',
      mark: null,
      label: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { REPORT_ID: id, REPORTER_ID: reporter_id, SOURCE_ID: source.id };
}

/** Publishes the verification record of a new domain at a new name server. */
async function freshDnsChange({ call }: TestService, nth: number) {
  const domain = await created(call, 'id', '/v1/domains', { name: `n${nth}.example` });
  const settings = { memory_room: 'x', memory_password: memory.password };
  const json = { kind: 'memory', name: `fresh${nth}`, settings };
  const server = await created(call, 'DNS_SERVER_ID', '/v1/dns_servers', json);
  const path = `/v1/domains/${domain.id}`;
  const source = { server_id: server.DNS_SERVER_ID };
  const plan = await call<{ token: string }>('POST', `${path}/dns_plan`, { json: source });
  const { body, text } = await call<{ data: { id: string }[] }>('POST', `${path}/dns_apply`, {
    json: { ...source, token: plan.body.token },
  });
  assert.ok(body.data, text);
  return { ...server, DNS_CHANGE_ID: body.data[0]!.id };
}

/** Its server cannot be reached, so that its import waits for the next attempt. */
async function freshMailbox({ call }: TestService, nth: number) {
  const json = {
    name: `fresh${nth}`,
    host: 'imap.example.com',
    username: 'ann',
    password: 'secret',
  };
  return created(call, 'MAILBOX_ID', '/v1/feedback/mailboxes', json);
}

/** A domain in place of that of the example. */
const realDomain = async ({ call }: TestService): Promise<[string, string]> => {
  const { body } = await call<{ data: { id: string }[] }>('GET', '/v1/domains?limit=1');
  return [exampleId('dom'), body.data[0]!.id];
};

/** Real values for placeholders in examples, such as tokens and members, by operation. */
const REAL_VALUES: Record<
  string,
  (service: TestService) => Promise<[shown: string, real: string]>
> = {
  async acceptInvitation(service) {
    const link = tokenOf(await invite(service, { email: 'new@example.com' }));
    return ['the-token-of-the-link', link];
  },
  async postTlsReport({ call }) {
    const { body } = await call<{ data: { id: string }[] }>('GET', '/v1/domains?limit=1');
    const domain = await call<{ feedback: { address: string } }>(
      'GET',
      `/v1/domains/${body.data[0]!.id}`,
    );
    return ['$TOKEN', domain.body.feedback.address.slice(3, 19)];
  },
  tagDomains: realDomain,
  listFeedbackSources: realDomain,
  exportFeedbackSources: realDomain,
  getDmarcAdvice: realDomain,
  listUnconfirmedReporters: realDomain,
  getDmarcFeedback: realDomain,
  exportDmarcFeedback: realDomain,
  getDmarcReporters: realDomain,
  getTlsFeedback: realDomain,
  getReceiverStats: realDomain,
  getCompliance: realDomain,
  exportTlsFeedback: realDomain,
  exportTlsFailures: realDomain,
  getComplaintSummary: realDomain,
  getBounceSummary: realDomain,
  async createSession(service) {
    const link = tokenOf(await invite(service, { email: 'here@example.com' }));
    await accept(service, link, { password: 'four words make one' });
    return ['alex@example.com', 'here@example.com'];
  },
  async confirmPasswordReset({ app, makeMember }) {
    const { id } = await makeMember('member');
    const { token } = await app.db
      .transaction()
      .execute((tx) => insertPasswordLink(tx, app, id, 60_000));
    return ['the-token-of-the-link', token];
  },
  /** The name server and the token of a plan, which stand beside each other. */
  async applyDnsChanges(service) {
    const { call } = service;
    const { body: domains } = await call<{ data: { id: string; name: string }[] }>(
      'GET',
      '/v1/domains?limit=100',
    );
    const { body: servers } = await call<{ data: { id: string }[] }>('GET', '/v1/dns_servers');
    const domain = domains.data.find(({ name }) => /^d\d+\.example$/.test(name))!;
    const server_id = servers.data[0]!.id;
    const plan = await call<{ token: string }>('POST', `/v1/domains/${domain.id}/dns_plan`, {
      json: { server_id },
    });
    const line = (id: string, token: string) => `${id}",\n    "token": "${token}`;
    return [line(exampleId('dns'), EXAMPLE_TOKEN), line(server_id, plan.body.token)];
  },
  async applyVerificationRecords({ call }) {
    const { body: servers } = await call<{ data: { id: string }[] }>('GET', '/v1/dns_servers');
    const path = `/v1/dns_servers/${servers.data[0]!.id}/verification_plan`;
    return [EXAMPLE_TOKEN, (await call<{ token: string }>('POST', path)).body.token];
  },
  async shareReport({ call }) {
    const { body } = await call<{ data: Test[] }>('GET', '/v1/tests?status=completed&limit=1');
    return [exampleId('test'), body.data[0]!.id];
  },
  async transferOwnership({ makeMember }) {
    return [exampleId('mem'), (await makeMember('admin')).id];
  },
};

test('Every curl command of the API reference works as shown', {
  skip: skipUnlessInstalled('curl'),
}, async (t) => {
  const receiver = await startReceiver(t);
  const { env: accounts } = await startAccounts(t, systemClock.now());
  const service = await startTestService(t, {
    env: { ...receiver.env, ...accounts, DELIVERABILITY_BASE_URL: BASE_URL },
  });
  const { folder, http, call } = service;
  const rc = `fail\nsilent\nshow-error\nconnect-to = "api.example:80:127.0.0.1:${http.port}"\n`;
  writeFileSync(join(folder, '.curlrc'), rc);
  writeFileSync(join(folder, 'message.eml'), goodMessage());
  writeFileSync(join(folder, 'report.xml.gz'), gzip(dmarc()));
  writeFileSync(join(folder, 'report.xml'), dmarc());
  writeFileSync(join(folder, 'report.zip'), zip([{ name: 'report.xml', data: dmarc() }]));
  writeFileSync(join(folder, 'report.json.gz'), gzip(tls()));
  const document = (await call('GET', '/openapi.json')).body;
  const incident = await openIncident(service);
  const operations = readReference(document).groups.flatMap((group) => group.operations);
  // The transfer comes last: afterwards, the key no longer has the role owner.
  operations.sort((a, b) => Number(isTransfer(a)) - Number(isTransfer(b)));
  let commands = 0;
  for (const operation of operations.filter(({ operationId }) => !OUTSIDE.includes(operationId)))
    for (const shown of curlsOf(operation, BASE_URL)) {
      const needsReal = operation.operationId in REAL_VALUES;
      // The first command creates objects of all kinds, so that no list is empty.
      const isUsed = (variable: string) =>
        commands === 0 || needsReal || shown.includes(`$${variable}`);
      const objects = await freshObjects(service, commands, receiver.url, isUsed);
      commands += 1;
      const env: Variables = { ...objects, ALERT_INCIDENT_ID: incident };
      const [example, real] = (await REAL_VALUES[operation.operationId]?.(service)) ?? ['', ''];
      assert.ok(shown.includes(example), shown);
      const command = shown.replace(example, real);
      const options = { cwd: folder, env: { PATH: process.env.PATH, CURL_HOME: folder, ...env } };
      // With `fail`, curl exits with an error status unless the request succeeds.
      await assert.doesNotReject(run('bash', ['-euc', command], options), command);
      // The service allows at most a hundred of each.
      for (const [variable, path] of LIMITED)
        if (env[variable]) await service.call('DELETE', `${path}/${env[variable]}`);
    }
  assert.ok(commands > 30);
});

/** They need a verified domain, or an unsubscribe link on the internet. */
const OUTSIDE = ['findHostedHost', 'updateHostedFiles', 'tryUnsubscribeLink'];

const LIMITED = [
  ['DNS_SERVER_ID', '/v1/dns_servers'],
  ['MAILBOX_ID', '/v1/feedback/mailboxes'],
  ['ENDPOINT_ID', '/v1/webhooks/endpoints'],
  ['ALERT_ID', '/v1/alerts'],
  ['SCHEDULE_ID', '/v1/reports/schedules'],
] as const;

const isTransfer = ({ operationId }: { operationId: string }) =>
  operationId === 'transferOwnership';
