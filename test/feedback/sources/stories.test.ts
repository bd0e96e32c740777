/** Each story gets the right kinds and the right advice, and no two places contradict each other. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type * as v from 'valibot';
import { isDmarcRecord, parseDmarcTags } from '../../../src/analysis/dmarc/record.ts';
import { feedbackOf } from '../../../src/domains/feedback/state.ts';
import type { Domain } from '../../../src/domains/schema.ts';
import type { DmarcAdvice, FeedbackSource } from '../../../src/feedback/sources/schema.ts';
import { feedbackFigures } from '../../../src/feedback/summary.ts';
import { isoTime } from '../../../src/lib/clock.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { newMember } from '../../dashboard/member.ts';
import { mainOf } from '../../dashboard/pages.ts';
import { firstLookupsDone } from '../../domains/first-lookups.ts';
import { BEGIN, dmarc, record } from '../reading/builders.ts';
import { type FeedbackService, named, startFeedback } from '../start.ts';
import { type Sender, STORIES, type Story } from './stories.ts';

const DAY_S = 86_400;
const DAYS = 20;
const REPORTERS = ['Google.com', 'Yahoo', 'Enterprise Outlook'];

const arpa = (address: string) => `${address.split('.').reverse().join('.')}.in-addr.arpa`;

const zoneOf = ({ dns, dmarc: text, senders }: Story): Zone => {
  const zone: Zone = { ...dns };
  for (const { ip, host } of senders)
    if (host) {
      zone[arpa(ip)] = { PTR: [host] };
      zone[host] = { A: [ip] };
    }
  if (text !== null) zone['_dmarc.example.com'] = { TXT: [text] };
  return zone;
};

function rowOf({ ip, count = 20, passes = 'both', ...sender }: Sender): string {
  const dkim = passes === 'both' || passes === 'dkim';
  const spf = passes === 'both' || passes === 'spf';
  const signer = dkim ? 'example.com' : sender.signer;
  const mailFrom = spf ? 'example.com' : sender.mailFrom;
  const from = sender.from ?? 'example.com';
  return record({
    source: ip,
    count: String(count),
    dkim: dkim ? 'pass' : 'fail',
    spf: spf ? 'pass' : 'fail',
    reasons: sender.forwarded ? '<reason><type>forwarded</type></reason>' : '',
    identifiers: `<identifiers><header_from>${from}</header_from></identifiers>`,
    results: `<auth_results>${signer ? `<dkim><domain>${signer}</domain><selector>s</selector><result>pass</result></dkim>` : ''}<spf><domain>${mailFrom ?? 'example.com'}</domain><result>${mailFrom ? 'pass' : 'fail'}</result></spf></auth_results>`,
  });
}

/** Each day, one of the reporters sends a report. */
async function report({ upload }: FeedbackService, { senders }: Story): Promise<void> {
  for (let day = 0; day < DAYS; day++) {
    const sent = senders.filter(
      ({ days: [first, last] = [0, DAYS] }) => day >= first && day <= last,
    );
    if (sent.length === 0) continue;
    const begin = BEGIN - (DAYS - 1 - day) * DAY_S;
    const orgName = REPORTERS[day % REPORTERS.length]!;
    const span = { begin: String(begin), end: String(begin + DAY_S - 1) };
    await upload(dmarc({ orgName, id: `${day}`, ...span, records: sent.map(rowOf).join('') }));
  }
}

async function start(t: TestContext, story: Story): Promise<FeedbackService> {
  const feedback = await startFeedback(t, { zone: zoneOf(story) });
  const { app } = feedback.service;
  if (story.testThrough) await addTest(feedback, story.testThrough);
  await report(feedback, story);
  await named(feedback);
  await app.db
    .updateTable('feedback_domains')
    .set({ lookup_at: '2026-01-01T00:00:00.000Z' })
    .execute();
  for (;;) {
    app.scheduler.wakeHere('domains.feedback-records');
    const row = await app.db.selectFrom('feedback_domains').selectAll().executeTakeFirstOrThrow();
    if (row.lookup_at > isoTime(app.clock.now())) return feedback;
    await pause(5);
  }
}

