/** What the picture of a domain says for what each source knows. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SPAM_LIMIT_TEXT, SPAM_LIMITS } from '../../src/figures/gmail.ts';
import type { Picture } from '../../src/picture/schema.ts';
import type { SourceId } from '../../src/picture/vocabulary.ts';
import { assertConsistent } from './consistent.ts';
import { ADDRESS, ago, DOMAIN, dayAgo, startWorld, type World } from './world.ts';

const PASSING = { spf: 'pass', dkim: 'pass', dmarc: 'pass' } as const;
const SEEN = { 'gmail inbox': 9 };
const QUIET = { spam_rate: 0.0002, spf_rate: 1, dkim_rate: 1, dmarc_rate: 0.99, tls_rate: 1 };

/** All sources know that all is well. */
async function makeFine(world: World): Promise<void> {
  await world.health({ spf_record: 'pass', dmarc_policy: 'pass' });
  await world.test(PASSING);
  await world.placement(1, SEEN);
  await world.reporting(true, ago(0));
  await world.sender({ messages: 1000 });
  await world.google(2, QUIET);
  await world.requirement('SPF', 'COMPLIANT');
}

const lineOf = ({ sources }: Picture, id: SourceId) => {
  const { state, text } = sources.find(({ source }) => source === id)!;
  return `${state}: ${text}`;
};
const problemsOf = ({ problems }: Picture) =>
  problems.map(({ state, title, since }) => `${state}: ${title}${since ? ` ${since}` : ''}`);

test('Without any data, the headline says so, and each source how to set it up', async (t) => {
  const world = await startWorld(t, { seeds: false, receivers: false });
  await world.reporting(false);
  const picture = await world.picture();
  assertConsistent(picture);
  assert.equal(picture.headline, 'Nothing is known about this domain yet.');
  assert.equal(picture.first_step, null);
  assert.deepEqual(
    picture.sources.map(({ state, text }) => `${state}: ${text}`),
    [
      'unknown: example.com has not been checked yet.',
      'not_set_up: Not tested yet. Send a message from this domain to a test address.',
      'not_set_up: No seed mailboxes are configured. They show where your messages land.',
      'not_set_up: No reports: your DMARC record does not name the feedback address.',
      'not_set_up: Google Postmaster Tools and Microsoft SNDS are not set up.',
    ],
  );
});

test('If all five sources are known and fine, the picture passes', async (t) => {
  const world = await startWorld(t);
  await makeFine(world);
  const picture = await world.picture();
  assertConsistent(picture);
  assert.deepEqual(
    picture.sources.map(({ state }) => state),
    ['pass', 'pass', 'pass', 'pass', 'pass'],
  );
  assert.equal(
    picture.headline,
    'No problems found in DNS, tests, placement, feedback and receivers.',
  );
});

test('What is too old is unknown, not fine', async (t) => {
  const world = await startWorld(t);
  await world.health({ spf_record: 'pass' }, 8);
  await world.test(PASSING, 31);
  await world.placement(31, SEEN);
  await world.reporting(true, ago(5));
  await world.sender({ messages: 1000 }, { days: 10 });
  await world.google(9, QUIET);
  await world.requirement('SPF', 'COMPLIANT', { days: 9 });
  const picture = await world.picture();
  assertConsistent(picture);
  assert.deepEqual(
    picture.sources.map(({ state }) => state),
    ['unknown', 'unknown', 'unknown', 'unknown', 'unknown'],
  );
  assert.equal(
    lineOf(picture, 'feedback'),
    'unknown: Reports have stopped: none has arrived for 3 days.',
  );
});

test('A domain in trouble in four ways: the headline names what costs most, and no section contradicts it', async (t) => {
  const world = await startWorld(t);
  await makeFine(world);
  await world.test({ ...PASSING, dkim: 'fail', dmarc: 'fail' });
  await world.placement(0, { 'gmail spam': 8, 'gmail inbox': 1 });
  await world.health({ spf_record: 'pass', domain_blocklists: 'fail' });
  await world.google(1, { ...QUIET, spam_rate: 0.051 });
  const picture = await world.picture();
  assertConsistent(picture);
  assert.deepEqual(problemsOf(picture), [
    `fail: Gmail users report 5.1% of your mail as spam. The limit is ${SPAM_LIMIT_TEXT}. ${dayAgo(1)}`,
    `fail: dmarc: fail. ${ago(0)}`,
    `fail: Most test messages land in spam at Gmail. ${dayAgo(0)}`,
    'fail: domain_blocklists: fail.',
    `fail: dkim: fail. ${ago(0)}`,
  ]);
  assert.equal(picture.state, 'fail');
  assert.equal(picture.headline, picture.problems[0]!.title);
  assert.deepEqual(picture.first_step, {
    text: 'Stop sending to recipients who did not ask for the mail or no longer open it, and make unsubscribing easy.',
    record: null,
    path: `/domains/${DOMAIN.id}#gmail`,
  });
  assert.deepEqual(
    picture.sources.map(({ state }) => state),
    ['fail', 'fail', 'fail', 'pass', 'fail'],
  );
});

