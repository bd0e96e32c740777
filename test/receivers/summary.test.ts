/** What Google and Microsoft publish in a period: the figures, and where people read them. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { parseMessage } from '../../src/analysis/mime/parse-message.ts';
import { receiverAccounts } from '../../src/config/receivers.ts';
import { valuesOf } from '../../src/figures/figure.ts';
import { GMAIL_FIGURES } from '../../src/figures/gmail.ts';
import { receiverFigures } from '../../src/receivers/summary.ts';
import type { ReceiverFigures } from '../../src/report/summary.ts';
import type {
  ReceiverAddressRow,
  ReceiverBlockRow,
  ReceiverDayRow,
  ReceiverRequirementRow,
} from '../../src/store/tables.generated.ts';
import { newMember } from '../dashboard/member.ts';
import { mainOf } from '../dashboard/pages.ts';
import { startTestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { pdfText } from '../helpers/pdf.ts';
import { startMailSink } from '../outbox/mail-sink.ts';

const WEEK = { from: '2026-11-15', to: '2026-11-21' };
const NOW = Date.parse('2026-11-22T10:00:00.000Z');
const READ_AT = '2026-11-22T06:10:00.000Z';

const day = (date: string, changes: Partial<ReceiverDayRow> = {}): ReceiverDayRow => ({
  name: 'example.com',
  day: date,
  receiver_id: 'google_postmaster',
  ...valuesOf(GMAIL_FIGURES, 'column', () => null),
  errors: null,
  feedback_loops: null,
  fetched_at: READ_AT,
  ...changes,
});

const requirement = (
  name: string,
  changes: Partial<ReceiverRequirementRow> = {},
): ReceiverRequirementRow => ({
  name: 'example.com',
  requirement: name,
  receiver_id: 'google_postmaster',
  status: 'COMPLIANT',
  reason: null,
  previous: null,
  since: '2026-11-10T06:10:00.000Z',
  checked_at: READ_AT,
  ...changes,
});

const address = (
  ip: string,
  date: string,
  changes: Partial<ReceiverAddressRow> = {},
): ReceiverAddressRow => ({
  address: ip,
  day: date,
  receiver_id: 'microsoft_snds',
  started_at: `${date}T08:00:00.000Z`,
  ended_at: `${date}T20:00:00.000Z`,
  rcpt_commands: 900,
  data_commands: 890,
  recipients: 880,
  filter_result: 'GREEN',
  complaint_rate: 0.001,
  is_below_rate: 1,
  trap_hits: 0,
  sample_helo: null,
  sample_mail_from: null,
  comments: null,
  fetched_at: READ_AT,
  ...changes,
});

const block = (first: string, last: string, blocked: 0 | 1): ReceiverBlockRow => ({
  receiver_id: 'microsoft_snds',
  first_address: first,
  last_address: last,
  blocked,
  details: blocked ? 'Blocked due to user complaints' : '',
  since: READ_AT,
  checked_at: READ_AT,
});

const ACCOUNTS = [
  { receiver: 'google_postmaster', client_id: 'app', client_secret: 'secret' },
  { receiver: 'microsoft_snds', key: 'snds-key' },
];

async function start(t: TestContext, env: Record<string, string> = {}) {
  const clock = testClock(NOW);
  const service = await startTestService(t, { clock, env });
  const { db, config } = service.app;
  // Nothing is fetched from them: the service has started without them.
  config.RECEIVERS.push(...receiverAccounts(JSON.stringify(ACCOUNTS)));
  const domain = async (name: string) =>
    (await service.call<{ id: string }>('POST', '/v1/domains', { json: { name } })).body.id;
  const publish = async (rows: {
    days?: ReceiverDayRow[];
    requirements?: ReceiverRequirementRow[];
    addresses?: ReceiverAddressRow[];
    blocks?: ReceiverBlockRow[];
  }) => {
    const { days = [], requirements = [], addresses = [], blocks = [] } = rows;
    if (days.length > 0) await db.insertInto('receiver_days').values(days).execute();
    if (requirements.length > 0)
      await db.insertInto('receiver_requirements').values(requirements).execute();
    if (addresses.length > 0) await db.insertInto('receiver_addresses').values(addresses).execute();
    if (blocks.length > 0) await db.insertInto('receiver_blocks').values(blocks).execute();
  };
  return { service, db, id: await domain('example.com'), domain, publish };
}

/** A bad Wednesday, a requirement that needs work, one address that is spam, and one range that is blocked. */
const STORY = {
  days: [
    day('2026-11-14', { spam_rate: 0.05 }),
    day('2026-11-16', { spam_rate: 0.0002, reject_rate: 0, temp_fail_rate: 0 }),
    // Another account showed this day before.
    day('2026-11-18', {
      receiver_id: 'other',
      spam_rate: 0.9,
      fetched_at: '2026-11-19T06:10:00.000Z',
    }),
    day('2026-11-18', {
      spam_rate: 0.0034,
      reject_rate: 0.021,
      errors: JSON.stringify([
        { type: 'temp_fail', reason: 'other', rate: 0.5, count: null },
        { type: 'reject', reason: 'spammy_content', rate: 0.001, count: 1 },
        { type: 'reject', reason: 'low_ip_reputation', rate: 0.02, count: 20 },
      ]),
    }),
    day('2026-11-19', { tls_rate: 1 }),
    day('2026-11-20', { spam_rate: 0.0004, reject_rate: 0.001 }),
  ],
  requirements: [
    requirement('SPF'),
    // An account that is no longer configured has read it.
    requirement('ENCRYPTION', { status: 'NEEDS_WORK', receiver_id: 'removed' }),
    requirement('DMARC_ALIGNMENT', { status: 'NEEDS_WORK', previous: 'COMPLIANT' }),
    // Nobody has read it since before the week.
    requirement('DKIM', { status: 'NEEDS_WORK', checked_at: '2026-11-12T06:10:00.000Z' }),
  ],
  addresses: [
    address('203.0.113.9', '2026-11-16', { filter_result: 'RED' }),
    address('203.0.113.9', '2026-11-17', { filter_result: 'RED' }),
    address('203.0.113.9', '2026-11-17', {
      filter_result: 'RED',
      started_at: '2026-11-17T21:00:00.000Z',
    }),
    address('203.0.113.9', '2026-11-19'),
    address('203.0.113.10', '2026-11-19', { filter_result: 'YELLOW' }),
    address('203.0.113.11', '2026-11-14', { filter_result: 'RED' }),
  ],
  blocks: [
    block('203.0.113.16', '203.0.113.31', 1),
    block('203.0.113.9', '203.0.113.9', 0),
    { ...block('203.0.113.8', '203.0.113.10', 1), receiver_id: 'removed' },
    block('2001:db8::1', '2001:db8::f', 1),
  ],
};

