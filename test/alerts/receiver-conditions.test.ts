/** Tables of observations for the conditions about what Google and Microsoft publish, and their incidents. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { composeNotification } from '../../src/alerts/alert-text.ts';
import { type ConditionId, conditionOf } from '../../src/alerts/conditions/index.ts';
import { evaluateCondition, resolutionOf } from '../../src/alerts/evaluate.ts';
import { sweepIncidents } from '../../src/alerts/jobs.ts';
import { type Observation, type Observations, observed } from '../../src/events/observations.ts';
import { SPAM_GOAL_TEXT, SPAM_LIMIT_TEXT } from '../../src/figures/gmail.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { adviceOnRequirement, REQUIREMENTS } from '../../src/receivers/requirements.ts';
import { transact } from '../../src/store/open.ts';
import { startAlerting } from './alerting.ts';

const SINCE = '2026-11-19T06:10:00.000Z';

const rate = (spamRate: number | null, domainId = 'dom_1'): Observations['spam_rate'] => ({
  kind: 'spam_rate',
  subject: 'example.com',
  domainId,
  spamRate,
  day: spamRate === null ? null : '2026-11-20',
});

const requirement = (
  changes: Partial<Observations['requirement']> = {},
): Observations['requirement'] => ({
  kind: 'requirement',
  subject: 'example.com DKIM',
  domainId: 'dom_1',
  domain: 'example.com',
  requirement: 'DKIM',
  status: 'NEEDS_WORK',
  previous: 'COMPLIANT',
  since: SINCE,
  reason: null,
  ...changes,
});

const address = (
  changes: Partial<Observations['sending_address']> = {},
): Observations['sending_address'] => ({
  kind: 'sending_address',
  subject: '192.0.2.1',
  domainId: null,
  blocked: false,
  details: null,
  filterResult: null,
  day: null,
  since: null,
  ...changes,
});

const RED = { filterResult: 'RED', day: '2026-11-20' } as const;
const GREEN = { filterResult: 'GREEN', day: '2026-11-21' } as const;

const answerOf = (condition: ConditionId, observation: Observation, threshold: number | null) =>
  evaluateCondition({ condition, threshold }, observation).answer;

test('spam_rate is met by one day at the threshold per 1,000 messages, and unknown without data', () => {
  const cases: [spamRate: number | null, threshold: number | null, answer: string][] = [
    [null, null, 'unknown'],
    [0, null, 'no'],
    [0.000999, null, 'no'],
    [0.001, null, 'yes'],
    [0.0029, 3, 'no'],
    [0.003, 3, 'yes'],
    [0.1, 100, 'yes'],
  ];
  for (const [spamRate, threshold, answer] of cases)
    assert.equal(answerOf('spam_rate', rate(spamRate), threshold), answer, `${spamRate}`);
  for (let threshold = 1; threshold <= 100; threshold++)
    assert.equal(answerOf('spam_rate', rate(threshold / 1000), threshold), 'yes', `${threshold}`);
});

test('compliance_lost is met by NEEDS_WORK only; a status that Google has added is unknown', () => {
  const statuses: [status: string, answer: string][] = [
    ['NEEDS_WORK', 'yes'],
    ['COMPLIANT', 'no'],
    ['UNDER_REVIEW', 'unknown'],
  ];
  for (const [status, answer] of statuses)
    assert.equal(answerOf('compliance_lost', requirement({ status }), null), answer, status);
});

test('receiver_failing is met at once if somebody must act, after a day if the problem may pass', () => {
  const seen = (
    state: Observations['receiver']['state'],
    problem: string | null = null,
    hours = 0,
  ): Observations['receiver'] => ({
    kind: 'receiver',
    subject: 'microsoft_snds',
    domainId: null,
    receiver: 'microsoft_snds',
    state,
    problem,
    detail: 'What to do.',
    failingMs: hours * 3_600_000,
  });
  const cases: [observation: Observations['receiver'], answer: string][] = [
    [seen('working'), 'no'],
    [seen('expiring'), 'yes'],
    [seen('not_signed_in', 'sign_in_expired'), 'yes'],
    [seen('not_signed_in', 'sign_in_required'), 'unknown'],
    [seen('not_signed_in', 'sign_in_required', 24), 'yes'],
    [seen('failing', 'refused'), 'yes'],
    [seen('failing', 'throttled', 23), 'unknown'],
    [seen('failing', 'unreachable', 24), 'yes'],
  ];
  for (const [observation, answer] of cases)
    assert.equal(
      answerOf('receiver_failing', observation, null),
      answer,
      `${observation.state} ${observation.problem}`,
    );
});

/** How the observation ends an incident that the other one opened; `open` if it stays open. */
function endOf(condition: ConditionId, opening: Observation, later: Observation): string {
  const rule = { condition, threshold: null };
  const verdict = evaluateCondition(rule, opening);
  assert.equal(verdict.answer, 'yes');
  const { answer } = evaluateCondition(rule, later);
  if (verdict.answer !== 'yes' || answer === 'yes') return 'open';
  const value = JSON.stringify(verdict.value);
  const incident = { condition, subject: opening.subject, value, run_id: null };
  return resolutionOf(incident, later, { answer, blocklistsInUse: new Set() }) ?? 'open';
}

