/** A team with two clients and something of its own: every kind of object, each with a word that belongs to one of them. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { refreshDue } from '../../src/domain-table/refresh.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { TABLES, type Tables } from '../../src/store/tables.generated.ts';
import {
  arf,
  dmarc,
  dsn,
  ORIGINAL,
  record,
  tls,
  tlsFailure,
  tlsPolicy,
} from '../feedback/reading/builders.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { goodMessage } from '../helpers/good-message.ts';

/** Each client's word is in every text of theirs. */
export const CLIENTS = { alpha: 'client:zalpha', beta: 'client:zbeta', team: null } as const;
export type Client = keyof typeof CLIENTS;

const ADDRESSES: Record<Client, string> = {
  alpha: '198.51.100.11',
  beta: '198.51.100.122',
  team: '198.51.100.133',
};

export interface Owned {
  domain: string;
  test: string;
  waiting: string;
  inbox: string;
  monitor: string;
  alert: string;
  share: string;
  schedule: string;
}

export interface World {
  service: TestService;
  owned: Record<Client, Owned>;
  /** The texts and IDs that belong to a client alone, as the database has them now. */
  secretsOf(client: Client): Promise<string[]>;
  /** What the database has about a client. */
  rowsOf(client: Client): Promise<string[]>;
}

const NOW = Date.UTC(2026, 10, 22, 10, 0, 0);

export async function startWorld(t: TestContext): Promise<World> {
  const clock = testClock(NOW);
  const service = await startTestService(t, { clock });
  const owned = {} as Record<Client, Owned>;
  // Its incidents show its ID, and nothing else of it.
  const { id: everywhere } = await post(service, '/v1/alerts', {
    name: 'zteam rule of all domains',
    condition: 'score_below',
    threshold: 100,
    channels: ['email'],
    recipients: ['zteam@mail.example'],
  });
  for (const client of Object.keys(CLIENTS) as Client[])
    owned[client] = await populate(service, client);
  await readDigests(service, owned);
  return {
    service,
    owned,
    rowsOf: (client) => rowsOf(service, owned, client),
    async secretsOf(client) {
      const ids = (await rowsOf(service, owned, client)).flatMap((row) => {
        const { id } = JSON.parse(row) as { id?: unknown };
        return typeof id === 'string' && id !== everywhere && /^[a-z]+_[0-9a-z]{26}$/.test(id)
          ? [id]
          : [];
      });
      return [`z${client}`, ADDRESSES[client], ...ids];
    },
  };
}

/** What the table of domains shows. Of alpha, it says something that only the team may see. */
async function readDigests({ app }: TestService, owned: Record<Client, Owned>) {
  await refreshDue(app);
  const { alpha } = owned;
  await app.db
    .updateTable('domain_digests')
    .set({
      headline: 'Outlook blocks the address of zteam.',
      state: 'fail',
      cost: 99,
      step: 'Ask for zteam.',
      step_path: `/domains/${alpha.domain}#outlook`,
    })
    .where('id', '=', alpha.domain)
    .execute();
}

async function post<T = { id: string }>(service: TestService, path: string, json: object) {
  const { status, body, text } = await service.call<T>('POST', path, { json });
  assert.ok(status < 300, `${path}: ${text}`);
  return body;
}