test('Where Google and the last test disagree, both stand in the problem with their dates', async (t) => {
  const world = await startWorld(t);
  await makeFine(world);
  await world.requirement('DKIM', 'NEEDS_WORK', { days: 1, previous: 'COMPLIANT' });
  const picture = await world.picture();
  assertConsistent(picture);
  const [problem] = picture.problems;
  assert.equal(picture.headline, 'Google’s requirement is not met: DKIM.');
  assert.equal(picture.since, ago(4));
  assert.equal(problem!.is_disputed, true);
  assert.deepEqual(
    problem!.statements.map(({ origin, state, at }) => [origin, state, at]),
    [
      ['Google Postmaster Tools', 'fail', ago(1)],
      ['Test of news@example.com', 'pass', ago(0)],
      ['Google Postmaster Tools', 'pass', dayAgo(2)],
    ],
  );
  assert.equal(lineOf(picture, 'tests'), 'pass: The last test found no problem, with 80 points.');
});

test('The first step is the fix of a check; without one, it follows from the requirement or the topic', async (t) => {
  const world = await startWorld(t);
  const step = async () =>
    (await world.picture()).problems.map(({ first_step }) => first_step.text);
  await world.requirement('HONOR_UNSUBSCRIBE', 'NEEDS_WORK');
  assert.match((await step())[0]!, /within 48 hours/);
  await world.requirement('SPF', 'NEEDS_WORK');
  const [first, second] = await step();
  assert.match(first!, /^Send a test from each of your senders/);
  assert.match(second!, /within 48 hours/);
  await world.test({ ...PASSING, spf: 'fail' });
  assert.equal((await step())[0], 'Fix spf.');
});

// DNS.

test('Since when a finding exists is known only if no other can have changed the health', async (t) => {
  const world = await startWorld(t);
  await world.healthChanged('critical', 20);
  await world.healthChanged('warning', 9);
  await world.healthChanged('critical', 6);
  const since = async (checks: Parameters<World['health']>[0]) => {
    await world.health(checks);
    return (await world.picture()).problems.map((problem) => problem.since);
  };
  assert.deepEqual(await since({ spf_record: 'fail', mx: 'pass' }), [ago(6)]);
  assert.deepEqual(await since({ spf_record: 'fail', mx: 'warn' }), [ago(6), null]);
  assert.deepEqual(await since({ spf_record: 'fail', mx: 'fail' }), [null, null]);
  assert.deepEqual(await since({ spf_record: 'warn', mx: 'pass' }), [null]);
});

test('A missing verification record is a problem with the record to publish, and costs least', async (t) => {
  const world = await startWorld(t);
  await world.setDomain({ missing_since: ago(1) });
  const { headline, state, since, first_step } = await world.picture();
  assert.deepEqual(
    [state, headline, since],
    ['warn', 'The verification record is missing.', ago(1)],
  );
  assert.deepEqual(first_step?.record, {
    type: 'TXT',
    name: '_deliverability.example.com',
    value: 'deliverability-verify=q3v9k2m7x5t1w8b4',
  });
});

test('A problem that could not be checked again stays one', async (t) => {
  const world = await startWorld(t);
  await world.health({ spf_record: 'fail' }, 0, { status: 'error', former_status: 'fail' });
  const picture = await world.picture();
  assertConsistent(picture);
  assert.equal(lineOf(picture, 'dns').split(':')[0], 'fail');
});

// Tests.

test('The latest test of each sender decides, so that a test of another sender hides no problem', async (t) => {
  const world = await startWorld(t);
  await world.test({ ...PASSING, dmarc: 'fail' }, 3, { from_address: 'shop@example.com' });
  await world.test({ ...PASSING, dmarc: 'fail' }, 2, { from_address: 'Shop@example.com' });
  await world.test(PASSING, 1);
  const picture = await world.picture();
  assertConsistent(picture);
  assert.deepEqual(problemsOf(picture), [`fail: dmarc: fail. ${ago(3)}`]);
  assert.equal(
    picture.problems[0]!.statements[0]!.basis,
    'In 2 of the last 2 tests of this sender',
  );
  await world.test(PASSING, 0, { from_address: 'shop@example.com' });
  assert.deepEqual(problemsOf(await world.picture()), []);
});

