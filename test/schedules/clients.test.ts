import assert from 'node:assert/strict';
import { test } from 'node:test';
import PostalMime from 'postal-mime';
import type { Problem } from '../../src/http/problem.ts';
import { pngLogo } from '../brand/logos.ts';
import { skipUnlessInstalled } from '../helpers/installed.ts';
import { pdfText } from '../helpers/pdf.ts';
import type { TakenMail } from '../outbox/mail-sink.ts';
import { addDomain } from '../shares/tagged-domains.ts';
import { DAY_MS, fieldOf, SCHEDULES, type Scheduling, startScheduling } from './scheduling.ts';

/** All that a recipient can read: header, both parts, and the PDF. */
async function contentOf({ raw }: TakenMail): Promise<string> {
  const mail = await PostalMime.parse(raw);
  const pdfs = mail.attachments
    .filter(({ mimeType }) => mimeType === 'application/pdf')
    .map(({ content }) => pdfText(new Uint8Array(content as ArrayBuffer)));
  const from = `${mail.from?.name} <${mail.from?.address}>`;
  return [from, mail.subject, mail.text, mail.html, ...pdfs].join('\n');
}

const mailTo = ({ sink }: Scheduling, address: string): TakenMail => {
  const found = sink.taken.filter(({ to }) => to[0] === address);
  assert.equal(found.length, 1, address);
  return found[0]!;
};

/** Domains of two clients, each with a test in its figures, and with open incidents of one rule for all. */
async function withClients({ service }: Scheduling): Promise<Record<'acme' | 'beta', string>> {
  const { app, call } = service;
  const ids = {
    acme: await addDomain(app, 'canary-acme.example', ['client:acme']),
    beta: await addDomain(app, 'canary-beta.example', ['client:beta', 'vip']),
  };
  const rule = { name: 'Acme and Beta rule', condition: 'score_below', channels: ['email'] };
  const { body } = await call<{ id: string }>('POST', '/v1/alerts', { json: rule });
  for (const [name, id] of Object.entries(ids)) {
    const counts = { scored: 1, score_sum: name === 'acme' ? 41 : 97, tests: 1 };
    const zeros = Object.fromEntries(
      [
        'grade_a',
        'grade_b',
        'grade_c',
        'grade_d',
        'grade_f',
        'spf_known',
        'spf_pass',
        'dkim_known',
        'dkim_pass',
        'dmarc_known',
        'dmarc_pass',
        'placement_samples',
        'placement_inbox',
      ].map((column) => [column, 0]),
    );
    await app.db
      .insertInto('test_tallies')
      .values({
        livemode: 1,
        domain_id: id,
        hour: '2026-11-21T09:00:00.000Z',
        ...zeros,
        ...counts,
        issues: '{}',
        placement_counts: '{}',
      } as never)
      .execute();
    await app.db
      .insertInto('alert_incidents')
      .values({
        id: app.newId('inc'),
        alert_id: body.id,
        subject: `canary-${name}.example`,
        value: '{}',
        status: 'open',
        opened_at: '2026-11-21T09:00:00.000Z',
        condition: 'score_below',
        threshold: 70,
      } as never)
      .execute();
  }
  return ids;
}

/** From ten to eight. */
const UNTIL_DUE_MS = 22 * 3_600_000;

const CLIENTS = {
  'client:acme': ['ann@acme.example', 'both@agency.example'],
  'client:beta': ['bob@beta.example', 'both@agency.example'],
};
/** Reports of the day with the figures are due on the next. */
const FOR_CLIENTS = { recipients: undefined, recipients_by_tag: CLIENTS };

/** Three at a time. */
async function sendAll({ sendDue }: Scheduling): Promise<void> {
  await sendDue();
  await sendDue();
}

async function sendTo(scheduling: Scheduling, json: object): Promise<string> {
  const { create, makeDue, clock } = scheduling;
  const { id } = await create({ ...FOR_CLIENTS, ...json });
  clock.advance(UNTIL_DUE_MS);
  await makeDue();
  await sendAll(scheduling);
  return id;
}