const EXPECTED = (id: string): ReceiverFigures => ({
  ...WEEK,
  gmail: {
    total: 1,
    domains: [
      {
        domain_id: id,
        domain: 'example.com',
        spam_rate: {
          days: 3,
          latest: { day: '2026-11-20', rate: 0.0004 },
          highest: { day: '2026-11-18', rate: 0.0034 },
        },
        rejected: { day: '2026-11-18', rate: 0.021, reason: 'low_ip_reputation' },
        deferred: null,
        requirements: {
          checked_at: READ_AT,
          needs_work: [
            {
              requirement: 'DMARC_ALIGNMENT',
              name: 'DMARC alignment',
              since: '2026-11-10T06:10:00.000Z',
            },
          ],
        },
      },
    ],
  },
  outlook: {
    days: 3,
    addresses: 2,
    spam: { total: 1, addresses: [{ address: '203.0.113.9', days: 3, red_days: 2 }] },
    blocked: {
      checked_at: READ_AT,
      total: 2,
      addresses: ['2001:db8::1-2001:db8::f', '203.0.113.16-203.0.113.31'].map((range) => ({
        address: range,
        since: READ_AT,
        details: 'Blocked due to user complaints',
      })),
    },
  },
});

test('GET /v1/reports/summary has what Google and Microsoft publish; test mode and quiet periods have not', async (t) => {
  const { service, db, id, domain, publish } = await start(t);
  const quiet = await domain('quiet.example');
  const figures = async (query: string, key?: string) => {
    const { status, body } = await service.call<{ receivers: ReceiverFigures | null }>(
      'GET',
      `/v1/reports/summary?${query}`,
      { key },
    );
    assert.equal(status, 200, JSON.stringify(body));
    return body.receivers;
  };
  assert.equal(await figures('period=week'), null);
  await publish(STORY);
  assert.deepEqual(await figures('period=week'), EXPECTED(id));
  const own = await figures(`period=week&domain_id=${id}`);
  assert.deepEqual(own!.gmail, EXPECTED(id).gmail);
  // Nobody knows which addresses send for the domain.
  assert.equal(own!.outlook, null);
  await db
    .insertInto('feedback_addresses')
    .values({
      id: `${id} 203.0.113.9`,
      domain_id: id,
      address: '203.0.113.9',
      messages: 20,
      passed: 20,
      source_id: null,
      host: null,
      look_up_at: READ_AT,
      first_day: '2026-11-10',
      last_day: '2026-11-20',
    })
    .execute();
  const sending = (await figures(`period=week&domain_id=${id}`))!.outlook!;
  assert.deepEqual([sending.addresses, sending.blocked!.total], [1, 0]);
  assert.equal(await figures(`period=week&domain_id=${quiet}`), null);
  const month = await figures('period=month');
  assert.deepEqual(month!.gmail.domains[0]!.spam_rate!.highest, {
    day: '2026-11-14',
    rate: 0.05,
  });
  assert.equal(await figures('period=week', await service.makeKey('viewer', false)), null);
});

