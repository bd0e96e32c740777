/** Uploaded messages, each of which opens incidents: every channel is notified once. */

import assert from 'node:assert/strict';
import { isoTime, systemClock } from '../../../src/lib/clock.ts';
import { createIdGenerator } from '../../../src/lib/ids.ts';
import type { Db } from '../../../src/store/open.ts';
import type { Receiver } from '../../helpers/receiver.ts';
import type { MailSink } from '../../outbox/mail-sink.ts';
import { type Mail, makeMessage } from '../mail-load.ts';
import { atGate, countRows, createGate, type Load, untilMore } from './load.ts';
import type { Messages } from './messages.ts';
import { newMail } from './messages.ts';

/** A rule sends at most twenty emails per hour to a recipient. */
const UPLOADS_PER_RECIPIENT = 10;
const SLACK_PATH = '/slack';

/** A DNS query for the domain of an upload, as bytes. */
export const UPLOADED_QUERY = /u\d+\x07example\0/;

/** A message submitted by API. */
interface Upload {
  name: string;
  raw: Buffer;
  /** Null if no response said. */
  testId: string | null;
}

export interface Alerts extends Load {
  /** Answers a request of the service if it is a Slack message. */
  respond(path: string): Promise<number> | null;
}

interface AlertsOptions {
  receiver: Receiver;
  sink: MailSink;
  messages: Messages;
}

