/** Google Postmaster Tools: what is fetched, kept and lost, and what the API and events say about it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { valuesOf } from '../../src/figures/figure.ts';
import { GMAIL_FIGURES } from '../../src/figures/gmail.ts';
import type { Receiver, ReceiverDay } from '../../src/receivers/schema.ts';
import { storeSignIn } from '../../src/sign-ins/credentials.ts';
import { configuredSignIns } from '../../src/sign-ins/sign-in.ts';
import { servedCompliance, servedDomain } from '../helpers/postmaster-server.ts';
import { DAY_MS, HOUR_MS, type ReceiverScene, startReceivers } from './receiver-scene.ts';

type Stats = { days: ReceiverDay[]; no_data: { code: string; message: string } | null };

const statsOf = async ({ call }: ReceiverScene, domainId: string): Promise<Stats> =>
  (await call<Stats>('GET', `/v1/receivers/stats?domain_id=${domainId}`)).body;

async function google({ call }: ReceiverScene): Promise<Receiver> {
  const { body } = await call<{ data: Receiver[] }>('GET', '/v1/receivers');
  return body.data.find(({ receiver }) => receiver === 'google_postmaster')!;
}

/** The ranges of days that the server was asked for, by domain. */
const askedDays = ({ postmaster }: ReceiverScene): string[] => {
  const asked = postmaster.exchanges
    .filter(({ path }) => path.endsWith('batchQuery'))
    .map(({ body }) => {
      const [request] = JSON.parse(body).requests;
      const [range] = request.timeQuery.dateRanges.dateRanges;
      const text = ({ year, month, day }: Record<string, number>) => `${year}-${month}-${day}`;
      return `${request.parent} ${text(range.start)} ${text(range.end)}`;
    });
  return [...new Set(asked)];
};

test('After the first sign-in, all days of the domains of the team are fetched and shown', async (t) => {
  const scene = await startReceivers(t, { google: { device_url: 'https://login.example/device' } });
  const id = await scene.addDomain('example.com');
  scene.postmaster.domains.set(
    'example.com',
    servedDomain({
      days: {
        '2026-08-01': { spamRate: 0.002 },
        '2026-11-19': {
          spamRate: 0,
          spf: 0.5,
          dkim: 1,
          dmarc: 0.25,
          tlsRate: 1,
          tlsMessages: 900,
          errors: [{ type: 'reject', reason: 'low_ip_reputation', rate: 0.02, count: 18 }],
          feedbackLoops: { 'campaign-7': 0.004 },
        },
        '2026-11-20': { spamRate: 0.0034 },
      },
      compliance: servedCompliance({ DKIM: 'NEEDS_WORK' }),
    }),
  );
  scene.postmaster.domains.set('other.example', servedDomain({ permission: 'READER' }));
  assert.equal((await scene.fetch())!.problem!.problem, 'sign_in_required');
  assert.equal((await google(scene)).state, 'not_signed_in');
  assert.deepEqual(await scene.changes(), [], 'nothing was ever signed in');
  assert.equal((await statsOf(scene, id)).no_data!.code, 'not_signed_in');

  const [signIn] = configuredSignIns(scene.app.config, 'receiver');
  await storeSignIn(scene.app, signIn!, 'first-refresh-token');
  assert.equal((await google(scene)).fetching, true, 'it is due at once');
  const result = await scene.fetch();
  assert.deepEqual(result, {
    parts: [{ name: 'example.com', found: '3 days', problem: null }],
    problem: null,
  });
  assert.deepEqual(await google(scene), {
    id: 'google_postmaster',
    object: 'receiver',
    receiver: 'google_postmaster',
    state: 'working',
    fetching: false,
    access_confirmed_at: null,
    problem: null,
    failing_since: null,
    last_fetch_at: '2026-11-22T03:00:00.000Z',
    last_attempt_at: '2026-11-22T03:00:00.000Z',
    next_fetch_at: '2026-11-23T03:00:00.000Z',
    domains: [
      {
        name: 'example.com',
        domain_id: id,
        permission: 'OWNER',
        verification: 'VERIFIED',
        last_fetch_at: '2026-11-22T03:00:00.000Z',
        problem: null,
      },
      {
        name: 'other.example',
        domain_id: null,
        permission: 'READER',
        verification: 'VERIFIED',
        last_fetch_at: null,
        problem: null,
      },
    ],
  });
  assert.deepEqual(askedDays(scene), ['domains/example.com 2026-7-26 2026-11-22']);
  const { days, no_data } = await statsOf(scene, id);
  assert.equal(no_data, null);
  assert.deepEqual(days[0], {
    date: '2026-11-19',
    receiver_id: 'google_postmaster',
    ...valuesOf(GMAIL_FIGURES, 'name', () => null),
    spam_rate: 0,
    spf: 0.5,
    dkim: 1,
    dmarc: 0.25,
    tls: 1,
    tls_messages: 900,
    reject_rate: 0.02,
    errors: [{ type: 'reject', reason: 'low_ip_reputation', rate: 0.02, count: 18 }],
    feedback_loops: [
      { id: 'campaign-7', aggregation_key_type: 'FROM_HEADER', spam_rate: 0.004 },
      { id: 'campaign-7', aggregation_key_type: 'ALL_DKIM', spam_rate: 0.004 },
    ],
    fetched_at: '2026-11-22T03:00:00.000Z',
  });
  assert.deepEqual(
    days.map(({ date, spam_rate }) => [date, spam_rate]),
    [
      ['2026-11-19', 0],
      ['2026-11-20', 0.0034],
    ],
  );
});

