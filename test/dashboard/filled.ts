/** A team with more rows in each list than a screen shows. */

import type { TestContext } from 'node:test';
import type { Kysely } from 'kysely';
import { isoTime } from '../../src/lib/clock.ts';
import type { IdPrefix } from '../../src/lib/ids.ts';
import type { Tables } from '../../src/store/tables.generated.ts';
import { BEGIN } from '../feedback/reading/builders.ts';
import { named, startFeedback } from '../feedback/start.ts';
import { reportsOfDay, STORY_ZONE } from '../feedback/story.ts';
import type { TestService } from '../helpers/app.ts';
import { populate, startReceiverOf } from './populated.ts';

const COPIES = 14;
const REPORTERS = 6;
const REPORT_DAYS = 3;
const DAY_S = 86_400;
/** Nothing listens there: pages only say whether email is set up. */
const MAIL = {
  DELIVERABILITY_MAIL_URL: 'smtp://127.0.0.1:9',
  DELIVERABILITY_MAIL_FROM: 'reports@example.com',
};

export interface Filled {
  service: TestService;
  /** The paths of pages that are one list. */
  lists: string[];
  /** The paths of pages with a list below something else. */
  others: string[];
}

/** Starts a service whose lists have more rows than a screen. What the API can't make quickly is copied. */
export async function startFilled(t: TestContext): Promise<Filled> {
  const { receiver, env } = await startReceiverOf(t);
  const feedback = await startFeedback(t, {
    zone: STORY_ZONE,
    env: { ...env, ...MAIL },
  });
  const { service, domain } = feedback;
  await populate(service, receiver);
  for (let day = REPORT_DAYS - 1; day >= 0; day--) {
    const options = { reporters: REPORTERS, sendgridSigns: false, newcomer: true };
    for (const report of reportsOfDay(BEGIN - day * DAY_S, options)) await feedback.upload(report);
  }
  await named(feedback);
  await service.app.scheduler.stop();
  const at = isoTime(service.app.clock.now());
  const { add, copy } = rowsOf(service);
  const member = { name: 'A colleague', role: 'member' as const, joined_at: at };
  await add('members', 'mem', { ...member, email: 'colleague@example.com' });
  await copy('members', 'mem', (n) => ({ ...member, email: `colleague${n}@example.com` }));
  await copy('domains', 'dom', (n) => ({ name: `shop${n}.example.org` }));
  await copyReports(service, domain.id);
  const { id: monitor_id } = await copy('monitors', 'mon');
  const run = { monitor_id, started_at: at, finished_at: at, status: 'ok' as const };
  const changes = '{"appeared":[],"gone":[],"unknown":[],"targets":[]}';
  await add('monitor_runs', 'run', { ...run, findings: '[]', changes });
  await copy('monitor_runs', 'run');
  const { id: alert_id } = await copy('alerts', 'alt', (n) => ({ name: `Rule ${n}` }));
  await add('alert_incidents', 'inc', {
    alert_id,
    subject: '203.0.114.0',
    status: 'open',
    condition: 'blocklist_hit',
    value: '{"lists":[]}',
    opened_at: at,
  });
  await copy('alert_incidents', 'inc', (n) => ({ subject: `203.0.114.${n}` }));
  await copy('tests', 'test', (n) => ({ token: `copied${n}` }));
  await service.call('POST', '/v1/inboxes', { json: { name: 'Newsletter' } });
  await copy('inboxes', 'ibx', (n) => ({ token: `inbox${n}`, name: `Newsletter ${n}` }));
  await copy('report_schedules', 'rps');
  await copy('shared_reports', 'rpt', (n) => ({ token_hash: `hash${n}`, revoked_at: null }));
  await copy('webhook_endpoints', 'whe', () => ({ livemode: 1 }));
  const delivery = await copy('webhook_deliveries', 'whd');
  await copy('api_keys', 'key', (n) => ({ hash: `hash${n}`, name: `Deployment ${n}` }));
  await copy('invitations', 'inv', (n) => ({ hash: `hash${n}`, email: `invited${n}@example.com` }));
  const reporter = (n: number) => ({ name: `DKIM r${n}.example`, title: `r${n}.example` });
  await copy('feedback_reporters', 'rep', reporter);
  await add('report_mailboxes', 'fbx', {
    name: 'Reports',
    host: 'imap.example.com',
    port: 993,
    tls: 'implicit',
    username: 'reports@example.com',
    folder: 'INBOX',
    schedule: 'hourly',
    last_uid: 0,
    counts: '{"read":0,"remaining":0,"moved":0,"undecided":0,"statuses":{},"reasons":{}}',
    failures: 0,
    created_at: at,
  });
  await copy('report_mailboxes', 'fbx', (n) => ({ name: `Reports ${n}` }));
  const server_id = await add('dns_servers', 'dns', {
    kind: 'rfc2136',
    name: 'Name server',
    settings: '{}',
    secrets: '',
    zones: '["example.com"]',
    created_at: at,
  });
  await copy('dns_servers', 'dns', (n) => ({ name: `Name server ${n}` }));
  await add('dns_changes', 'chg', {
    server_id,
    zone: 'example.com',
    name: 's1._domainkey.example.com',
    type: 'TXT',
    before: '{"values":[],"ttl":null}',
    after: '{"values":["v=DKIM1; p=x"],"ttl":3600}',
    reason: 'The DKIM key',
    status: 'applied',
    created_at: at,
    finished_at: at,
  });
  await copy('dns_changes', 'chg', (n) => ({ name: `s${n}._domainkey.example.com` }));
  const ofDomain = `/feedback/domains/${domain.id}`;
  return {
    service,
    lists: [
      '/tests',
      '/inboxes',
      '/domains',
      '/monitors',
      '/alerts',
      '/feedback',
      '/feedback/reports',
      '/feedback/mailboxes',
      '/reports/schedules',
      '/reports/shares',
      '/team',
      '/api-keys',
      '/webhooks',
      '/audit-log',
      '/dns',
      '/dns/changes',
    ],
    others: [
      '/',
      ofDomain,
      `${ofDomain}/reporters`,
      `/monitors/${monitor_id}`,
      `/webhooks/${delivery.endpoint_id}`,
      '/account',
      '/receivers',
      '/reports',
      '/system',
      '/tests/new',
      '/docs',
      '/search?q=e',
    ],
  };
}