async function populate(service: TestService, client: Client): Promise<Owned> {
  const word = `z${client}`;
  const name = `${word}.example`;
  const tags = CLIENTS[client] === null ? [] : [CLIENTS[client]];
  const { app, call } = service;
  const { db } = app;
  const now = isoTime(app.clock.now());
  const { id: domain } = await post(service, '/v1/domains', { name, tags });
  await db
    .updateTable('domains')
    .set({
      status: 'verified',
      verified_at: now,
      next_check_at: null,
      health_status: 'warning',
      health_score: 71,
      health_checked_at: now,
    })
    .where('id', '=', domain)
    .execute();
  const { id: alert } = await post(service, '/v1/alerts', {
    name: `${word} rule`,
    condition: 'score_below',
    threshold: 100,
    channels: ['email'],
    recipients: [`${word}@mail.example`],
    domain_id: domain,
  });
  const { id: monitor } = await post(service, '/v1/monitors', {
    name: `${word} monitor`,
    type: 'domain_health',
    domain_id: domain,
  });
  const test = await receiveTest(service, client);
  const { id: waiting } = await post(service, '/v1/tests', {
    name: `${word} waiting`,
    tags: [...tags, `${word} tag`],
    metadata: { note: `${word} note` },
  });
  const { id: inbox } = await post(service, '/v1/tests', {
    name: `${word} inbox`,
    reusable: true,
    tags,
    domain_id: domain,
  });
  const { id: share } = await post(service, '/v1/reports/share', {
    test_ids: [test],
    title: `${word} share`,
  });
  await post(service, '/v1/reports/share', {
    tags: [CLIENTS[client] ?? 'zteam group'],
    title: `${word} status`,
  });
  if (client !== 'alpha')
    await post(service, '/v1/reports/share', {
      tags: [CLIENTS.alpha, CLIENTS[client] ?? 'zteam group'],
      title: `${word} status beside another`,
    });
  const { id: schedule } = await post(service, '/v1/reports/schedules', {
    name: `${word} schedule`,
    frequency: 'weekly',
    recipients: [`${word}@mail.example`],
    domains: [domain],
  });
  await post(service, '/v1/team/invitations', { email: `${word}-invited@mail.example` });
  await post(service, '/v1/api_keys', { name: `${word} key` });
  await uploadReports(service, client);
  await insertPublished(service, client, domain);
  await call('PATCH', `/v1/domains/${domain}`, { json: { dkim_selectors: [word] } });
  return { domain, test, waiting, inbox, monitor, alert, share, schedule };
}

async function receiveTest({ call }: TestService, client: Client): Promise<string> {
  const word = `z${client}`;
  const { body, text } = await call<{ id: string }>(
    'POST',
    `/v1/tests/raw?client_ip=${ADDRESSES[client]}&helo=mail.${word}.example&name=${word}-name&mail_from=bounce@${word}.example`,
    {
      body: goodMessage(
        {
          From: `${word} news <news@${word}.example>`,
          Subject: `${word} subject`,
          'Message-ID': `<1@${word}.example>`,
          'Content-Type': 'text/html',
          'List-Unsubscribe': `<https://${word}.example/u>`,
        },
        `<p>${word} body <a href="https://${word}.example/">link</a> <img src="https://${word}.example/i.png"></p>`,
      ),
      headers: { 'content-type': 'message/rfc822' },
    },
  );
  assert.ok(body.id, text);
  const done = await call<{ status: string; domain_id: string }>(
    'GET',
    `/v1/tests/${body.id}?wait=50`,
  );
  assert.equal(done.body.status, 'completed');
  assert.ok(done.body.domain_id);
  return body.id;
}

async function uploadReports({ app, call }: TestService, client: Client): Promise<void> {
  const word = `z${client}`;
  const name = `${word}.example`;
  const address = ADDRESSES[client];
  const original = ORIGINAL.replaceAll('example.com', name)
    .replaceAll('news', word)
    .replaceAll('192.0.2.9', address);
  const files = [
    dmarc({
      id: `${word}-report`,
      orgName: `${word} org`,
      policy: `<policy_published><domain>${name}</domain><p>none</p></policy_published>`,
      records: record({
        source: address,
        identifiers: `<identifiers><header_from>${name}</header_from></identifiers>`,
        results: `<auth_results><spf><domain>${name}</domain><result>pass</result></spf></auth_results>`,
      }),
    }),
    tls({ 'report-id': `${word}-tls` }, [
      tlsPolicy({ 'policy-domain': name, 'mx-host': [`mx.${name}`] }, {}, [
        tlsFailure({ 'sending-mta-ip': address, 'receiving-mx-hostname': `mx.${name}` }),
      ]),
    ]),
    Buffer.from(
      Buffer.from(
        arf(`Feedback-Type: abuse\nSource-IP: ${address}\nReported-Domain: ${name}\n`, original),
      )
        .toString('latin1')
        .replace('<report-1@', `<${word}-complaint@`),
      'latin1',
    ),
    Buffer.from(
      Buffer.from(
        dsn(
          `Reporting-MTA: dns; mail.${name}\n\nFinal-Recipient: rfc822; reader@${word}.mailbox.example\nAction: failed\nStatus: 5.7.1\nDiagnostic-Code: smtp; 550 ${word} is blocked\n`,
          { original },
        ),
      )
        .toString('latin1')
        .replace('<report-1@', `<${word}-bounce@`),
      'latin1',
    ),
  ];
  for (const file of files) {
    const { status, text } = await call('POST', '/v1/feedback/reports', {
      body: file,
      headers: { 'content-type': 'application/octet-stream' },
    });
    assert.equal(status, 201, text);
  }
  for (let attempt = 0; attempt < 500; attempt++) {
    app.scheduler.wakeHere('feedback.sources');
    await pause(10);
    const found = await app.db
      .selectFrom('feedback_sources')
      .innerJoin('domains', 'domains.id', 'domain_id')
      .select('feedback_sources.id')
      .where('domains.name', '=', name)
      .execute();
    if (found.length > 0) return;
  }
  assert.fail(`no source of ${name}`);
}