test('sending_address_blocked ends only if what opened it is known to be over', () => {
  const blocked = address({ blocked: true });
  const red = address(RED);
  const both = address({ blocked: true, ...RED });
  const cases: [opening: Observation, later: Observation, end: string][] = [
    [blocked, address({ blocked: false }), 'condition_ended'],
    [blocked, address({ blocked: false, ...RED }), 'open'],
    // Microsoft no longer lists the address, or it is part of a larger range that is blocked.
    [blocked, address({ blocked: null, ...GREEN }), 'no_longer_watched'],
    [red, address(GREEN), 'condition_ended'],
    [red, address({ filterResult: 'YELLOW', day: '2026-11-21' }), 'condition_ended'],
    [red, address({ blocked: null, ...GREEN }), 'condition_ended'],
    [red, address(), 'no_longer_watched'],
    [red, blocked, 'open'],
    [both, address({ blocked: false }), 'no_longer_watched'],
    [both, address({ blocked: false, ...GREEN }), 'condition_ended'],
  ];
  for (const [index, [opening, later, end]] of cases.entries())
    assert.equal(endOf('sending_address_blocked', opening, later), end, `case ${index}`);
  const unknown = address({ blocked: null });
  assert.equal(answerOf('sending_address_blocked', unknown, null), 'unknown');
  assert.equal(answerOf('sending_address_blocked', address(), null), 'no');
});

test('Without a rate for a week, nobody knows whether the spam rate has fallen', () => {
  assert.equal(endOf('spam_rate', rate(0.004), rate(null)), 'no_longer_watched');
  assert.equal(endOf('spam_rate', rate(0.004), rate(0.0002)), 'condition_ended');
  const fixed = requirement({ status: 'COMPLIANT' });
  assert.equal(endOf('compliance_lost', requirement(), fixed), 'condition_ended');
  const other = requirement({ status: 'UNDER_REVIEW' });
  assert.equal(endOf('compliance_lost', requirement(), other), 'open');
});

test('Each requirement of Google has advice, and so has one that Google adds', () => {
  for (const id of [...Object.keys(REQUIREMENTS), 'BIMI', 'constructor'])
    assert.match(adviceOnRequirement(id), /^[A-Z].*\.$/, id);
});

const ACCOUNTS = [
  { receiver: 'google_postmaster', client_id: 'app', client_secret: 'GOCSPX-secret' },
  { receiver: 'microsoft_snds', key: 'snds-key' },
];