/** Gives the copied domains what receivers report about another. */
async function copyReports({ app: { db } }: TestService, id: string): Promise<void> {
  const [reported, day] = await Promise.all([
    db.selectFrom('feedback_domains').selectAll().where('id', '=', id).executeTakeFirstOrThrow(),
    db
      .selectFrom('dmarc_days')
      .selectAll()
      .where('domain_id', '=', id)
      .limit(1)
      .executeTakeFirstOrThrow(),
  ]);
  const copies = await db
    .selectFrom('domains')
    .select('id')
    .where('name', 'like', 'shop%')
    .execute();
  for (const { id } of copies) {
    await db
      .insertInto('feedback_domains')
      .values({ ...reported, id, token: id.slice(-16) })
      .execute();
    await db
      .insertInto('dmarc_days')
      .values({ ...day, domain_id: id })
      .execute();
  }
}

type Listed = {
  [Table in keyof Tables]: Tables[Table] extends { id: string } ? Table : never;
}[keyof Tables];

/** Rows with new IDs: `add` a first one, and `copy` the newest with other values. */
function rowsOf({ app }: TestService) {
  const db = app.db as never as Kysely<{ listed: { id: string } }>;
  const add = async <Table extends Listed>(
    table: Table,
    prefix: IdPrefix,
    row: Omit<Partial<Tables[Table]>, 'id'>,
  ): Promise<string> => {
    const id = app.newId(prefix);
    await db
      .insertInto(table as never)
      .values({ ...row, id })
      .execute();
    return id;
  };
  const copy = async <Table extends Listed>(
    table: Table,
    prefix: IdPrefix,
    change: (n: number) => Partial<Tables[Table]> = () => ({}),
  ): Promise<Tables[Table]> => {
    const query = db
      .selectFrom(table as 'listed')
      .selectAll()
      .orderBy('id', 'desc');
    const row = (await query.executeTakeFirstOrThrow()) as never as Tables[Table];
    for (let n = 1; n <= COPIES; n++) await add(table, prefix, { ...row, ...change(n) });
    return row;
  };
  return { add, copy };
}
