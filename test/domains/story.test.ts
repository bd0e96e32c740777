/** The story of one domain: a record disappears at its name server, and the watch tells people until it is repaired. */

// @isolated: it adds a kind of name server before the schema of the API is built.

import '../dns-changes/memory-server.ts';

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sweepIncidents } from '../../src/alerts/jobs.ts';
import type { AlertIncident } from '../../src/alerts/schema.ts';
import type { DnsChange, DnsPlan, DnsServer } from '../../src/dns-changes/schema.ts';
import { completeTest } from '../alerts/alerting.ts';
import { memberOf } from '../dashboard/member.ts';
import { mainOf } from '../dashboard/pages.ts';
import { memory } from '../dns-changes/memory-server.ts';
import { SETTINGS } from '../dns-changes/publishing.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { startMailSink } from '../outbox/mail-sink.ts';
import type { List } from '../team/team-service.ts';
import { DAY, HOUR, startWatching } from './watching.ts';

const SPF = 'v=spf1 mx -all';

async function startStory(t: TestContext) {
  const slack = await startReceiver(t);
  const sink = await startMailSink(t);
  const watching = await startWatching(t, {
    ...slack.env,
    DELIVERABILITY_SLACK_WEBHOOK_URL: slack.url,
    DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
    DELIVERABILITY_MAIL_FROM: 'no-reply@example.com',
  });
  const { call, domain } = watching;
  memory.zone = watching.dns.zone;
  for (const condition of ['domain_health', 'record_changed'])
    await call('POST', '/v1/alerts', {
      json: { name: `Rule ${condition}`, condition, channels: ['email', 'slack'] },
    });
  await call('PATCH', `/v1/domains/${domain.id}`, { json: { badge_enabled: true } });
  const monitor = await call<{ id: string }>('POST', '/v1/monitors', {
    json: { name: 'Own', type: 'domain_health', domain_id: domain.id, frequency: 'daily' },
  });
  // Without any test, the overview shows only how to begin.
  await completeTest(watching.app, {});
  const owner = await memberOf(watching, 'owner@example.com');
  return {
    ...watching,
    /** What each place says about the health of the domain now. */
    async said() {
      const api = (await watching.get(domain.id)).health;
      const badge = await call<{ message: string }>('GET', '/badges/example.com.json');
      const run = await call<{ status: string }>('GET', `/v1/monitors/${monitor.body.id}`);
      const page = mainOf((await owner.get(`/domains/${domain.id}`)).html);
      const overview = (await owner.get('/')).html;
      return {
        api: api.status,
        badge:
          badge.body.message === `${api.status}, ${api.score} of 100` ? api.status : badge.body,
        monitor: run.body.status,
        page: page.includes(`${api.score} of 100`) ? api.status : page,
        isBroken: overview.split('What changed since')[0]!.includes(`href="/domains/${domain.id}`),
      };
    },
    async incidents(): Promise<string[]> {
      const { body } = await call<List<AlertIncident>>('GET', '/v1/alert_incidents');
      return body.data.map(({ condition, status }) => `${condition} ${status}`).sort();
    },
    /** The subjects of new mails and the texts of new posts. */
    told() {
      const mails = sink.taken.splice(0).map(({ raw }) => readable(raw));
      const posts = slack.requests.splice(0).map(({ body }) => body);
      return { mails, posts };
    },
  };
}

/** Without quoted-printable, on one line. */
const readable = (raw: Buffer): string =>
  Buffer.from(
    raw
      .toString('latin1')
      .replace(/=\r\n/g, '')
      .replace(/=([0-9A-F]{2})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16))),
    'latin1',
  )
    .toString()
    .replace(/\s+/g, ' ');

const HEALTHY = {
  api: 'healthy',
  badge: 'healthy',
  monitor: 'ok',
  page: 'healthy',
  isBroken: false,
};
const CRITICAL = {
  api: 'critical',
  badge: 'critical',
  monitor: 'alerting',
  page: 'critical',
  isBroken: true,
};

test('A record that disappears is found within the hour, told, repaired by the plan, and resolved', async (t) => {
  const story = await startStory(t);
  const { call, dns, domain, said, incidents, told, pass } = story;
  await pass(HOUR);
  assert.deepEqual(await said(), HEALTHY);
  assert.deepEqual(await incidents(), []);
  assert.deepEqual(told(), { mails: [], posts: [] });

  dns.zone['example.com'] = { ...dns.zone['example.com'], TXT: ['other=1'] };
  await pass(HOUR);
  assert.deepEqual(await said(), CRITICAL);
  assert.deepEqual(await incidents(), ['domain_health open', 'record_changed open']);
  const opened = told();
  assert.equal(opened.mails.length, 2);
  assert.equal(opened.posts.length, 2);
  for (const texts of [opened.mails, opened.posts]) {
    assert.ok(
      texts.some((text) => text.includes('The SPF record of example.com was removed')),
      texts[0],
    );
    assert.ok(texts.some((text) => text.includes('v=spf1 mx -all') && text.includes('no record')));
    assert.ok(texts.some((text) => text.includes('example.com has no SPF record')));
    // The record that was there, not an invention.
    assert.ok(!texts.some((text) => text.includes('v=spf1 mx ~all')));
  }

  const server = await call<DnsServer>('POST', '/v1/dns_servers', {
    json: { kind: 'memory', name: 'ns1', settings: SETTINGS },
  });
  const json = { server_id: server.body.id, checks: ['spf_record'] };
  const plan = await call<DnsPlan>('POST', `/v1/domains/${domain.id}/dns_plan`, { json });
  const { token } = plan.body;
  const applied = await call('POST', `/v1/domains/${domain.id}/dns_apply`, {
    json: { ...json, token, records: [{ type: 'TXT', name: 'example.com' }] },
  });
  assert.equal(applied.status, 200, applied.text);
  await pass(HOUR);
  assert.deepEqual(dns.zone['example.com']?.TXT, ['other=1', SPF]);
  assert.deepEqual(await said(), HEALTHY);
  assert.deepEqual(await incidents(), ['domain_health resolved', 'record_changed resolved']);
  assert.ok(
    told().posts.some((text) => text.includes('The SPF record of example.com was restored')),
  );

  const [change] = (await call<List<DnsChange>>('GET', '/v1/dns_changes')).body.data;
  await call('POST', `/v1/dns_changes/${change!.id}/undo`);
  await pass(HOUR);
  assert.deepEqual(await said(), CRITICAL);
  const { mails } = told();
  assert.ok(
    mails.some((text) => text.includes('It was changed with this service by owner@example.com')),
    mails.join('\n'),
  );
  dns.zone['example.com'] = { ...dns.zone['example.com'], TXT: [SPF] };
  await pass(HOUR);
  assert.deepEqual(await said(), HEALTHY);
  told();
  await pass(2 * DAY, 3 * HOUR);
  await sweepIncidents(story.app);
  assert.deepEqual(told(), { mails: [], posts: [] });
});