test('A schedule for each client mails each its own domains, and nothing of others', {
  skip: skipUnlessInstalled('pdftotext'),
}, async (t) => {
  for (const format of ['html', 'pdf']) {
    const scheduling = await startScheduling(t);
    const { service, sink, get, runs } = scheduling;
    await withClients(scheduling);
    await service.call('PATCH', '/v1/brand', {
      json: { name: 'Harbor “Mail”, Inc.', color: '#0a7d5a', logo: pngLogo().toString('base64') },
    });
    const id = await sendTo(scheduling, { format });
    assert.equal(sink.taken.length, 4);
    for (const [address, own, score, other] of [
      ['ann@acme.example', 'acme', '41', 'beta'],
      ['bob@beta.example', 'beta', '97', 'acme'],
    ] as const) {
      const content = await contentOf(mailTo(scheduling, address));
      assert.ok(content.includes(`canary-${own}.example`) || format === 'pdf');
      assert.ok(content.includes(score), `${address}: ${score}`);
      assert.ok(!new RegExp(other, 'i').test(content), `${address} reads of ${other}`);
      assert.ok(content.includes('Harbor “Mail”, Inc. <reports@example.com>'));
      assert.ok(content.includes('Checked with Deliverability'));
      // Clients have no account.
      assert.ok(!content.includes('Open the reports') && !content.includes('dom_'));
    }
    const both = sink.taken.filter(({ to }) => to[0] === 'both@agency.example');
    const subjects = await Promise.all(
      both.map(async (mail) => (await contentOf(mail)).split('\n')[1]),
    );
    assert.deepEqual(subjects.map((subject) => subject!.split(':')[0]).toSorted(), [
      'acme',
      'beta',
    ]);
    const links = new Set(sink.taken.map(({ raw }) => fieldOf(raw, 'List-Unsubscribe')));
    assert.equal(links.size, 3);
    const listed = await runs(id);
    assert.deepEqual(listed.map(({ tag, status }) => [tag, status]).toSorted(), [
      ['client:acme', 'sent'],
      ['client:beta', 'sent'],
    ]);
    const { last_status, detail, recipients, recipients_by_tag } = await get(id);
    assert.deepEqual([last_status, detail, recipients], ['sent', null, []]);
    assert.deepEqual(recipients_by_tag, CLIENTS);
  }
});

test('A report that cannot be composed does not stop the others, and is retried alone', async (t) => {
  const scheduling = await startScheduling(t);
  const { service, sink, clock, makeDue, sendDue, runs, get } = scheduling;
  await withClients(scheduling);
  const renderer = service.app.reportRenderer;
  const render = renderer.render;
  let broken = true;
  renderer.render = (job) =>
    broken && job.kind === 'summary' && job.report.client === 'acme'
      ? Promise.reject(new Error('broken'))
      : render(job);
  const id = await sendTo(scheduling, { format: 'pdf' });
  const tags = async () => (await runs(id)).map(({ tag, error }) => [tag, error]);
  assert.deepEqual(await tags(), [['client:beta', null]]);
  mailTo(scheduling, 'bob@beta.example');
  // The lease ends after five minutes.
  broken = false;
  clock.advance(6 * 60_000);
  await makeDue();
  await sendDue();
  assert.deepEqual(await tags(), [
    ['client:acme', null],
    ['client:beta', null],
  ]);
  assert.equal(sink.taken.length, 4);
  // After two hours, it is given up, and the next reports are due.
  broken = true;
  clock.advance(DAY_MS);
  await makeDue();
  clock.advance(3 * 3_600_000);
  await makeDue();
  await sendDue();
  const [first] = await runs(id);
  assert.match(first!.error!, /could not be generated/);
  assert.equal(first!.tag, 'client:acme');
  const schedule = await get(id);
  assert.equal(schedule.last_status, 'partial');
  assert.ok(schedule.next_send_at! > new Date(clock.now()).toISOString());
});

test('A tag that no domain has any longer sends nothing, and clients without recipients are named', async (t) => {
  const scheduling = await startScheduling(t);
  const { service, sink, runs, get } = scheduling;
  const ids = await withClients(scheduling);
  await addDomain(service.app, 'gamma.example', ['client:gamma', 'other']);
  const { id } = await scheduling.create(FOR_CLIENTS);
  assert.match((await get(id)).detail!, /^No report for client:gamma: no recipients\.$/);
  await service.call('PATCH', `/v1/domains/${ids.acme}`, { json: { tags: ['other'] } });
  scheduling.clock.advance(DAY_MS);
  await scheduling.makeDue();
  await scheduling.sendDue();
  const listed = new Map((await runs(id)).map((run) => [run.tag, run]));
  assert.equal(listed.get('client:acme')!.error, 'no domain has the tag client:acme');
  assert.deepEqual(listed.get('client:acme')!.copies, []);
  assert.equal(listed.get('client:beta')!.status, 'sent');
  assert.deepEqual(sink.taken.map(({ to }) => to[0]).toSorted(), CLIENTS['client:beta']);
  assert.match((await get(id)).detail!, /No domain has the tag client:acme\./);
});

test('Removing a recipient of one client cancels only that client’s queued copies', async (t) => {
  const scheduling = await startScheduling(t);
  const { service, sink, clock, makeDue, sendDue } = scheduling;
  await withClients(scheduling);
  const { id } = await scheduling.create(FOR_CLIENTS);
  clock.advance(DAY_MS);
  await makeDue();
  const recipients_by_tag = { ...CLIENTS, 'client:acme': ['ann@acme.example'] };
  await service.call('PATCH', `${SCHEDULES}/${id}`, { json: { recipients_by_tag } });
  await sendDue();
  assert.deepEqual(sink.taken.map(({ to }) => to[0]).toSorted(), [
    'ann@acme.example',
    'bob@beta.example',
    'both@agency.example',
  ]);
  assert.match(await contentOf(mailTo(scheduling, 'both@agency.example')), /canary-beta/);
});