async function start(t: TestContext) {
  const alerting = await startAlerting(t, {
    env: { DELIVERABILITY_RECEIVERS: JSON.stringify(ACCOUNTS) },
  });
  const { app, service, clock } = alerting;
  const domain = await service.call<{ id: string }>('POST', '/v1/domains', {
    json: { name: 'example.com' },
  });
  const id = domain.body.id;
  const now = isoTime(clock.now());
  return {
    ...alerting,
    id,
    observe: (...observations: Observation[]) =>
      transact(app.db, (tx) => app.subscribers.publish(observed, tx, observations)),
    storeRequirement: (status = 'NEEDS_WORK') =>
      app.db
        .insertInto('receiver_requirements')
        .values({
          name: 'example.com',
          requirement: 'DKIM',
          receiver_id: 'google_postmaster',
          status,
          reason: null,
          since: SINCE,
          previous: 'COMPLIANT',
          checked_at: now,
        })
        .execute(),
    storeListing: () =>
      app.db
        .insertInto('receiver_domains')
        .values({
          receiver_id: 'google_postmaster',
          name: 'example.com',
          permission: 'OWNER',
          verification: 'VERIFIED',
          listed_at: now,
          days_at: now,
          requirements_at: now,
          problem: null,
          problem_detail: null,
        })
        .execute(),
    storeBlock: (first_address: string, last_address: string) =>
      app.db
        .insertInto('receiver_blocks')
        .values({
          receiver_id: 'microsoft_snds',
          first_address,
          last_address,
          blocked: 1,
          details: '',
          since: now,
          checked_at: now,
        })
        .execute(),
  };
}

type Started = Awaited<ReturnType<typeof start>>;

async function notificationOf({ app }: Started, subject: string) {
  const incident = await app.db
    .selectFrom('alert_incidents')
    .selectAll()
    .where('subject', '=', subject)
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow();
  const alert = await app.db
    .selectFrom('alerts')
    .selectAll()
    .where('id', '=', incident.alert_id)
    .executeTakeFirstOrThrow();
  const type = incident.status === 'open' ? 'triggered' : 'resolved';
  return composeNotification(app.config, { type, alert, incident, test: null, run: null });
}

const statesOf = async ({ incidents }: Started) =>
  (await incidents())
    .map(({ subject, status, resolution }) => `${subject}: ${resolution ?? status}`)
    .toSorted();

test('A spam rate opens one incident of its domain; its mail names the day, the limits and the page', async (t) => {
  const started = await start(t);
  const { makeAlert, incidents, observe, id, sink, sendDue } = started;
  await makeAlert({ condition: 'spam_rate', domain_id: id });
  await observe({ ...rate(0.05), subject: 'other.example' });
  assert.deepEqual(await incidents(), []);
  await observe(rate(0.0034, id));
  await observe(rate(0.0051, id));
  const [incident, ...others] = await incidents();
  assert.equal(others.length, 0);
  assert.deepEqual(incident!.value, {
    day: '2026-11-20',
    spam_rate: 0.0034,
    threshold: 1,
    domain_id: id,
  });
  await sendDue();
  await sink.waitFor(/Gmail users report mail from example\.com as spam/);
  const { lead, facts, link } = await notificationOf(started, 'example.com');
  assert.equal(
    lead,
    `On 20 Nov 2026, they reported 0.34% of the messages that reached their inboxes, according to Google Postmaster Tools. Google asks senders to stay below ${SPAM_GOAL_TEXT}, and never to reach ${SPAM_LIMIT_TEXT}.`,
  );
  assert.deepEqual(facts.slice(0, 3), [
    ['Domain', 'example.com'],
    ['Spam rate', '0.34% on 20 Nov 2026'],
    ['Alerts at', SPAM_GOAL_TEXT],
  ]);
  assert.ok(link!.url.endsWith(`/domains/${id}#gmail`), link!.url);
  await observe(rate(0.0003, id));
  assert.deepEqual(await statesOf(started), ['example.com: condition_ended']);
});

const DKIM_FIX = {
  text: 'Publish the key.',
  record: { type: 'TXT', name: 's1._domainkey.example.com', value: 'v=DKIM1; p=MIGf' },
};