test('A day that changes later is updated, and what was published is never lost', async (t) => {
  const scene = await startReceivers(t);
  const id = await scene.addDomain('example.com');
  const domain = servedDomain({
    days: {
      '2026-11-19': { spamRate: 0.001, dkim: 1 },
      '2026-11-20': { spamRate: 0.002, errors: [{ type: 'reject', reason: 'other', rate: 0.1 }] },
    },
  });
  scene.postmaster.domains.set('example.com', domain);
  await scene.fetch();
  scene.advance(DAY_MS);
  domain.days['2026-11-20'] = { spamRate: 0.005 };
  domain.days['2026-11-21'] = { spamRate: 0.003 };
  delete domain.days['2026-11-19'];
  await scene.fetch();
  assert.deepEqual(askedDays(scene).at(-1), 'domains/example.com 2026-11-15 2026-11-23');
  const { days } = await statsOf(scene, id);
  assert.deepEqual(
    days.map(({ date, spam_rate, dkim, reject_rate }) => [date, spam_rate, dkim, reject_rate]),
    [
      ['2026-11-19', 0.001, 1, null],
      ['2026-11-20', 0.005, null, 0.1],
      ['2026-11-21', 0.003, null, null],
    ],
  );
  assert.deepEqual(days[1]!.errors, [{ type: 'reject', reason: 'other', rate: 0.1, count: null }]);
});

test('After two weeks without fetches, the days of the gap are asked for', async (t) => {
  const scene = await startReceivers(t);
  await scene.addDomain('example.com');
  scene.postmaster.domains.set('example.com', servedDomain());
  await scene.fetch();
  scene.advance(14 * DAY_MS);
  await scene.fetch();
  assert.equal(askedDays(scene).at(-1), 'domains/example.com 2026-11-15 2026-12-6');
});

test('The latest spam rate is observed, none for a week without one, and never a zero', async (t) => {
  const scene = await startReceivers(t);
  const id = await scene.addDomain('example.com');
  const domain = servedDomain({
    days: { '2026-11-18': { spamRate: 0.004 }, '2026-11-20': { dkim: 1 } },
  });
  scene.postmaster.domains.set('example.com', domain);
  await scene.fetch();
  const subject = { kind: 'spam_rate', subject: 'example.com', domainId: id };
  assert.deepEqual(scene.observations(), [{ ...subject, day: '2026-11-18', spamRate: 0.004 }]);
  scene.advance(4 * DAY_MS);
  await scene.fetch();
  assert.deepEqual(scene.observations(), [{ ...subject, day: null, spamRate: null }]);
});