test('A rejected recipient of a client does not keep the others from getting theirs', async (t) => {
  const scheduling = await startScheduling(t);
  const { sink, get } = scheduling;
  await withClients(scheduling);
  sink.refuse = { at: 'rcpt', code: 550, text: '5.1.1 No such user' };
  const { id } = await scheduling.create({
    ...FOR_CLIENTS,
    recipients_by_tag: {
      'client:acme': ['gone@acme.example'],
      'client:beta': ['bob@beta.example'],
    },
  });
  scheduling.clock.advance(DAY_MS);
  await scheduling.makeDue();
  await scheduling.sendDue();
  assert.equal((await get(id)).last_status, 'failed');
  sink.refuse = null;
  scheduling.clock.advance(DAY_MS);
  await scheduling.makeDue();
  await scheduling.sendDue();
  assert.equal((await get(id)).last_status, 'sent');
});

test('A schedule limited to tags covers the domains that have one when it is sent', async (t) => {
  const scheduling = await startScheduling(t);
  const { service, create, get } = scheduling;
  const ids = await withClients(scheduling);
  const { id } = await create({ tags: ['VIP'], name: 'Important' });
  scheduling.clock.advance(DAY_MS);
  await scheduling.makeDue();
  await scheduling.sendDue();
  const first = await contentOf(mailTo(scheduling, 'ann@example.com'));
  assert.ok(first.includes('canary-beta.example') && !first.includes('canary-acme'));
  // The team sees the names of its rules.
  assert.ok(first.includes('Acme and Beta rule'));
  scheduling.sink.taken.length = 0;
  await service.call('PATCH', `/v1/domains/${ids.acme}`, { json: { tags: ['vip'] } });
  await service.call('PATCH', `/v1/domains/${ids.beta}`, { json: { tags: [] } });
  await service.call('POST', `${SCHEDULES}/${id}/send`);
  await scheduling.sendDue();
  const next = await contentOf(mailTo(scheduling, 'ann@example.com'));
  assert.ok(next.includes('canary-acme.example') && !next.includes('canary-beta'));
  // An older version of the program would find a list without domains.
  const row = await service.app.db
    .selectFrom('report_schedules')
    .select(['domains', 'tags'])
    .executeTakeFirstOrThrow();
  assert.deepEqual(row, { domains: '[]', tags: '["vip"]' });
  const { domains, tags } = await get(id);
  assert.deepEqual([domains, tags], [null, ['vip']]);
});

test('What a schedule covers is one choice, and a new one replaces the former', async (t) => {
  const scheduling = await startScheduling(t);
  const { service, create } = scheduling;
  const { acme } = await withClients(scheduling);
  const recipients = ['ann@example.com'];
  const { id } = await create({ domains: [acme] });
  const patch = async (json: object) => {
    const { status, body } = await service.call<Record<string, unknown> & Problem>(
      'PATCH',
      `${SCHEDULES}/${id}`,
      { json },
    );
    if (status === 422) return body.errors!.map(({ param }) => param);
    return [body.recipients, body.domains, body.tags, body.recipients_by_tag];
  };
  assert.deepEqual(await patch({ tags: ['a'] }), [recipients, null, ['a'], null]);
  assert.deepEqual(await patch({ name: 'x' }), [recipients, null, ['a'], null]);
  assert.deepEqual(await patch({ recipients_by_tag: CLIENTS }), [[], null, null, CLIENTS]);
  assert.deepEqual(await patch({ format: 'pdf' }), [[], null, null, CLIENTS]);
  assert.deepEqual(await patch({ recipients_by_tag: null }), ['recipients']);
  assert.deepEqual(await patch({ recipients_by_tag: {} }), ['recipients_by_tag']);
  assert.deepEqual(await patch({ recipients_by_tag: { a: ['x@inbox.test'] } }), ['recipients.0']);
  assert.deepEqual(await patch({ recipients, recipients_by_tag: CLIENTS }), ['recipients']);
  assert.deepEqual(await patch({ tags: ['a'], recipients_by_tag: CLIENTS }), ['tags']);
  assert.deepEqual(await patch({ recipients, domains: [acme] }), [recipients, [acme], null, null]);
  assert.deepEqual(await patch({ domains: [acme], tags: ['a'] }), ['domains']);
  const missing = await service.call<Problem>('POST', SCHEDULES, {
    json: { name: 'x', frequency: 'daily' },
  });
  assert.deepEqual(
    missing.body.errors!.map(({ param }) => param),
    ['recipients'],
  );
});