const check = (status: 'pass' | 'fail') => ({
  id: 'dkim',
  category: 'authentication',
  label: 'DKIM',
  status,
  severity: 'high',
  title: status === 'pass' ? 'DKIM passes.' : 'The DKIM key is missing.',
  detail: '',
  evidence: {},
  fix: status === 'pass' ? null : DKIM_FIX,
});

test('A lost requirement is told with what our own check found, and with its fix', async (t) => {
  const started = await start(t);
  const { makeAlert, complete, observe, storeRequirement, id, service } = started;
  await makeAlert({ condition: 'compliance_lost' });
  await storeRequirement();
  await complete({ domain_id: id, checks: JSON.stringify([check('fail')]) });
  await observe(requirement({ domainId: id, reason: 'Sign your messages' }));
  const { title, lead, steps, facts } = await notificationOf(started, 'example.com DKIM');
  assert.equal(title, 'Google says that example.com needs work: DKIM');
  assert.equal(
    lead,
    'Google Postmaster Tools has said so since 19 Nov 2026. Its reason: Sign your messages. Our own check also found a problem: The DKIM key is missing.',
  );
  assert.deepEqual(steps, [{ title: 'The DKIM key is missing.', ...DKIM_FIX }]);
  assert.deepEqual(facts[0], ['Requirement', 'DKIM of example.com']);
  const { body } = await service.call<{ data: { value: object }[] }>('GET', '/v1/alert_incidents');
  assert.equal((body.data[0]!.value as { requirement: string }).requirement, 'DKIM');
  await observe(requirement({ domainId: id, status: 'COMPLIANT' }));
  assert.deepEqual(await statesOf(started), ['example.com DKIM: condition_ended']);
});

test('Where our checks disagree with Google, or know nothing, the alert says so', async (t) => {
  const started = await start(t);
  const { makeAlert, complete, observe, storeRequirement, id, app } = started;
  await makeAlert({ condition: 'compliance_lost' });
  await storeRequirement();
  await observe(requirement({ domainId: id, previous: null }));
  const unknown = await notificationOf(started, 'example.com DKIM');
  assert.equal(unknown.lead, 'The compliance status in Google Postmaster Tools says so.');
  assert.deepEqual(unknown.facts[1], ['Our checks', 'No result in the last 30 days.']);
  assert.deepEqual(
    unknown.steps.map(({ text }) => text),
    [adviceOnRequirement('DKIM')],
  );
  await observe(requirement({ domainId: id, status: 'COMPLIANT' }));
  await complete({ domain_id: id, checks: JSON.stringify([check('pass')]) });
  await observe(requirement({ domainId: id }));
  const { lead, facts } = await notificationOf(started, 'example.com DKIM');
  const today = isoTime(app.clock.now()).slice(0, 10);
  assert.match(lead, /Our own checks passed, last on .*: look for mail that we did not test\.$/);
  assert.deepEqual(facts[1]![1], 'DKIM passes.');
  assert.ok(facts[1]![0].includes(`${Number(today.slice(8))} `), facts[1]![0]);
});

test('A blocked range and a red address have their own incidents and words', async (t) => {
  const started = await start(t);
  const { makeAlert, observe } = started;
  await makeAlert({ condition: 'sending_address_blocked' });
  const range = '192.0.2.0-192.0.2.255';
  const details = 'Blocked due to user complaints.';
  await observe(
    address({ subject: range, blocked: true, details, since: SINCE }),
    address({ subject: '198.51.100.7', ...RED, since: '2026-11-20' }),
    address({ subject: '198.51.100.8', ...GREEN }),
  );
  const blocked = await notificationOf(started, range);
  assert.equal(blocked.title, `Outlook blocks ${range}`);
  assert.match(blocked.lead, /It says: “Blocked due to user complaints”\.$/);
  assert.deepEqual(blocked.facts[0], ['Address', range]);
  assert.equal(blocked.steps.length, 2);
  const red = await notificationOf(started, '198.51.100.7');
  assert.equal(red.title, 'Outlook treats most mail from 198.51.100.7 as spam');
  assert.match(red.lead, /on 20 Nov 2026 is red: Microsoft classified over 90%/);
  assert.ok(red.facts.some(([, value]) => value === 'Red (over 90% spam) on 20 Nov 2026'));
  await observe(address({ subject: '198.51.100.7', ...GREEN }));
  assert.deepEqual(await statesOf(started), [`${range}: open`, '198.51.100.7: condition_ended']);
});