test('A requirement that needs work is announced and observed, with its status before', async (t) => {
  const scene = await startReceivers(t);
  const id = await scene.addDomain('example.com');
  const domain = servedDomain({ compliance: servedCompliance() });
  scene.postmaster.domains.set('example.com', domain);
  await scene.fetch();
  assert.deepEqual(await scene.changes(), [], 'all is well the first time');
  scene.observations();
  scene.advance(DAY_MS);
  domain.compliance = servedCompliance({ SPF: 'NEEDS_WORK' });
  domain.compliance.oneClick = { status: 'NEEDS_WORK', reason: 'NO_UNSUB_GENERAL' };
  await scene.fetch();
  const change = {
    object: 'receiver_status',
    receiver: 'google_postmaster',
    receiver_id: 'google_postmaster',
    domain: 'example.com',
    domain_id: id,
    address: null,
    status: 'NEEDS_WORK',
    previous_status: 'COMPLIANT',
    at: '2026-11-23T03:00:00.000Z',
  };
  assert.deepEqual(await scene.changes(), [
    { ...change, requirement: 'SPF', detail: null },
    { ...change, requirement: 'ONE_CLICK_UNSUBSCRIBE', detail: 'NO_UNSUB_GENERAL' },
  ]);
  const spf = () =>
    scene.observations().find(({ subject }) => subject === 'example.com SPF') as unknown;
  const observation = {
    kind: 'requirement',
    subject: 'example.com SPF',
    domainId: id,
    domain: 'example.com',
    requirement: 'SPF',
    reason: null,
  };
  assert.deepEqual(spf(), {
    ...observation,
    status: 'NEEDS_WORK',
    previous: 'COMPLIANT',
    since: '2026-11-23T03:00:00.000Z',
  });
  scene.advance(DAY_MS);
  await scene.fetch();
  assert.deepEqual(spf(), {
    ...observation,
    status: 'NEEDS_WORK',
    previous: 'COMPLIANT',
    since: '2026-11-23T03:00:00.000Z',
  });
  scene.advance(DAY_MS);
  delete domain.compliance.rows.SPF;
  await scene.fetch();
  assert.deepEqual(spf(), {
    ...observation,
    status: 'NOT_LISTED',
    previous: 'NEEDS_WORK',
    since: '2026-11-25T03:00:00.000Z',
  });
  scene.advance(DAY_MS);
  domain.compliance = null;
  await scene.fetch();
  const kept = await scene.app.db.selectFrom('receiver_requirements').selectAll().execute();
  assert.equal(kept.length, 10, 'no data deletes nothing');
  assert.equal((await scene.changes()).length, 2);
});

test('A lost permission is a problem of the domain: others are read, and its days stay', async (t) => {
  const scene = await startReceivers(t);
  const id = await scene.addDomain('example.com');
  await scene.addDomain('example.net');
  const days = { '2026-11-20': { spamRate: 0.002 } };
  const domain = servedDomain({ days });
  scene.postmaster.domains.set('example.com', domain);
  scene.postmaster.domains.set('example.net', servedDomain({ days }));
  await scene.fetch();
  scene.advance(DAY_MS);
  // The list still has it, as in the moment when somebody is removed.
  Object.defineProperty(domain, 'verificationState', {
    get: (() => {
      let reads = 0;
      return () => (reads++ === 0 ? 'VERIFIED' : 'UNVERIFIED');
    })(),
  });
  const result = await scene.fetch();
  assert.equal(result!.problem, null);
  assert.deepEqual(
    result!.parts.map(({ name, problem }) => [name, problem?.problem]),
    [
      ['example.com', 'refused'],
      ['example.net', undefined],
    ],
  );
  const { state, domains } = await google(scene);
  assert.equal(state, 'working');
  assert.equal(domains![0]!.problem!.code, 'refused');
  assert.match(domains![0]!.problem!.message, /does not let this account read example\.com/);
  assert.equal((await statsOf(scene, id)).days.length, 1);

  scene.advance(DAY_MS);
  scene.postmaster.exchanges.length = 0;
  scene.postmaster.domains.set('example.com', servedDomain({ permission: 'NONE', days }));
  await scene.fetch();
  assert.equal((await google(scene)).domains![0]!.problem!.code, 'no_permission');
  assert.ok(askedDays(scene).every((asked) => !asked.includes('example.com')));

  scene.postmaster.domains.delete('example.com');
  scene.advance(DAY_MS);
  await scene.fetch();
  const [gone] = (await google(scene)).domains!;
  assert.equal(gone!.problem!.code, 'not_in_account');
  assert.equal((await statsOf(scene, id)).days.length, 1, 'its days stay');

  scene.postmaster.domains.set('example.com', servedDomain({ days }));
  scene.advance(DAY_MS);
  await scene.fetch();
  assert.equal((await google(scene)).domains![0]!.problem, null);
});

test('Partial answers are stored, and what is missing is asked for again', async (t) => {
  const scene = await startReceivers(t);
  const id = await scene.addDomain('example.com');
  const days = { '2026-09-01': { spamRate: 0.002, tlsRate: 1 }, '2026-11-20': { spamRate: 0.002 } };
  scene.postmaster.domains.set('example.com', servedDomain({ days }));
  scene.postmaster.queryErrors.set('SPAM_RATE', { code: 500, message: 'Internal error.' });
  const failed = await scene.fetch();
  assert.equal(failed!.problem!.problem, 'unreachable');
  const rows = () => scene.app.db.selectFrom('receiver_days').selectAll().orderBy('day').execute();
  assert.ok((await rows()).every(({ spam_rate }) => spam_rate === null));
  assert.equal((await google(scene)).state, 'failing');
  scene.postmaster.queryErrors.clear();
  scene.advance(HOUR_MS);
  await scene.fetch();
  assert.deepEqual(
    (await rows()).map(({ day, spam_rate, tls_rate }) => [day, spam_rate, tls_rate]),
    [
      ['2026-09-01', 0.002, 1],
      ['2026-11-20', 0.002, null],
    ],
  );
  assert.equal((await statsOf(scene, id)).no_data, null);
  assert.deepEqual(
    (await scene.changes()).map(({ status, previous_status }) => [status, previous_status]),
    [
      ['failing', null],
      ['working', 'failing'],
    ],
  );
});