/** A completed test, as its analysis stores it. */
async function addTest({ service, domain }: FeedbackService, mailFrom: string): Promise<void> {
  const { id } = await service.createTest();
  await service.app.db
    .updateTable('tests')
    .set({
      status: 'completed',
      completed_at: isoTime(service.app.clock.now()),
      domain_id: domain.id,
      envelope: JSON.stringify({ client_ip: '203.0.114.200', mail_from: `b@${mailFrom}` }),
      spf: 'pass',
      dmarc: 'fail',
      checks: '[]',
    })
    .where('id', '=', id)
    .execute();
}

const isPublishable = (state: string) => state === 'ready' || state === 'not_published';

const otherPolicy = (policy: string) => new RegExp(`v=DMARC1; p=(?!${policy})`);

const OWN = ['own', 'service', 'misconfigured'];
const CLAIMS_ALL = /All your sources/;

for (const story of STORIES)
  test(`The advice for ${story.title}: ${story.next ?? 'nothing'}, ${story.state}`, async (t) => {
    const feedback = await start(t, story);
    const { service, domain } = feedback;
    const listed = async () => {
      const path = `/v1/feedback/sources?domain_id=${domain.id}`;
      return (await service.call<{ data: FeedbackSource[] }>('GET', path)).body.data;
    };
    for (const { id, name } of await listed())
      if (story.marks?.[name])
        await service.call('PATCH', `/v1/feedback/sources/${id}`, {
          json: { mark: story.marks[name] },
        });
    const sources = await listed();
    assert.deepEqual(
      Object.fromEntries(sources.map(({ name, kind }) => [name, kind])),
      story.sources,
    );

    const { body: advice } = await service.call<v.InferOutput<typeof DmarcAdvice>>(
      'GET',
      `/v1/feedback/advice?domain_id=${domain.id}`,
    );
    const { state, tag, next, summary, missing, record: proposed } = advice;
    const step = tag === null ? null : `${tag}=${next}`;
    assert.deepEqual([state, step], [story.state, story.next], summary);
    for (const pattern of story.says) assert.match(summary, pattern);
    if (state === 'ready' || state === 'done')
      assert.equal(missing.length > 0, state === 'done' && /Failing mail/.test(summary));
    if (state === 'not_ready') assert.ok(missing.length > 0);

    // The record is valid, does what the advice says, and keeps everything else.
    if (story.record === undefined) assert.equal(proposed, null);
    else {
      const { tags, faults, duplicates } = parseDmarcTags(proposed!.value);
      assert.ok(isDmarcRecord(proposed!.value));
      assert.deepEqual([faults, duplicates], [[], []]);
      assert.equal(tags.get('rua'), `mailto:${domain.feedback.address}`);
      assert.equal(tags.get(tag!), next);
      tags.delete('rua');
      assert.equal([...tags].map(([name, value]) => `${name}=${value}`).join('; '), story.record);
    }

    // What DNS is to have says no other policy than is published or advised.
    const { body: shown } = await service.call<Domain>('GET', `/v1/domains/${domain.id}`);
    const policyIn = (text = 'p=none') => parseDmarcTags(text).tags.get('p');
    assert.ok(
      [story.dmarc ?? undefined, proposed?.value].some(
        (text) => policyIn(text) === policyIn(shown.feedback.records[0]!.value),
      ),
      shown.feedback.records[0]!.value,
    );

    // No sentence speaks of own sources that there are not, or that fail.
    const own = sources.filter(({ kind }) => OWN.includes(kind));
    if (own.length === 0) assert.doesNotMatch(summary, CLAIMS_ALL);
    for (const { name } of own.filter(({ failed, messages }) => failed > messages / 20))
      if (/All your sources pass DMARC\./.test(summary))
        assert.ok(
          missing.every((sentence) => !sentence.startsWith(`${name}:`)),
          summary,
        );

    // The page says the same, and shows a record only if it is to be published.
    const session = await newMember(service, 'viewer');
    const page = mainOf((await session.get(`/feedback/domains/${domain.id}`)).html);
    // Without reports, it only has the steps of the set-up, with the same record.
    if (story.senders.length > 0 || next === 'reject') {
      assert.ok(page.includes(summary), page);
      const isShown = state === 'ready' || state === 'not_published';
      if (proposed) assert.equal(page.includes('The record to publish'), isShown);
    }
    if (isPublishable(state)) assert.ok(page.includes(proposed!.value), page);
    if (state === 'not_published') assert.doesNotMatch(page, otherPolicy(next!));

    // The picture and the summary report the failing senders that are own ones, and no others.
    const to = isoTime(feedback.clock.now()).slice(0, 10);
    const figures = await feedbackFigures(service.app.db, {
      from: '2026-10-01',
      to,
      domains: [domain.id],
    });
    const failing = own.filter(({ kind }) => kind === 'misconfigured').map(({ name }) => name);
    assert.deepEqual(
      (figures?.failing_sources.sources ?? []).map(({ name }) => name).toSorted(),
      failing.toSorted(),
    );
    const { body: picture } = await service.call<object>('GET', `/v1/domains/${domain.id}/picture`);
    const words = JSON.stringify(picture);
    if (own.length === 0) assert.doesNotMatch(words, /known senders pass/);
    for (const { name, kind } of sources)
      if (kind === 'spoof' || kind === 'forwarder')
        assert.ok(!words.includes(`from ${name} fail`), words);
  });