test('Incidents end if the account, the domain or the range is gone, and stay open while they exist', async (t) => {
  const started = await start(t);
  const { makeAlert, observe, storeListing, storeRequirement, storeBlock, id, app } = started;
  for (const condition of ['spam_rate', 'compliance_lost', 'sending_address_blocked'])
    await makeAlert({ condition });
  await storeListing();
  await storeRequirement();
  await storeBlock('192.0.2.0', '192.0.2.255');
  await storeBlock('198.51.100.7', '198.51.100.7');
  await observe(
    rate(0.004, id),
    requirement({ domainId: id }),
    address({ subject: '192.0.2.0-192.0.2.255', blocked: true }),
    address({ subject: '198.51.100.7', blocked: true }),
  );
  await sweepIncidents(app);
  assert.ok((await statesOf(started)).every((state) => state.endsWith(': open')));
  await app.db.deleteFrom('receiver_blocks').where('first_address', '=', '192.0.2.0').execute();
  await app.db.deleteFrom('receiver_requirements').execute();
  await sweepIncidents(app);
  assert.deepEqual(await statesOf(started), [
    '192.0.2.0-192.0.2.255: no_longer_watched',
    '198.51.100.7: open',
    'example.com DKIM: no_longer_watched',
    'example.com: open',
  ]);
  app.config.RECEIVERS.splice(0);
  await sweepIncidents(app);
  assert.ok((await statesOf(started)).every((state) => state.endsWith(': no_longer_watched')));
  for (const subject of ['example.com', 'example.com DKIM', '198.51.100.7'])
    assert.match((await notificationOf(started, subject)).lead, /The problem may persist\.$/);
});

test('The incident of a spam rate ends if only an account that is no longer configured had the domain', async (t) => {
  const started = await start(t);
  const { makeAlert, observe, storeListing, id, app } = started;
  await makeAlert({ condition: 'spam_rate' });
  await storeListing();
  await observe(rate(0.004, id));
  await sweepIncidents(app);
  assert.deepEqual(await statesOf(started), ['example.com: open']);
  app.config.RECEIVERS[0]!.name = 'renamed';
  await sweepIncidents(app);
  assert.deepEqual(await statesOf(started), ['example.com: no_longer_watched']);
});

test('A rule about addresses cannot be limited to a domain; samples of all conditions are complete', async (t) => {
  const { service, id, makeAlert } = await start(t);
  const json = { name: 'x', channels: ['email'], domain_id: id };
  const refused = await service.call('POST', '/v1/alerts', {
    json: { ...json, condition: 'sending_address_blocked' },
  });
  assert.equal(refused.status, 422, refused.text);
  for (const condition of ['spam_rate', 'compliance_lost'] as const)
    await makeAlert({ condition, domain_id: id });
  for (const condition of ['spam_rate', 'compliance_lost', 'sending_address_blocked'] as const) {
    const declared = conditionOf({ condition });
    const opened = { subject: 'example.com', value: declared.sampleValue(50), foundByRun: false };
    assert.doesNotMatch(declared.openedText(opened).lead, /undefined|null|NaN/, condition);
    const context = { threshold: 50, isOver: false, endedBy: null };
    for (const [, value] of declared.measurements(opened, context))
      assert.doesNotMatch(value, /undefined|null|NaN/, condition);
  }
});