export function createAlerts({ receiver, sink, messages }: AlertsOptions): Alerts {
  const uploads: Upload[] = [];
  const rules = { mail: '', hook: '' };
  const gate = createGate();
  let incidentsBefore = 0;
  /** The incidents of Slack messages that were received, but not recorded as posted before a kill. */
  let unrecorded: string[] | null = null;
  let postsBefore = 0;
  const posts = () => receiver.requests.filter(({ path }) => path === SLACK_PATH);
  /** The incident that a Slack message links to. */
  const incidentOf = ({ body }: { body: string }) => /inc_\w+/.exec(body)![0];
  return {
    name: 'alerts',
    env: { DELIVERABILITY_SLACK_WEBHOOK_URL: `https://127.0.0.1:${receiver.port}${SLACK_PATH}` },
    respond: (path) => (path === SLACK_PATH ? Promise.resolve(gate.pass()).then(() => 200) : null),
    async prepare(db) {
      // The first owner has recommended rules, which would send mail too.
      await db.deleteFrom('alerts').execute();
      rules.mail = await insertRule(db, ['email', 'slack']);
      rules.hook = await insertRule(db, ['webhook']);
    },
    clients: 2,
    maxPauseMs: 900,
    async work(site) {
      const number = uploads.length;
      const domain = `u${number}.example`;
      const entry: Upload = {
        name: `upload ${number}`,
        raw: makeMessage(number, site.random, domain),
        testId: null,
      };
      uploads.push(entry);
      if (number % UPLOADS_PER_RECIPIENT === 0) {
        const recipients = [`alerts-${number}@example.com`];
        const body = JSON.stringify({ recipients });
        await site.call('PATCH', `/v1/alerts/${rules.mail}`, { body });
      }
      const path = `/v1/tests/raw?name=${encodeURIComponent(entry.name)}&client_ip=192.0.2.1&helo=mx.example.com`;
      const idempotencyKey = `upload-${number}`;
      const type = 'message/rfc822';
      const test = await site.call('POST', path, { body: entry.raw, type, idempotencyKey });
      if (!test) return;
      entry.testId = test.id;
      // Results of many uploads at once would exceed the limit.
      await site.call('GET', `/v1/tests/${test.id}?wait=20`);
    },
    moments: [
      {
        name: 'incident',
        async reach({ db }) {
          incidentsBefore = await countRows(db, 'alert_incidents');
          await untilMore(() => countRows(db, 'alert_incidents'));
        },
        end: async (db) => (await countRows(db, 'alert_incidents')) > incidentsBefore,
      },
      atGate('notification', gate, async (db) => {
        const posting = await db
          .selectFrom('alert_notifications')
          .select('id')
          .where('channel', '=', 'slack')
          .where('status', '=', 'queued')
          .where('lease', 'is not', null)
          .execute();
        return posting.length > 0;
      }),
    ],
    async afterKill(db) {
      const sent = await db
        .selectFrom('alert_notifications')
        .select('incident_id')
        .where('channel', '=', 'slack')
        .where('status', '=', 'sent')
        .execute();
      const recorded = new Set(sent.map(({ incident_id }) => incident_id));
      const received = posts().slice(postsBefore).map(incidentOf);
      postsBefore = posts().length;
      unrecorded ??= [];
      unrecorded.push(...received.filter((id) => !recorded.has(id)));
    },
    async verify(db, site) {
      messages.mails.push(...(await storedUploads(db, uploads, site)));
      const incidents = await db.selectFrom('alert_incidents').selectAll().execute();
      assert.ok(incidents.length > 0);
      assert.ok(incidents.every(({ status }) => status === 'open'));
      const found = new Set(incidents.map(({ alert_id, test_id }) => `${alert_id} ${test_id}`));
      assert.equal(found.size, incidents.length);
      for (const { testId, name } of uploads)
        if (testId !== null)
          for (const rule of Object.values(rules))
            assert.ok(found.has(`${rule} ${testId}`), `${name} has no incident of ${rule}`);
      const mails = sink.taken.map(({ raw }) => raw.toString().replaceAll('=\r\n', ''));
      const posted = Map.groupBy(posts(), incidentOf);
      const events = await db
        .selectFrom('events')
        .select('data')
        .where('type', '=', 'alert.triggered')
        .execute();
      const announced = events.map(({ data }) => (JSON.parse(data) as { id: string }).id);
      assert.deepEqual(announced.sort(), incidents.map(({ id }) => id).sort());
      for (const { id, alert_id } of incidents) {
        const byMail = alert_id === rules.mail;
        assert.equal(
          mails.some((text) => text.includes(id)),
          byMail,
          `email of ${id}`,
        );
        const times = posted.get(id)?.length ?? 0;
        const repeated = unrecorded?.filter((other) => other === id).length;
        if (byMail && repeated !== undefined) assert.equal(times, 1 + repeated, `posts of ${id}`);
        else assert.equal(times > 0, byMail, `posts of ${id}`);
      }
      return {
        uploads: uploads.length,
        incidents: incidents.length,
        posts: posts().length,
        repeatedPosts: posts().length - posted.size,
      };
    },
  };
}

async function insertRule(db: Db, channels: string[]): Promise<string> {
  const id = createIdGenerator(systemClock)('alt');
  await db
    .insertInto('alerts')
    .values({
      id,
      name: 'Authentication',
      condition: 'auth_fail',
      channels: JSON.stringify(channels),
      enabled: 1,
      created_at: isoTime(systemClock.now()),
    })
    .execute();
  return id;
}

/** The uploads as messages. Adds faults for a name that occurs twice: a repeated request took effect twice. */
async function storedUploads(
  db: Db,
  uploads: Upload[],
  site: { faults: string[]; random: Parameters<typeof newMail>[2]['random'] },
): Promise<Mail[]> {
  const rows = await db.selectFrom('tests').select(['id', 'name']).execute();
  const byName = Map.groupBy(rows, ({ name }) => name);
  return uploads.flatMap(({ name, raw, testId }): Mail[] => {
    const found = byName.get(name) ?? [];
    if (found.length > 1) site.faults.push(`${name} was stored ${found.length} times`);
    if (testId !== null && found[0]?.id !== testId) site.faults.push(`${name} is lost`);
    return found.map(({ id }) => ({
      ...newMail({ id, address: '' }, raw, site),
      state: testId === null ? 'unanswered' : 'kept',
    }));
  });
}
