/** Sends valid and invalid requests to every documented operation and validates the responses. */

// @isolated: it adds a kind of name server before the schema of the API is built.

import '../dns-changes/memory-server.ts';

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { ROUTES } from '../../src/features.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { memory } from '../dns-changes/memory-server.ts';
import { dmarc, tls } from '../feedback/reading/builders.ts';
import { addConfirmed } from '../feedback/start.ts';
import { type ApiResponse, type CallOptions, startTestService } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { type Receiver, startReceiver } from '../helpers/receiver.ts';
import { documentValidator } from '../http/document-validator.ts';
import { insertAssistant } from '../oauth-server/freshly-connected.ts';
import { startMailSink } from '../outbox/mail-sink.ts';
import { startAccounts } from '../receivers/accounts.ts';
import { browserOf, givePassword, PASSWORD, type Session } from '../team/browser.ts';
import { ageMail, type Invitation, type Member } from '../team/team-service.ts';

type Asked = <T = Record<string, string>>(
  method: string,
  path: string,
  status: number,
  options?: CallOptions,
) => Promise<ApiResponse<T>>;

interface Walk {
  ask: Asked;
  /** Operations that have succeeded. */
  succeeded: Set<string>;
  document: { paths: Record<string, Record<string, { operationId: string; security: object[] }>> };
  service: Awaited<ReturnType<typeof startTestService>>;
  receiver: Receiver;
  resetToken(): Promise<string>;
}