test('Tests of other modes and unfinished tests say nothing', async (t) => {
  const world = await startWorld(t);
  await world.test({ ...PASSING, dmarc: 'fail' }, 0, { livemode: 0 });
  await world.test({ ...PASSING, dmarc: 'fail' }, 0, { livemode: 2 });
  await world.test({}, 0, { status: 'waiting', completed_at: null, checks: null });
  const picture = await world.picture();
  assert.deepEqual(problemsOf(picture), []);
  assert.equal(picture.sources[1]!.state, 'unknown');
});

test('A test in which SPF and DKIM could not be checked is unknown', async (t) => {
  const world = await startWorld(t);
  await world.test({ spf: 'error', dkim: 'error', subject: 'pass' }, 0, {
    spf: 'temperror',
    dkim: 'temperror',
    dmarc: 'temperror',
  });
  assert.equal(
    lineOf(await world.picture(), 'tests'),
    'unknown: SPF, DKIM and DMARC could not be checked in the last test.',
  );
});

// Placement.

test('Two seed mailboxes show a problem, but not that all is well', async (t) => {
  const world = await startWorld(t);
  await world.placement(1, { 'gmx inbox': 6 });
  assert.equal((await world.picture()).sources[2]!.state, 'unknown');
  await world.placement(0, { 'gmx spam': 20 });
  assert.deepEqual(problemsOf(await world.picture()), [
    `warn: Some test messages land in spam at GMX. ${dayAgo(0)}`,
  ]);
});

// Feedback.

test('Own mail that receivers stop costs more than own mail that only fails', async (t) => {
  const world = await startWorld(t);
  await world.reporting(true, ago(0));
  await world.sender({ messages: 200, passed: 100 });
  assert.deepEqual(problemsOf(await world.picture()), [
    'warn: Mail from mail.example.com fails DMARC.',
  ]);
  await world.sender({ messages: 100, passed: 50 }, { failingSince: dayAgo(3), days: 2 });
  assert.deepEqual(problemsOf(await world.picture()), [
    `fail: Mail from mail.example.com fails DMARC. ${dayAgo(3)}`,
  ]);
  await world.sender({ messages: 50, passed: 20, rejected: 30 }, { days: 3 });
  const picture = await world.picture();
  assertConsistent(picture);
  assert.equal(
    picture.headline,
    'Receivers stop your own mail from mail.example.com: it fails DMARC.',
  );
});

test('Complaints count by their share, and without a number of messages they only stand there', async (t) => {
  const world = await startWorld(t);
  await world.reporting(true, ago(0));
  await world.messages('complaint provider', 'yahoo.com', 30);
  assert.deepEqual(problemsOf(await world.picture()), []);
  await world.sender({ messages: Math.floor(30 / SPAM_LIMITS.fail) });
  assert.deepEqual(problemsOf(await world.picture()), [
    'fail: Too many recipients report your mail as spam.',
  ]);
});

test('Rejected mail is a problem if a trusted reporter says so, and a failure if it is much', async (t) => {
  const world = await startWorld(t);
  await world.sender({ messages: 1000 });
  await world.rejections(500, 0);
  assert.deepEqual(problemsOf(await world.picture()), []);
  await world.rejections(20);
  assert.deepEqual(problemsOf(await world.picture()), [
    'warn: Receivers reject some of your mail.',
  ]);
  await world.rejections(40);
  assert.deepEqual(problemsOf(await world.picture()), [
    'fail: Receivers reject much of your mail.',
  ]);
});

// Receivers.

test('The spam rate at Gmail is a problem from 0.1%, a failure from 0.3%, and has a beginning', async (t) => {
  const world = await startWorld(t);
  await world.google(6, { spam_rate: 0.0004 });
  await world.google(5, { spam_rate: 0.0012 });
  await world.google(3, { spam_rate: 0.001 });
  assert.deepEqual(problemsOf(await world.picture()), [
    `warn: Gmail users report 0.1% of your mail as spam. Stay below 0.1%. ${dayAgo(5)}`,
  ]);
  await world.google(2, { spam_rate: 0.00299 });
  assert.match((await world.picture()).headline, /0\.29% .* below 0\.1%/);
  await world.google(1, { spam_rate: 0.003 });
  assert.deepEqual(problemsOf(await world.picture()), [
    `fail: Gmail users report 0.3% of your mail as spam. The limit is 0.3%. ${dayAgo(1)}`,
  ]);
  await world.google(0, { spam_rate: 0 });
  assert.deepEqual(problemsOf(await world.picture()), [
    `warn: Gmail users reported up to 0.3% of your mail as spam last week. ${dayAgo(1)}`,
  ]);
});