test('Of several accounts, each figure of a day is that of the one that has it', async (t) => {
  const { service, id, publish } = await start(t);
  const later = { receiver_id: 'other', fetched_at: '2026-11-22T07:00:00.000Z' };
  await publish({
    days: [
      day('2026-11-20', { spam_rate: 0.004, spf_rate: 0.9 }),
      // The answer to this account was incomplete.
      day('2026-11-20', { ...later, spf_rate: 0.95 }),
    ],
  });
  const { body } = await service.call<{ receivers: ReceiverFigures | null }>(
    'GET',
    '/v1/reports/summary?period=week',
  );
  assert.equal(body.receivers!.gmail.domains[0]!.spam_rate!.latest.rate, 0.004);
  const stats = await service.call<{ days: { spam_rate: number | null; spf: number | null }[] }>(
    'GET',
    `/v1/receivers/stats?domain_id=${id}`,
  );
  assert.deepEqual(
    stats.body.days.map(({ spam_rate, spf }) => [spam_rate, spf]),
    [[0.004, 0.95]],
  );
});

test('A status that tells neither is not counted as met', async (t) => {
  const { service, publish } = await start(t);
  await publish({ requirements: [requirement('SPF', { status: 'STATUS_UNSPECIFIED' })] });
  const { body } = await service.call<{ receivers: ReceiverFigures | null }>(
    'GET',
    '/v1/reports/summary?period=week',
  );
  assert.equal(body.receivers?.gmail.domains[0]?.requirements ?? null, null);
});