async function startWalk(t: TestContext): Promise<Walk> {
  const sink = await startMailSink(t);
  const receiver = await startReceiver(t);
  const accounts = await startAccounts(t, systemClock.now());
  const service = await startTestService(t, {
    env: {
      ...receiver.env,
      ...accounts.env,
      DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
      DELIVERABILITY_MAIL_FROM: 'no-reply@example.com',
    },
  });
  const served = await service.call('GET', '/openapi.json', { key: null });
  const { check } = documentValidator(served.body);
  const succeeded = new Set<string>();
  return {
    service,
    receiver,
    succeeded,
    document: served.body as never,
    async ask(method, path, status, options) {
      const answer = await service.call(method, path, options);
      const operation = check(method, path, answer);
      assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`);
      if (status < 300) succeeded.add(operation);
      return answer as never;
    },
    async resetToken() {
      const [, token] = await sink.waitFor(/\/password\/([\w-]+)/);
      return token!;
    },
  };
}

async function walkHealth({ ask }: Walk) {
  for (const path of ['/healthz', '/readyz', '/status', '/v1/status', '/v1/capabilities'])
    await ask('GET', path, 200, { key: null });
}

async function walkTests({ ask }: Walk) {
  const made = await ask('POST', '/v1/tests', 201, { json: { name: 'One' } });
  const sent = await ask('POST', '/v1/tests/raw?client_ip=192.0.2.1&helo=a', 201, {
    body: goodMessage({
      'List-Unsubscribe': '<https://news.example.com/u>',
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    }),
    headers: { 'content-type': 'message/rfc822' },
  });
  await ask('POST', '/v1/tests/receipt', 200, {
    body: goodMessage(),
    headers: { 'content-type': 'message/rfc822' },
  });
  const path = `/v1/tests/${sent.body.id}`;
  const done = await ask('GET', `${path}?wait=50`, 200);
  assert.equal(done.body.status, 'completed');
  const etag = done.headers.get('etag')!;
  await ask('PATCH', path, 412, { json: { name: 'x' }, headers: { 'if-match': '"old"' } });
  await ask('PATCH', path, 200, { json: { metadata: { a: 'b' } }, headers: { 'if-match': etag } });
  await ask('GET', '/v1/tests?limit=1', 200);
  await ask('GET', '/v1/tests/export', 200);
  await ask('GET', '/v1/tests/export', 200, { headers: { accept: 'application/x-ndjson' } });
  for (const part of ['source', 'history', 'preview', 'preview.html', 'report.html', 'report.pdf'])
    await ask('GET', `${path}/${part}`, 200);
  await ask('GET', `${path}/history?starting_after=test_none`, 400);
  await ask('POST', `/v1/tests/${made.body.id}/reanalyze`, 409);
  await ask('POST', `${path}/reanalyze`, 200);
  await ask('POST', `${path}/reanalyze`, 200, { json: { kind: 'marketing' } });
  await ask('POST', `${path}/reanalyze`, 422, { json: { kind: 'spam' } });
  await ask('GET', `${path}/images`, 200);
  await ask('POST', `/v1/tests/${made.body.id}/images`, 409);
  await ask('POST', `${path}/images`, 200);
  await ask('DELETE', `${path}/images`, 200);
  await ask('GET', `${path}/unsubscribe_tries`, 200);
  const tries = { json: { method: 'GET' } };
  await ask('POST', `/v1/tests/${made.body.id}/unsubscribe_tries`, 409, tries);
  await ask('POST', `${path}/unsubscribe_tries`, 200, tries);
  await ask('DELETE', `/v1/tests/${made.body.id}`, 200);
}

async function walkInboxes({ ask }: Walk) {
  const json = { name: 'Newsletter', reusable: true };
  const made = await ask('POST', '/v1/tests', 201, { json });
  await ask('POST', '/v1/tests', 422, { json: { ...json, placement: true } });
  const path = `/v1/inboxes/${made.body.id}`;
  await ask('GET', '/v1/inboxes?limit=1', 200);
  await ask('GET', path, 200);
  await ask('GET', `/v1/tests?inbox_id=${made.body.id}`, 200);
  await ask('DELETE', path, 200);
  await ask('GET', path, 404);
}

async function walkEvents({ ask }: Walk) {
  const { body } = await ask<{ data: { id: string; type: string }[] }>('GET', '/v1/events', 200);
  assert.equal(body.data[0]!.type, 'test.completed');
  await ask('GET', `/v1/events/${body.data[0]!.id}`, 200);
}

async function walkWebhooks({ ask, receiver }: Walk) {
  const endpoints = '/v1/webhooks/endpoints';
  const json = { url: receiver.url, events: ['*'], description: 'The shop' };
  const made = await ask('POST', endpoints, 201, { json });
  await ask('POST', endpoints, 422, { json: { ...json, url: 'https://10.0.0.1/' } });
  const path = `${endpoints}/${made.body.id}`;
  await ask('GET', endpoints, 200);
  const etag = (await ask('GET', path, 200)).headers.get('etag')!;
  await ask('PATCH', path, 200, { json: { events: ['test.failed'] } });
  await ask('PATCH', path, 412, { json: { enabled: true }, headers: { 'if-match': etag } });
  await ask('POST', `${path}/rotate-secret`, 200, { json: { overlap: 0 } });
  const sample = await ask('POST', `${path}/test`, 201);
  const delivery = `/v1/webhooks/deliveries/${sample.body.id}`;
  assert.equal((await ask('GET', `${delivery}?wait=20`, 200)).body.status, 'succeeded');
  await ask('GET', `${path}/deliveries?status=succeeded`, 200);
  receiver.respond = () => 500;
  await ask('POST', `${delivery}/resend`, 200);
  assert.equal((await ask('GET', `${delivery}?wait=20`, 200)).body.status, 'pending');
  await ask('POST', `${delivery}/resend`, 200);
  assert.equal((await ask('GET', `${delivery}?wait=20`, 200)).body.status, 'pending');
  await ask('PATCH', path, 200, { json: { enabled: false } });
  const recovery = { json: { since: '2026-01-01T00:00:00Z' } };
  await ask('POST', `${path}/recover`, 409, recovery);
  await ask('POST', `${path}/test`, 409);
  await ask('PATCH', path, 200, { json: { enabled: true } });
  await ask('POST', `${path}/recover`, 200, recovery);
  await ask('DELETE', path, 200);
}

async function walkDomains({ ask, service }: Walk) {
  const json = { name: 'example.com', dkim_selectors: ['s1'] };
  const made = await ask('POST', '/v1/domains', 201, { json });
  await ask('POST', '/v1/domains', 409, { json });
  await ask('POST', '/v1/domains', 422, { json: { name: 'co.uk' } });
  await ask('POST', '/v1/domains/batch', 200, { json: { names: ['a.example', 'co.uk'] } });
  await ask('POST', '/v1/domains/batch', 422, { json: { names: [] } });
  await ask('POST', '/v1/domains/verify', 200);
  await ask('GET', '/v1/domain_lookup?name=example.com', 200);
  await ask('GET', '/v1/domain_lookup?name=co.uk', 422);
  const path = `/v1/domains/${made.body.id}`;
  const etag = (await ask('GET', path, 200)).headers.get('etag')!;
  await ask('GET', '/v1/domains?status=pending&health=unknown&q=exam', 200);
  await ask('GET', '/v1/domains/table?sort=dmarc&group=client', 200);
  await ask('GET', '/v1/domains/table?starting_after=dom_none', 400);
  await ask('GET', '/v1/domains/export', 200);
  const tag = { ids: [made.body.id], add: ['client:acme'] };
  await ask('POST', '/v1/domains/tags', 200, { json: tag });
  await ask('POST', '/v1/domains/tags', 404, { json: { ...tag, ids: ['dom_none'] } });
  await ask('PATCH', path, 200, { json: { badge_enabled: true } });
  await ask('PATCH', path, 412, { json: { dkim_selectors: null }, headers: { 'if-match': etag } });
  await ask('POST', `${path}/verify`, 200);
  await ask('GET', `${path}/health`, 200);
  const files = { mta_sts: { mode: 'testing', mx: ['mx.example.com'] } };
  await ask('GET', `${path}/hosted_files`, 200);
  await ask('PATCH', `${path}/hosted_files`, 409, { json: files });
  await service.app.db
    .updateTable('domains')
    .set({ status: 'verified' })
    .where('name', '=', json.name)
    .execute();
  await ask('PATCH', `${path}/hosted_files`, 200, { json: files });
  await ask('GET', '/v1/hosted_hosts?domain=mta-sts.example.com', 200, { key: null });
  await ask('GET', '/v1/hosted_hosts?domain=bimi.example.com', 404, { key: null });
  await ask('POST', '/v1/tests', 201, { json: { domain_id: made.body.id } });
  await ask('POST', '/v1/tests', 422, { json: { domain_id: 'dom_none' } });
  await ask('DELETE', path, 200);
}

async function walkDnsChanges({ ask }: Walk) {
  const settings = { memory_room: 'x', memory_password: memory.password };
  const json = { kind: 'memory', name: 'ns1', settings };
  const made = await ask('POST', '/v1/dns_servers', 201, { json });
  await ask('POST', '/v1/dns_servers', 409, { json });
  await ask('POST', '/v1/dns_servers', 422, { json: { ...json, kind: 'x' } });
  const server = `/v1/dns_servers/${made.body.id}`;
  const etag = (await ask('GET', server, 200)).headers.get('etag')!;
  await ask('GET', '/v1/dns_servers?limit=1', 200);
  await ask('PATCH', server, 200, { json: { name: 'ns2' } });
  await ask('PATCH', server, 412, { json: { name: 'ns3' }, headers: { 'if-match': etag } });
  await ask('POST', `${server}/check`, 200);
  const domain = await ask('POST', '/v1/domains', 201, { json: { name: 'published.example.com' } });
  const path = `/v1/domains/${domain.body.id}`;
  await ask('POST', `${path}/dns_plan`, 200, { json: {} });
  const source = { server_id: made.body.id };
  const plan = await ask('POST', `${path}/dns_plan`, 200, { json: source });
  const token = plan.body.token;
  await ask('POST', `${path}/dns_apply`, 409, { json: { ...source, token: 'x' } });
  const applied = await ask<{ data: { id: string }[] }>('POST', `${path}/dns_apply`, 200, {
    json: { ...source, token },
  });
  const change = `/v1/dns_changes/${applied.body.data[0]!.id}`;
  await ask('GET', `/v1/dns_changes?domain_id=${domain.body.id}&server_id=${made.body.id}`, 200);
  await ask('GET', change, 200);
  await ask('POST', `${change}/undo`, 200);
  await ask('POST', `${change}/undo`, 409);
  const records = await ask<{ token: string }>('POST', `${server}/verification_plan`, 200);
  const { token: ofRecords } = records.body;
  await ask('POST', `${server}/verification_apply`, 409, { json: { token: 'x' } });
  await ask('POST', `${server}/verification_apply`, 200, { json: { token: ofRecords } });
  await ask('DELETE', server, 200);
}

async function walkFeedback({ ask, service }: Walk) {
  const domain = await ask<{ id: string; feedback: { address: string } }>(
    'POST',
    '/v1/domains',
    201,
    { json: { name: 'reports.example' } },
  );
  const headers = { 'content-type': 'application/octet-stream' };
  const policy = '<policy_published><domain>reports.example</domain><p>none</p></policy_published>';
  const { body } = await ask<{ data: { id: string; status: string; reporter_id: string }[] }>(
    'POST',
    '/v1/feedback/reports',
    201,
    { body: dmarc({ policy }), headers },
  );
  assert.equal(body.data[0]!.status, 'counted');
  await ask('POST', '/v1/feedback/reports', 400, { body: '', headers });
  const { id, reporter_id } = body.data[0]!;
  await ask('GET', '/v1/feedback/reports?type=dmarc', 200);
  await ask('GET', '/v1/feedback/reports?type=other', 422);
  await ask('GET', `/v1/feedback/reports/${id}`, 200);
  await ask('GET', `/v1/feedback/reports/${id}/rows`, 200);
  await ask('GET', `/v1/feedback/reports/${id}/rows/export`, 200);
  await ask('GET', '/v1/feedback/reports/fbr_none/rows/export', 404);
  await ask('GET', `/v1/feedback/reports/${id}/source`, 200);
  await ask('GET', '/v1/feedback/reporters', 200);
  const uploaded = `/v1/feedback/reporters/${reporter_id}`;
  await ask('PATCH', uploaded, 409, { json: { confirmed: false } });
  await addConfirmed(service, 'receiver.example');
  const { body: reporters } = await ask<{ data: { id: string; name: string }[] }>(
    'GET',
    '/v1/feedback/reporters',
    200,
  );
  const added = reporters.data.find(({ name }) => name === 'receiver.example')!;
  const reporter = `/v1/feedback/reporters/${added.id}`;
  const etag = (await ask('GET', reporter, 200)).headers.get('etag')!;
  await ask('PATCH', reporter, 200, { json: { confirmed: false } });
  await ask('PATCH', reporter, 412, { json: { confirmed: true }, headers: { 'if-match': etag } });
  const query = `domain_id=${domain.body.id}`;
  await ask('GET', `/v1/feedback/unconfirmed?${query}`, 200);
  await ask('GET', '/v1/feedback/unconfirmed?domain_id=dom_none', 404);
  for (const sums of [
    'dmarc',
    'dmarc/export',
    'dmarc/reporters',
    'tls',
    'tls/export',
    'tls/failures/export',
    'complaints/summary',
    'bounces/summary',
  ]) {
    await ask('GET', `/v1/feedback/${sums}?${query}`, 200);
    await ask('GET', `/v1/feedback/${sums}?${query}&from=2020-01-01`, 422);
    await ask('GET', `/v1/feedback/${sums}?domain_id=dom_none`, 404);
  }
  await walkSources({ ask, service }, domain.body.id);
  await walkMailboxes({ ask });
  await ask('GET', `/v1/feedback/complaints?${query}`, 200);
  await ask('GET', `/v1/feedback/bounces?${query}&class=policy&from=2026-11-01`, 200);
  await ask('GET', `/v1/feedback/bounces?${query}&to=yesterday`, 422);
  for (const list of ['complaints', 'bounces']) {
    await ask('GET', `/v1/feedback/${list}/export?${query}`, 200);
    await ask('GET', `/v1/feedback/${list}/export?from=yesterday`, 422);
  }
  const token = domain.body.feedback.address.slice(3, 19);
  const report = { key: null, headers: { 'content-type': 'application/tlsrpt+json' }, body: tls() };
  await ask('POST', `/feedback/tls/${token}`, 202, report);
  await ask('DELETE', `/v1/feedback/reports/${id}`, 200);
  await ask('DELETE', `/v1/feedback/reports/${id}`, 404);
}

async function walkMailboxes({ ask }: Pick<Walk, 'ask'>) {
  const list = '/v1/feedback/mailboxes';
  const json = { name: 'Reports', host: '127.0.0.1', username: 'ann', password: 'x' };
  const { body } = await ask('POST', list, 201, { json });
  await ask('POST', list, 409, { json });
  await ask('POST', list, 422, { json: { ...json, port: 0 } });
  await ask('GET', list, 200);
  const mailbox = `${list}/${body.id}`;
  const etag = (await ask('GET', mailbox, 200)).headers.get('etag')!;
  await ask('PATCH', mailbox, 200, { json: { schedule: 'daily' } });
  await ask('PATCH', mailbox, 412, { json: { name: 'x' }, headers: { 'if-match': etag } });
  await ask('POST', `${mailbox}/import`, 200);
  await ask('POST', `${mailbox}/cancel`, 200);
  await ask('POST', `${mailbox}/cancel`, 409);
  await ask('DELETE', mailbox, 200);
}

async function walkSources({ ask, service }: Pick<Walk, 'ask' | 'service'>, domain: string) {
  const sources = `/v1/feedback/sources?domain_id=${domain}`;
  type List = { data: { id: string }[] };
  let found: List['data'] = [];
  for (let attempt = 0; attempt < 500 && found.length === 0; attempt++) {
    service.app.scheduler.wakeHere('feedback.sources');
    await pause(10);
    found = (await service.call<List>('GET', `${sources}&from=2026-11-01&to=2026-11-30`)).body.data;
  }
  await ask('GET', `${sources}&kind=own`, 200);
  await ask('GET', `${sources}&kind=other`, 422);
  await ask('GET', `${sources}&starting_after=x`, 400);
  await ask('GET', `${sources}&failing=true&new=true&reporter=x`, 200);
  await ask('GET', `${sources}&reporter=x&from=2026-01-01`, 422);
  const files = `/v1/feedback/sources/export?domain_id=${domain}`;
  await ask('GET', files, 200);
  await ask('GET', `${files}&kind=other`, 422);
  const source = `/v1/feedback/sources/${found[0]!.id}`;
  await ask('GET', source, 200);
  await ask('PATCH', source, 200, { json: { mark: 'own', label: 'Ours' } });
  await ask('PATCH', source, 422, { json: { mark: 'other' } });
  await ask('GET', '/v1/feedback/sources/src_none', 404);
  await ask('GET', `/v1/feedback/advice?domain_id=${domain}`, 200);
  await ask('GET', '/v1/feedback/advice?domain_id=dom_none', 404);
}

async function walkReceivers({ ask, service }: Walk) {
  const json = { name: 'example.com' };
  const { id } = (await ask('POST', '/v1/domains', 201, { json })).body;
  const path = '/v1/receivers/google_postmaster/fetch';
  const settled = async () => {
    for (let attempt = 0; attempt < 500; attempt++) {
      const { body } = await ask<{ data: { fetching: boolean }[] }>('GET', '/v1/receivers', 200);
      if (body.data.every(({ fetching }) => !fetching)) return;
      await pause(20);
    }
    assert.fail('nothing was fetched');
  };
  await settled();
  await service.app.db.updateTable('receivers').set({ attempted_at: null }).execute();
  await ask('POST', path, 202);
  await settled();
  await ask('POST', path, 429);
  const query = `domain_id=${id}`;
  const stats = await ask<{ days: unknown[] }>('GET', `/v1/receivers/stats?${query}`, 200);
  assert.equal(stats.body.days.length, 2);
  await ask('GET', `/v1/receivers/stats?${query}&from=2020-01-01`, 422);
  await ask('GET', '/v1/receivers/stats?domain_id=dom_none', 404);
  const compliance = await ask<{ requirements: unknown[] }>(
    'GET',
    `/v1/receivers/compliance?${query}`,
    200,
  );
  assert.ok(compliance.body.requirements.length > 8);
  const addresses = await ask<{ addresses: unknown[] }>('GET', '/v1/receivers/addresses', 200);
  assert.equal(addresses.body.addresses.length, 1);
  await ask('GET', '/v1/receivers/addresses?address=192.0.2.1', 200);
  await ask('GET', '/v1/receivers/addresses?address=mail', 422);
  await ask('GET', `/v1/domains/${id}/picture`, 200);
  await ask('GET', '/v1/domains/dom_none/picture', 404);
  await ask('DELETE', `/v1/domains/${id}`, 200);
}

async function walkMonitors({ ask }: Walk) {
  const monitors = '/v1/monitors';
  const json = { name: 'Ours', type: 'blocklist', targets: ['example.com'], frequency: 'hourly' };
  const made = await ask('POST', monitors, 201, { json });
  await ask('POST', monitors, 422, { json: { ...json, targets: ['10.0.0.1'] } });
  const path = `${monitors}/${made.body.id}`;
  await ask('POST', `${path}/run`, 200);
  await ask('GET', `${monitors}?status=unknown&domain_id=dom_none`, 200);
  await ask('GET', `${path}/runs?limit=1`, 200);
  const etag = (await ask('GET', path, 200)).headers.get('etag')!;
  await ask('PATCH', path, 200, { json: { enabled: false } });
  await ask('PATCH', path, 412, { json: { enabled: true }, headers: { 'if-match': etag } });
  await ask('POST', `${path}/run`, 409);
  await ask('DELETE', path, 200);
}

async function walkAlerts({ ask }: Walk) {
  const json = { name: 'Low score', condition: 'score_below', channels: ['email', 'slack'] };
  const made = await ask('POST', '/v1/alerts', 201, { json });
  await ask('POST', '/v1/alerts', 422, { json: { ...json, channels: [] } });
  const path = `/v1/alerts/${made.body.id}`;
  await ask('GET', '/v1/alerts?limit=1', 200);
  await ask('GET', '/v1/alerts/recommended', 200);
  await ask('POST', '/v1/alerts/recommended', 200);
  const etag = (await ask('GET', path, 200)).headers.get('etag')!;
  await ask('PATCH', path, 200, { json: { threshold: 100 } });
  await ask('PATCH', path, 412, { json: { enabled: false }, headers: { 'if-match': etag } });
  await ask('POST', `${path}/test`, 200);
  await ask('GET', `${path}/test`, 200);
  const sent = await ask('POST', '/v1/tests/raw?client_ip=192.0.2.1&helo=a', 201, {
    body: goodMessage(),
    headers: { 'content-type': 'message/rfc822' },
  });
  await ask('GET', `/v1/tests/${sent.body.id}?wait=50`, 200);
  const incidents = await ask<{ data: { id: string }[] }>('GET', `${path}/incidents`, 200);
  assert.equal(incidents.body.data.length, 1);
  await ask('GET', `/v1/alert_incidents/${incidents.body.data[0]!.id}`, 200);
  await ask('GET', '/v1/alert_incidents/inc_none', 404);
  await ask('GET', '/v1/alert_incidents?status=open', 200);
  await ask('DELETE', path, 200);
}

async function walkReports({ ask }: Walk) {
  const summary = await ask<{ total_tests: number }>('GET', '/v1/reports/summary', 200);
  assert.ok(summary.body.total_tests > 0);
  await ask('GET', '/v1/search?q=a', 200);
  await ask('GET', '/v1/search', 422);
  await ask('GET', '/v1/reports/summary?period=month', 200);
  await ask('GET', '/v1/reports/summary?domain_id=dom_none', 422);
}

async function walkShares({ ask }: Walk) {
  const { body: tests } = await ask<{ data: { id: string }[] }>(
    'GET',
    '/v1/tests?status=completed',
    200,
  );
  const json = { test_ids: tests.data.map(({ id }) => id), title: 'The spring newsletter' };
  await ask('GET', '/v1/brand', 200);
  await ask('PATCH', '/v1/brand', 200, { json: { name: 'Harbor Mail', color: '#0a7d5a' } });
  await ask('PATCH', '/v1/brand', 422, { json: { logo: 'AAAA' } });
  await ask('PATCH', '/v1/brand', 200, { json: { name: null, color: null } });
  await ask('POST', '/v1/reports/share', 201, { json: { tags: ['client:acme'] } });
  const made = await ask('POST', '/v1/reports/share', 201, { json });
  await ask('POST', '/v1/reports/share', 422, { json: { test_ids: ['test_none'] } });
  const path = `/v1/reports/shared/${made.body.id}`;
  await ask('GET', '/v1/reports/shared?limit=1', 200);
  await ask('GET', path, 200);
  const page = `/reports/public/${made.body.token}`;
  const badge = `/badges/${made.body.token}`;
  const links = [page, `${page}.pdf`, `${badge}.svg`, `${badge}.json`];
  const accept = { accept: 'application/json' };
  for (const link of [...links, `${page}?utm_source=mail`])
    await ask('GET', link, 200, { key: null });
  await ask('GET', page, 200, { key: null, headers: accept });
  await ask('DELETE', path, 200);
  for (const link of links) await ask('GET', link, 410, { key: null, headers: accept });
}

async function walkSchedules({ ask }: Walk) {
  const schedules = '/v1/reports/schedules';
  const json = { name: 'Mondays', frequency: 'weekly', recipients: ['ann@example.com'] };
  const made = await ask('POST', schedules, 201, { json });
  await ask('POST', schedules, 422, { json: { ...json, timezone: 'Nowhere' } });
  const path = `${schedules}/${made.body.id}`;
  await ask('GET', `${schedules}?limit=1`, 200);
  const etag = (await ask('GET', path, 200)).headers.get('etag')!;
  await ask('PATCH', path, 200, { json: { format: 'pdf', domains: null } });
  await ask('PATCH', path, 412, { json: { enabled: false }, headers: { 'if-match': etag } });
  await ask('GET', `${path}/preview`, 200);
  await ask('POST', `${path}/send`, 200);
  await ask('GET', `${path}/runs`, 200);
  await ask('DELETE', path, 200);
}

async function walkTeam({ ask, service }: Walk) {
  const { app } = service;
  const invitations = '/v1/team/invitations';
  const json = { email: 'bob@example.com' };
  const idempotent = { json, headers: { 'idempotency-key': 'one' } };
  const made = await ask<Invitation>('POST', invitations, 201, idempotent);
  const again = await ask('POST', invitations, 201, idempotent);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  await ask('POST', invitations, 422, { ...idempotent, json: { email: 'carol@example.com' } });
  await ask('POST', invitations, 409, { json });
  const other = await ask('POST', invitations, 201, { json: { email: 'dan@example.com' } });
  await ask('GET', `${invitations}?limit=1`, 200);
  await ask('GET', `${invitations}?status=pending`, 200);
  await ask('GET', `${invitations}/${made.body.id}`, 200);
  // Its message arrives only now.
  await ask('POST', `${invitations}/${made.body.id}/resend`, 429);
  await ageMail(service);
  const resent = await ask<Invitation>('POST', `${invitations}/${made.body.id}/resend`, 200);
  await ask('DELETE', `${invitations}/${other.body.id}`, 200);
  const accepting = (token: string) => ({
    key: null,
    json: { token, name: 'Bob', password: PASSWORD },
  });
  const tokenOf = ({ body }: ApiResponse<Invitation>) => body.accept_url.split('/').at(-1)!;
  await ask('POST', `${invitations}/accept`, 410, accepting(tokenOf(made)));
  await ask('POST', `${invitations}/accept`, 404, accepting('x'.repeat(43)));
  const bob = await ask<Member>('POST', `${invitations}/accept`, 201, accepting(tokenOf(resent)));
  await ask('POST', `${invitations}/accept`, 410, accepting(tokenOf(resent)));
  await ask('GET', '/v1/team/members', 200);
  const path = `/v1/team/members/${bob.body.id}`;
  await ask('GET', path, 200);
  await ask('DELETE', `${path}/linked_account`, 200);
  await ask('PATCH', path, 200, { json: { role: 'admin', name: 'Robert' } });
  const key = await ask('POST', '/v1/api_keys', 201, { json: { name: 'k', expires_in: 60 } });
  await ask('GET', '/v1/api_keys', 200);
  await ask('GET', `/v1/api_keys/${key.body.id}`, 200);
  await ask('DELETE', `/v1/api_keys/${key.body.id}`, 200);
  const owner = await app.db
    .selectFrom('members')
    .select('id')
    .where('role', '=', 'owner')
    .executeTakeFirstOrThrow();
  const { id: assistant } = await insertAssistant(service, owner.id);
  await ask('GET', '/v1/connected_assistants', 200);
  await ask('DELETE', `/v1/connected_assistants/${assistant}`, 200);
  await ask('DELETE', `/v1/team/members/${owner.id}`, 403);
  const transfer = (id: string) => ({ json: { new_owner_id: id } });
  await ask('POST', '/v1/team/transfer-ownership', 200, transfer(bob.body.id));
  await ask('POST', '/v1/team/transfer-ownership', 403, transfer(owner.id));
  const carol = await service.makeMember('viewer');
  await ask('GET', '/v1/team/members', 403, { key: carol.key });
  await ask('DELETE', `/v1/team/members/${carol.id}`, 200);
  await ask('GET', '/v1/audit_log', 200);
}

async function walkAccount(walk: Walk) {
  const { ask, service, resetToken } = walk;
  const email = 'owner@example.com';
  await givePassword(service, email);
  const credentials = { key: null, json: { email, password: PASSWORD } };
  await ask('POST', '/v1/sessions', 401, { key: null, json: { email, password: 'wrong' } });
  const signedIn = await ask<Session>('POST', '/v1/sessions', 201, credentials);
  const other = await ask<Session>('POST', '/v1/sessions', 201, credentials);
  const { cookie } = browserOf(service, signedIn);
  const headers = { cookie, 'sec-fetch-site': 'same-origin' };
  await ask('GET', '/v1/sessions', 200, { key: null, headers });
  await ask('GET', '/v1/me', 200, { key: null, headers });
  await ask('GET', '/v1/me', 200);
  const foreign = { cookie, 'sec-fetch-site': 'cross-site' };
  await ask('PATCH', '/v1/me', 403, { key: null, headers: foreign, json: { name: 'x' } });
  await ask('PATCH', '/v1/me', 200, { key: null, headers, json: { name: 'The Owner' } });
  await ask('DELETE', `/v1/sessions/${other.body.id}`, 200, { key: null, headers });
  await ask('DELETE', '/v1/sessions', 200, { key: null, headers });
  await ask('DELETE', '/v1/sessions/current', 404);
  await ask('DELETE', '/v1/sessions/current', 200, { key: null, headers });
  await ask('POST', '/v1/password_resets', 202, { key: null, json: { email } });
  const token = await resetToken();
  const confirm = { key: null, json: { token, password: 'another long password' } };
  await ask('POST', '/v1/password_resets/confirm', 200, confirm);
  await ask('POST', '/v1/password_resets/confirm', 410, confirm);
  const unknown = { ...confirm.json, token: 'x' };
  await ask('POST', '/v1/password_resets/confirm', 404, { ...confirm, json: unknown });
}

/** Errors that any operation can return. */
async function walkRefusals({ ask, document }: Walk) {
  const json = { 'content-type': 'application/json' };
  for (const [template, methods] of Object.entries(document.paths))
    for (const [name, { operationId, security }] of Object.entries(methods)) {
      const method = name.toUpperCase();
      const path = template.replace(/\{\w+\}/g, 'nothing_0');
      const key = security.length > 0 ? undefined : null;
      const { body, consumes, isPublicLink, query, role } = ROUTES.find(
        (route) => route.operation === operationId,
      )!;
      const isPublicRead = role === 'public' && method === 'GET';
      if (key === undefined) {
        await ask(method, path, 401, { key: null });
        await ask(method, path, 401, { key: 'dlv_live_none' });
      }
      // A proxy names the host that it asks about.
      const ignored =
        operationId === 'findHostedHost' ? 422 : isPublicLink ? 404 : isPublicRead ? 200 : 422;
      await ask(method, `${path}?no_such=1&no_such=2`, ignored, { key });
      // The list of sources needs a domain first.
      const isList = 'starting_after' in (query?.entries ?? {}) && !template.includes('{');
      if (isList && operationId !== 'listFeedbackSources')
        await ask(method, `${path}?starting_after=x`, 400, { key });
      if (!body && !consumes && method !== 'GET')
        await ask(method, path, 400, { key, json: { recipients: ['ann@example.com'] } });
      const sent = consumes ? { headers: { 'content-type': consumes.type }, body: 'x' } : {};
      if (template.includes('{') && !body) await ask(method, path, 404, { key, ...sent });
      if (!body) continue;
      await ask(method, path, 400, { key, headers: json, body: '{"half":' });
      await ask(method, path, 415, { key, headers: { 'content-type': 'text/plain' }, body: 'x' });
      await ask(method, path, 413, { key, headers: json, body: ' '.repeat(1024 * 1024 + 1) });
      await ask(method, path, 422, { key, json: { no_such: 1 } });
    }
}

test('Every documented operation returns documented success and error responses', async (t) => {
  const walk = await startWalk(t);
  await walkRefusals(walk);
  await walkHealth(walk);
  await walkTests(walk);
  await walkInboxes(walk);
  await walkEvents(walk);
  await walkWebhooks(walk);
  await walkDomains(walk);
  await walkDnsChanges(walk);
  await walkFeedback(walk);
  await walkReceivers(walk);
  await walkMonitors(walk);
  await walkAlerts(walk);
  await walkSchedules(walk);
  await walkReports(walk);
  await walkShares(walk);
  await walkTeam(walk);
  await walkAccount(walk);
  const documented = Object.values(walk.document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  assert.deepEqual([...walk.succeeded].toSorted(), documented.toSorted());
});

test('documentValidator detects undocumented responses', async (t) => {
  const { call } = await startTestService(t);
  const { check } = documentValidator((await call('GET', '/openapi.json')).body);
  const answer = await call<Record<string, unknown>>('GET', '/healthz');
  assert.equal(check('GET', '/healthz', answer), 'getHealth');
  const wrong = { ...answer, body: { ...answer.body, uptime_seconds: 'long' } };
  assert.throws(() => check('GET', '/healthz', wrong), /uptime_seconds/);
  assert.throws(() => check('GET', '/healthz', { ...answer, status: 418 }), /not documented/);
  assert.throws(() => check('GET', '/healthz', { ...answer, headers: new Headers() }), /missing/);
});