test('Mail that Gmail rejects names the most frequent reason and what to do about it', async (t) => {
  const world = await startWorld(t);
  const errors = [
    { type: 'reject', reason: 'low_ip_reputation', rate: 0.01, count: 10 },
    { type: 'reject', reason: 'bad_or_missing_ptr_record', rate: 0.06, count: 60 },
    { type: 'temp_fail', reason: 'anomalous_traffic_pattern', rate: 0.09, count: 90 },
  ];
  await world.google(1, {
    reject_rate: 0.07,
    temp_fail_rate: 0.09,
    errors: JSON.stringify(errors),
  });
  const { headline, first_step, problems } = await world.picture();
  assert.equal(headline, 'Gmail rejects 7% of your mail.');
  assert.match(problems[0]!.statements[0]!.text, /mostly because of bad or missing reverse DNS\.$/);
  assert.match(first_step!.text, /PTR record/);
});

test('Only addresses that send for the domain count at Outlook', async (t) => {
  const world = await startWorld(t);
  await world.google(1, QUIET);
  await world.block('192.0.2.8', '192.0.2.15', 1);
  await world.snds(1, { filter_result: 'RED' });
  assert.deepEqual(problemsOf(await world.picture()), []);
  await world.test(PASSING);
  const picture = await world.picture();
  assertConsistent(picture);
  assert.deepEqual(
    picture.problems.map(({ title, since, statements }) => [title, since, statements.length]),
    [[`Outlook blocks your sending address ${ADDRESS}.`, ago(4), 2]],
  );
});

test('Of several periods of a day, the worst rating counts', async (t) => {
  const world = await startWorld(t);
  await world.google(1, QUIET);
  await world.test(PASSING);
  await world.snds(3, { filter_result: 'YELLOW' });
  await world.snds(2, { filter_result: 'RED' });
  await world.snds(1, { filter_result: 'GREEN' });
  await world.snds(1, { filter_result: 'RED', started_at: ago(1.5) });
  assert.deepEqual(problemsOf(await world.picture()), [
    `fail: Outlook filters most mail from ${ADDRESS} as spam. ${dayAgo(2)}`,
  ]);
});

test('Without figures, the line of receivers says why', async (t) => {
  const world = await startWorld(t);
  await world.requirement('SPF', 'COMPLIANT');
  const picture = await world.picture();
  assertConsistent(picture);
  assert.match(lineOf(picture, 'receivers'), /^unknown: Nothing has been fetched from Google/);
});

test('What Google and Microsoft said a week ago may no longer be so: it is unknown, not a problem', async (t) => {
  const world = await startWorld(t);
  await makeFine(world);
  await world.requirement('DKIM', 'NEEDS_WORK', { days: 9, previous: 'COMPLIANT' });
  await world.block(ADDRESS, ADDRESS, 1, 9);
  const picture = await world.picture();
  assertConsistent(picture);
  assert.deepEqual(picture.problems, []);
  await world.health({ dkim_selector: 'fail', dkim_coverage: 'pass' }, 9);
  const old = (await world.picture()).problems.flatMap(({ statements }) => statements);
  assert.deepEqual(
    old.filter(({ source }) => source === 'dns').map(({ state }) => state),
    ['fail', 'unknown'],
  );
});

test('Rows of accounts that are no longer configured do not say how it is now', async (t) => {
  const world = await startWorld(t);
  await makeFine(world);
  await world.requirement('DKIM', 'NEEDS_WORK');
  await world.block('192.0.2.0', '192.0.2.255', 1);
  assert.equal((await world.picture()).problems.length, 2);
  for (const table of ['receiver_requirements', 'receiver_blocks'] as const)
    await world.db.updateTable(table).set({ receiver_id: 'removed' }).execute();
  await world.requirement('SPF', 'COMPLIANT');
  await world.block('192.0.2.8', '192.0.2.15', 0);
  const picture = await world.picture();
  assertConsistent(picture);
  assert.deepEqual(picture.problems, []);
});