test('receiverFigures knows only the addresses that it is asked about, and the ranges around them', async (t) => {
  const { db, publish } = await start(t);
  await publish(STORY);
  const outlook = async (addresses: string[]) =>
    (await receiverFigures(db, { ...WEEK, domains: [], addresses, accounts: ['microsoft_snds'] }))
      ?.outlook;
  const fine = await outlook(['203.0.113.10', '203.0.113.9']);
  assert.deepEqual([fine!.addresses, fine!.spam.total, fine!.blocked!.total], [2, 1, 0]);
  const blocked = await outlook(['203.0.113.20']);
  assert.deepEqual(
    [blocked!.addresses, blocked!.blocked!.addresses.map((each) => each.address)],
    [0, ['203.0.113.16-203.0.113.31']],
  );
  // Nobody knows whether it is blocked.
  assert.equal((await outlook(['203.0.113.11', '203.0.113.10']))!.blocked, null);
  assert.equal(await outlook(['2001:db8::10', '192.0.2.1']), undefined);
});

test('receiverFigures lists the worst of many domains and counts all of them', async (t) => {
  const { db, domain, publish } = await start(t);
  const names = Array.from({ length: 60 }, (_, index) => `d${index}.example`);
  for (const name of names) await domain(name);
  await publish({
    days: names.map((name, index) => day('2026-11-20', { name, spam_rate: index / 100_000 })),
  });
  const figures = await receiverFigures(db, {
    ...WEEK,
    domains: null,
    addresses: null,
    accounts: [],
  });
  const { total, domains } = figures!.gmail;
  assert.deepEqual([total, domains.length, domains[0]!.domain], [60, 10, 'd59.example']);
  assert.equal(figures!.outlook, null);
});

test('The summary page and a scheduled report show what Google and Microsoft publish', {
  skip: skipUnlessInstalled('pdftotext'),
}, async (t) => {
  const sink = await startMailSink(t);
  const { service, publish } = await start(t, {
    DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
    DELIVERABILITY_MAIL_FROM: 'reports@example.com',
  });
  const member = await newMember(service, 'member');
  const send = async (format: 'html' | 'pdf') => {
    const name = `Report ${sink.taken.length}`;
    const { body } = await service.call<{ id: string }>('POST', '/v1/reports/schedules', {
      json: {
        name,
        frequency: 'weekly',
        recipients: ['ann@example.com'],
        format,
        include_sections: ['summary'],
      },
    });
    const sent = await service.call('POST', `/v1/reports/schedules/${body.id}/send`);
    assert.equal(sent.status, 200, sent.text);
    await sink.waitFor(new RegExp(name));
    const { raw } = sink.taken.at(-1)!;
    const { html, text } = await parseMessage(raw);
    const encoded = /Content-Type: application\/pdf.*?\r\n\r\n([\w+/=\r\n]+)/s.exec(raw.toString());
    return {
      html: html!.replace(/<[^>]*>/g, ' '),
      text: text!,
      pdf: encoded ? pdfText(Buffer.from(encoded[1]!, 'base64')) : '',
    };
  };
  const readPage = async () => mainOf((await member.get('/reports?period=week')).html);
  const title = /What Google and Microsoft publish/i;
  assert.doesNotMatch((await send('html')).text, title);
  assert.doesNotMatch(await readPage(), title);
  await publish(STORY);
  const { html, text } = await send('html');
  const { pdf } = await send('pdf');
  const parts = { html, text, pdf, page: (await readPage()).replace(/<[^>]*>/g, ' ') };
  for (const [name, part] of Object.entries(parts)) {
    const words = part.replace(/\s+/g, ' ');
    assert.match(words, title, name);
    for (const phrase of [
      'Gmail spam rate',
      '0.34%',
      'On 18 Nov 2026, the highest of 3 days with data; 0.04% on 20 Nov 2026',
      'DMARC alignment since 10 Nov 2026',
      'mostly because of low IP reputation',
      'Addresses that Outlook blocks',
      '203.0.113.9: over 90% spam on 2 of 3 days with data',
    ])
      assert.ok(words.includes(phrase), `${phrase} in ${name}: ${words}`);
  }
});