test('If the account is rate-limited, it waits as asked, and goes on with the domains that are missing', async (t) => {
  const scene = await startReceivers(t);
  for (const name of ['a.example', 'b.example', 'c.example']) {
    await scene.addDomain(name);
    const days = { '2026-11-20': { spamRate: 0.001 } };
    scene.postmaster.domains.set(name, servedDomain({ days, compliance: servedCompliance() }));
  }
  scene.postmaster.fault = ({ body }) => (body.includes('b.example') ? 'throttled' : null);
  const result = await scene.fetch();
  assert.equal(result!.problem!.problem, 'throttled');
  const row = () =>
    scene.app.db
      .selectFrom('receivers')
      .selectAll()
      .where('id', '=', 'google_postmaster')
      .executeTakeFirstOrThrow();
  const failing = await row();
  assert.deepEqual(
    [failing.failures, failing.next_fetch_at, failing.failing_since, failing.fetched_at],
    [1, '2026-11-22T04:00:00.000Z', '2026-11-22T03:00:00.000Z', null],
  );
  scene.postmaster.fault = () => null;
  scene.postmaster.exchanges.length = 0;
  scene.advance(HOUR_MS);
  const next = await scene.fetch();
  assert.deepEqual(
    next!.parts.map(({ name }) => name),
    ['b.example', 'c.example'],
    'the first one was read an hour ago',
  );
  const working = await row();
  assert.deepEqual(
    [working.failures, working.problem, working.failing_since, working.next_fetch_at],
    [0, null, null, '2026-11-23T04:00:00.000Z'],
  );
});

test('Failures back off up to a day', async (t) => {
  const scene = await startReceivers(t);
  scene.postmaster.fault = () => 'unavailable';
  const waits: number[] = [];
  for (let round = 0; round < 6; round++) {
    await scene.fetch();
    const { next_fetch_at } = await scene.app.db
      .selectFrom('receivers')
      .select('next_fetch_at')
      .where('id', '=', 'google_postmaster')
      .executeTakeFirstOrThrow();
    const waitMs = Date.parse(next_fetch_at!) - scene.app.clock.now();
    waits.push(waitMs / HOUR_MS);
    scene.advance(waitMs);
  }
  assert.deepEqual(waits, [1, 2, 4, 8, 24, 24]);
  assert.equal((await scene.changes()).length, 1, 'one event for all failures');
});

test('A missing scope is a problem of the account, and an expired sign-in needs a person', async (t) => {
  const scene = await startReceivers(t);
  await scene.addDomain('example.com');
  scene.postmaster.domains.set('example.com', servedDomain());
  scene.postmaster.scopes.delete('postmaster.traffic.readonly');
  await scene.fetch();
  const refused = await google(scene);
  assert.deepEqual([refused.state, refused.problem!.code], ['failing', 'refused']);
  assert.match(refused.problem!.message, /lacks a permission/);
  assert.equal(refused.domains!.length, 1, 'the list was stored');

  scene.postmaster.scopes.add('postmaster.traffic.readonly');
  scene.tokens.refreshTokens.clear();
  scene.tokens.accessTokens.clear();
  scene.advance(DAY_MS);
  await scene.fetch();
  const expired = await google(scene);
  assert.deepEqual([expired.state, expired.problem!.code], ['not_signed_in', 'sign_in_expired']);
  assert.deepEqual(
    (await scene.changes()).map(({ status, previous_status }) => [status, previous_status]),
    [
      ['failing', null],
      ['not_signed_in', 'failing'],
    ],
  );
});

test('With the domain, its figures are deleted; added again, all its days are fetched again', async (t) => {
  const scene = await startReceivers(t);
  const id = await scene.addDomain('example.com');
  const days = { '2026-09-01': { spamRate: 0.002 } };
  scene.postmaster.domains.set(
    'example.com',
    servedDomain({ days, compliance: servedCompliance() }),
  );
  await scene.fetch();
  await scene.call('DELETE', `/v1/domains/${id}`);
  for (const table of ['receiver_days', 'receiver_requirements'] as const)
    assert.deepEqual(await scene.app.db.selectFrom(table).selectAll().execute(), [], table);
  scene.advance(DAY_MS);
  await scene.addDomain('example.com');
  await scene.fetch();
  assert.equal((await scene.app.db.selectFrom('receiver_days').selectAll().execute()).length, 1);
});