// Of a domain without an MX record, whose SPF record allows no server.
const keyCheck = (status: string, evidence = {}) => ({ id: 'dkim_selector', status, evidence });
const CHECKED = [keyCheck('info')];
const BELOW = 'mail.example.com';
const MAY_SEND: [
  what: string,
  given: { checks?: object[]; below?: string; zone?: Zone; spf?: string },
  proposed: RegExp,
][] = [
  ['a check that found no key', { checks: CHECKED }, /p=reject/],
  ['no check yet', {}, /p=none/],
  ['a check that could not look up keys', { checks: [keyCheck('error')] }, /p=none/],
  [
    'a key among others that are revoked',
    {
      checks: [keyCheck('info', { type: null }), keyCheck('pass', { type: 'rsa' })],
    },
    /p=none/,
  ],
  ['an SPF record that says nothing', { checks: CHECKED, spf: 'v=spf1 ?all' }, /p=none/],
  ['another domain of the team below it', { checks: CHECKED, below: BELOW }, /p=none;.* sp=none/],
  ['another domain beside it', { checks: CHECKED, below: 'notexample.com' }, /p=reject/],
  [
    'one below it with a policy of its own',
    {
      checks: CHECKED,
      below: BELOW,
      zone: { [`_dmarc.${BELOW}`]: { TXT: ['v=DMARC1; p=none'] } },
    },
    /p=reject/,
  ],
  [
    'one below it that is parked too',
    { checks: CHECKED, below: BELOW, zone: { [BELOW]: { MX: ['0 .'], TXT: ['v=spf1 -all'] } } },
    /p=reject/,
  ],
];

for (const [what, { checks = [], below, zone = {}, spf = 'v=spf1 -all' }, proposed] of MAY_SEND)
  test(`A domain that declares that it sends nothing, with ${what}, gets ${proposed.source}`, async (t) => {
    const { service, domain } = await startFeedback(t, {
      zone: {
        'example.com': { TXT: [spf] },
        '_dmarc.example.com': { TXT: ['v=DMARC1; p=none; sp=none'] },
        ...zone,
      },
    });
    const { app } = service;
    if (below !== undefined) await service.call('POST', '/v1/domains', { json: { name: below } });
    await firstLookupsDone(app);
    await app.db
      .updateTable('domains')
      .set({ health_checks: JSON.stringify(checks) })
      .where('id', '=', domain.id)
      .execute();
    await app.db
      .updateTable('feedback_domains')
      .set({ records: null, lookup_at: '2026-01-01T00:00:00.000Z' })
      .execute();
    for (;;) {
      app.scheduler.wakeHere('domains.feedback-records');
      const rows = await app.db.selectFrom('feedback_domains').selectAll().execute();
      if (rows.every(({ records }) => records !== null)) break;
      await pause(5);
    }
    const { records } = await feedbackOf(app, app.db, domain);
    assert.match(records[0]!.value, proposed);
    const { body: advice } = await service.call<v.InferOutput<typeof DmarcAdvice>>(
      'GET',
      `/v1/feedback/advice?domain_id=${domain.id}`,
    );
    assert.equal(advice.next === 'reject', proposed.source === 'p=reject', advice.summary);
  });