/** What other services publish, and what only admins see. */
async function insertPublished({ app }: TestService, client: Client, domain_id: string) {
  const word = `z${client}`;
  const name = `${word}.example`;
  const { db } = app;
  const now = isoTime(app.clock.now());
  await db
    .insertInto('receiver_domains')
    .values({ receiver_id: 'google', name, permission: 'OWNER', listed_at: now })
    .execute();
  await db
    .insertInto('receiver_days')
    .values({ name, day: '2026-11-20', receiver_id: 'google', spam_rate: 0.001, fetched_at: now })
    .execute();
  await db
    .insertInto('receiver_requirements')
    .values({
      name,
      requirement: 'SPF',
      receiver_id: 'google',
      status: 'NEEDS_WORK',
      reason: `${word} reason`,
      since: now,
      checked_at: now,
    })
    .execute();
  await db
    .insertInto('receiver_addresses')
    .values({
      address: ADDRESSES[client],
      day: '2026-11-20',
      receiver_id: 'microsoft',
      started_at: now,
      ended_at: now,
      rcpt_commands: 1,
      data_commands: 1,
      recipients: 1,
      comments: `${word} comment`,
      is_below_rate: 0,
      fetched_at: now,
    })
    .execute();
  await db
    .insertInto('hosted_files')
    .values({
      domain_id,
      logo: `<svg xmlns="http://www.w3.org/2000/svg"><title>${word}</title></svg>`,
    })
    .execute();
  await db
    .insertInto('dns_servers')
    .values({
      id: app.newId('dns'),
      kind: 'rfc2136',
      name: `${word} server`,
      settings: JSON.stringify({ server: `ns.${name}`, key_name: word, algorithm: 'hmac-sha256' }),
      secrets: '',
      zones: JSON.stringify([name]),
      created_at: now,
    })
    .execute();
  await db
    .insertInto('report_mailboxes')
    .values({
      id: app.newId('fbx'),
      name: `${word} mailbox`,
      host: `imap.${name}`,
      folder: 'INBOX',
      schedule: 'off',
      last_uid: 0,
      counts: '{}',
      failures: 0,
      created_at: now,
    })
    .execute();
  await db
    .insertInto('webhook_endpoints')
    .values({
      id: app.newId('whe'),
      url: `https://${name}/hook`,
      events: '["*"]',
      description: word,
      livemode: 1,
      enabled: 0,
      secret: '',
      created_at: now,
    })
    .execute();
  await db
    .insertInto('members')
    .values({
      id: app.newId('mem'),
      email: `${word}-person@mail.example`,
      name: `${word} person`,
      role: 'member',
      joined_at: now,
    })
    .execute();
}

/** All rows that name the client, or an object that does. */
async function rowsOf(
  { app }: TestService,
  owned: Record<Client, Owned>,
  client: Client,
): Promise<string[]> {
  const others = (Object.keys(owned) as Client[]).filter((other) => other !== client);
  const texts: string[] = [];
  for (const table of TABLES as (keyof Tables)[]) {
    if (['idempotency_keys', 'rate_limits', 'sessions', 'outbox', 'message_chunks'].includes(table))
      continue;
    const rows = await app.db
      .selectFrom(table as 'events')
      .selectAll()
      .execute();
    for (const row of rows) {
      const text = JSON.stringify(row);
      const isOwn =
        text.includes(`z${client}`) ||
        Object.values(owned[client]).some((id) => text.includes(id)) ||
        text.includes(ADDRESSES[client]);
      const isShared = others.some(
        (other) =>
          text.includes(`z${other}`) || Object.values(owned[other]).some((id) => text.includes(id)),
      );
      if (isOwn && !isShared) texts.push(text);
    }
  }
  return texts.toSorted();
}
