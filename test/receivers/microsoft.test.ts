/** Microsoft SNDS: what is fetched, kept and observed about addresses, and what the API and events say about it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SendingAddressObservation } from '../../src/receivers/observations.ts';
import type { SendingAddresses } from '../../src/receivers/schema.ts';
import { blockedRange, servedAddress } from '../helpers/snds-server.ts';
import { DAY_MS, HOUR_MS, type ReceiverScene, startReceivers } from './receiver-scene.ts';

const fetch = (scene: ReceiverScene) => scene.fetch('microsoft_snds');

const addressesOf = async ({ call }: ReceiverScene, query = ''): Promise<SendingAddresses> =>
  (await call<SendingAddresses>('GET', `/v1/receivers/addresses${query}`)).body;

const observed = (scene: ReceiverScene) =>
  scene
    .observations()
    .map((each) => each as SendingAddressObservation)
    .map(({ subject, blocked, filterResult, day }) => [subject, blocked, filterResult, day]);

const changes = async (scene: ReceiverScene) =>
  (await scene.changes()).map(({ address, previous_status, status }) => [
    address,
    previous_status,
    status,
  ]);

const open = (first: string, last = first) => ({
  ...blockedRange(first, last),
  blocked: 'No',
  details: '',
});

test('Thirty days are fetched at first, then seven, the newest first', async (t) => {
  const scene = await startReceivers(t);
  await fetch(scene);
  const asked = () =>
    scene.snds.exchanges.flatMap(({ query }) => (query.has('date') ? [query.get('date')] : []));
  assert.deepEqual([asked().length, asked()[0], asked().at(-1)], [30, '112126', '102326']);
  scene.snds.exchanges.length = 0;
  scene.advance(DAY_MS);
  await fetch(scene);
  assert.deepEqual([asked().length, asked()[0], asked().at(-1)], [7, '112226', '111626']);
  scene.snds.exchanges.length = 0;
  scene.advance(10 * DAY_MS);
  await fetch(scene);
  assert.deepEqual(asked().at(-1), '111726', 'after a gap, its days too');
});

test('A 404 for a day means no data: older days are requested and stored', async (t) => {
  const scene = await startReceivers(t);
  scene.snds.days = { '2026-11-19': [servedAddress('192.0.2.25', '2026-11-19')] };
  assert.equal((await fetch(scene))!.problem, null);
  assert.deepEqual(
    (await addressesOf(scene)).addresses.map(({ address, days }) => [address, days[0]!.date]),
    [['192.0.2.25', '2026-11-19']],
  );
  const { body } = await scene.call<{ data: Record<string, unknown>[] }>('GET', '/v1/receivers');
  assert.deepEqual(
    [body.data[1]!.state, body.data[1]!.last_fetch_at],
    ['working', '2026-11-22T03:00:00.000Z'],
  );
});

test('Addresses are shown by day, with what is blocked', async (t) => {
  const scene = await startReceivers(t);
  scene.snds.ranges = [open('192.0.2.0', '192.0.2.24'), blockedRange('192.0.2.25')];
  scene.snds.days = {
    '2026-11-19': [servedAddress('192.0.2.25', '2026-11-19', { filterResult: 'YELLOW' })],
    '2026-11-20': [
      servedAddress('192.0.2.25', '2026-11-20', {
        filterResult: 'RED',
        complaintRate: '2.5%',
        trapHits: '3',
        sampleHelo: 'mail.example.com',
        sampleMailFrom: 'news@example.com',
        comments: 'Open proxy, see support',
      }),
      servedAddress('192.0.2.7', '2026-11-20', { recipients: 9000 }),
      servedAddress('198.51.100.1', '2026-11-20', { recipients: 1 }),
    ],
  };
  await fetch(scene);
  const body = await addressesOf(scene);
  assert.deepEqual(
    body.addresses.map(({ address, blocked }) => [address, blocked]),
    [
      ['192.0.2.7', false],
      ['192.0.2.25', true],
      ['198.51.100.1', null],
    ],
  );
  assert.equal(body.address_count, 3);
  const [red, yellow] = body.addresses[1]!.days;
  assert.deepEqual(red, {
    date: '2026-11-20',
    receiver_id: 'microsoft_snds',
    filter_result: 'RED',
    started_at: '2026-11-20T08:00:00.000Z',
    ended_at: '2026-11-21T07:00:00.000Z',
    rcpt_commands: 1200,
    data_commands: 1100,
    recipients: 1150,
    trap_hits: null,
    complaint_rate: 0.025,
    complaint_rate_is_below: false,
    sample_helo: null,
    sample_mail_from: null,
    comments: 'Open proxy, see support',
  });
  assert.deepEqual(
    [yellow!.filter_result, yellow!.complaint_rate, yellow!.complaint_rate_is_below],
    ['YELLOW', 0.001, true],
  );
  assert.deepEqual(
    body.ranges.map(({ first_address, last_address, blocked }) => [
      first_address,
      last_address,
      blocked,
    ]),
    [
      ['192.0.2.25', '192.0.2.25', true],
      ['192.0.2.0', '192.0.2.24', false],
    ],
  );
  const one = await addressesOf(scene, '?address=192.0.2.7&from=2026-01-01&to=2026-11-22');
  assert.deepEqual([one.addresses.length, one.ranges.length], [1, 1]);
  const { status, body: problem } = await scene.call('GET', '/v1/receivers/addresses?address=x');
  assert.deepEqual([status, problem.code], [422, 'validation_failed']);
  const long = await scene.call('GET', '/v1/receivers/addresses?from=2026-01-01&to=2026-11-22');
  assert.equal(long.status, 422);
});

test('A later answer changes a day, and an empty one deletes nothing', async (t) => {
  const scene = await startReceivers(t);
  const day = '2026-11-20';
  scene.snds.days = {
    [day]: [
      servedAddress('192.0.2.25', day, { complaintRate: '< 0.1%' }),
      servedAddress('192.0.2.26', day),
    ],
  };
  await fetch(scene);
  scene.advance(DAY_MS);
  scene.snds.days = {
    [day]: [
      servedAddress('192.0.2.25', day, {
        activityStart: '11/20/2026 1:00 AM',
        recipients: 5000,
        complaintRate: '',
      }),
    ],
  };
  await fetch(scene);
  const rows = () =>
    scene.app.db.selectFrom('receiver_addresses').selectAll().orderBy('address').execute();
  assert.deepEqual(
    (await rows()).map(({ address, started_at, recipients }) => [address, started_at, recipients]),
    [
      ['192.0.2.25', '2026-11-20T09:00:00.000Z', 5000],
      ['192.0.2.26', '2026-11-20T08:00:00.000Z', 1150],
    ],
  );
  scene.advance(DAY_MS);
  scene.snds.days[day]![0]!.complaintRate = '0.4%';
  await fetch(scene);
  scene.advance(DAY_MS);
  scene.snds.days[day]![0]!.complaintRate = '';
  scene.snds.days[day]![0]!.filterResult = '';
  await fetch(scene);
  const [first] = await rows();
  assert.deepEqual(
    [first!.complaint_rate, first!.is_below_rate, first!.filter_result],
    [0.004, 0, 'GREEN'],
  );
  scene.advance(DAY_MS);
  scene.snds.days = {};
  await fetch(scene);
  assert.equal((await rows()).length, 2);
});

test('A first RED is announced, then each change of the latest result; older days change nothing', async (t) => {
  const scene = await startReceivers(t);
  const served = (day: string, filterResult: string) => {
    scene.snds.days[day] = [
      servedAddress('192.0.2.1', day, { filterResult }),
      servedAddress('192.0.2.2', day),
    ];
  };
  served('2026-11-18', 'GREEN');
  served('2026-11-19', 'YELLOW');
  served('2026-11-20', 'RED');
  await fetch(scene);
  assert.deepEqual(await changes(scene), [['192.0.2.1', null, 'RED']]);
  assert.deepEqual(observed(scene), [
    ['192.0.2.1', null, 'RED', '2026-11-20'],
    ['192.0.2.2', null, 'GREEN', '2026-11-20'],
  ]);
  scene.advance(DAY_MS);
  served('2026-11-21', 'RED');
  // A period that begins before the red one.
  scene.snds.days['2026-11-21']!.push(
    servedAddress('192.0.2.1', '2026-11-21', { activityStart: '11/21/2026 12:00 AM' }),
  );
  scene.snds.days['2026-11-21']![0]!.activityStart = '11/21/2026 1:00 AM';
  await fetch(scene);
  const [red] = scene.observations() as SendingAddressObservation[];
  assert.deepEqual([red!.day, red!.since], ['2026-11-21', '2026-11-20']);
  scene.advance(DAY_MS);
  served('2026-11-22', 'GREEN');
  await fetch(scene);
  assert.deepEqual(await changes(scene), [
    ['192.0.2.1', null, 'RED'],
    ['192.0.2.1', 'RED', 'GREEN'],
  ]);
  scene.observations();
  scene.advance(10 * DAY_MS);
  await fetch(scene);
  assert.deepEqual(
    observed(scene),
    [
      ['192.0.2.1', null, null, null],
      ['192.0.2.2', null, null, null],
    ],
    'old days say nothing about today',
  );
});

test('A block is announced and observed until the address belongs to a larger range again', async (t) => {
  const scene = await startReceivers(t);
  scene.snds.ranges = [open('192.0.2.0', '192.0.2.255')];
  await fetch(scene);
  assert.deepEqual(await changes(scene), []);
  assert.deepEqual(observed(scene), [['192.0.2.0-192.0.2.255', false, null, null]]);

  scene.advance(DAY_MS);
  scene.snds.ranges = [
    open('192.0.2.0', '192.0.2.16'),
    blockedRange('192.0.2.17'),
    open('192.0.2.18', '192.0.2.255'),
  ];
  await fetch(scene);
  assert.deepEqual(await changes(scene), [['192.0.2.17', 'NOT_BLOCKED', 'BLOCKED']]);
  assert.deepEqual(observed(scene), [
    ['192.0.2.17', true, null, null],
    ['192.0.2.0-192.0.2.16', false, null, null],
    ['192.0.2.18-192.0.2.255', false, null, null],
    ['192.0.2.0-192.0.2.255', false, null, null],
  ]);
  const { since } = await scene.app.db
    .selectFrom('receiver_blocks')
    .select('since')
    .where('last_address', '=', '192.0.2.16')
    .executeTakeFirstOrThrow();
  assert.equal(since, '2026-11-22T03:00:00.000Z', 'it was not blocked before, either');

  scene.advance(DAY_MS);
  scene.snds.ranges = [];
  await fetch(scene);
  assert.equal(observed(scene)[0]![1], true, 'no data changes nothing');

  scene.advance(DAY_MS);
  scene.snds.ranges = [open('192.0.2.0', '192.0.2.255')];
  await fetch(scene);
  assert.deepEqual((await changes(scene)).at(-1), ['192.0.2.17', 'BLOCKED', 'NOT_BLOCKED']);
  assert.deepEqual(observed(scene)[0], ['192.0.2.17', false, null, null]);
});

test('In a blocked range, only the range is said to be blocked', async (t) => {
  const scene = await startReceivers(t);
  scene.snds.ranges = [blockedRange('192.0.2.0', '192.0.2.255')];
  scene.snds.days = { '2026-11-20': [servedAddress('192.0.2.1', '2026-11-20')] };
  await fetch(scene);
  assert.deepEqual(observed(scene), [
    ['192.0.2.1', null, 'GREEN', '2026-11-20'],
    ['192.0.2.0-192.0.2.255', true, null, null],
  ]);
  assert.equal((await addressesOf(scene)).addresses[0]!.blocked, true);
});

test('A refused key is a problem of the account; days before a failure stay', async (t) => {
  const scene = await startReceivers(t);
  scene.snds.days = {
    '2026-11-20': [servedAddress('192.0.2.1', '2026-11-20', { filterResult: 'RED' })],
    '2026-11-10': [servedAddress('192.0.2.1', '2026-11-10')],
  };
  scene.snds.fault = ({ query }) => (query.get('date') === '111526' ? 'unavailable' : null);
  const result = await fetch(scene);
  assert.equal(result!.problem!.problem, 'unreachable');
  assert.deepEqual(observed(scene), [['192.0.2.1', null, 'RED', '2026-11-20']]);
  scene.advance(HOUR_MS);
  scene.snds.fault = () => null;
  await fetch(scene);
  const { addresses } = await addressesOf(scene);
  assert.equal(addresses[0]!.days.length, 2, 'the next fetch asks for all of the first 30 days');

  scene.advance(DAY_MS);
  scene.snds.keys.clear();
  await fetch(scene);
  const { body } = await scene.call<{ data: Record<string, unknown>[] }>('GET', '/v1/receivers');
  const snds = body.data[1]!;
  assert.deepEqual([snds.state, snds.domains], ['failing', null]);
  const { code, message } = snds.problem as { code: string; message: string };
  assert.equal(code, 'refused');
  assert.match(message, /does not accept the key/);
  const { no_data } = await addressesOf(scene, '?address=203.0.113.1');
  assert.equal(no_data!.code, 'failing');
});

test('Lines that begin at the same time, as in the hour that repeats in fall, are one period with the worst result', async (t) => {
  const scene = await startReceivers(t);
  const day = '2026-11-20';
  scene.snds.days = {
    [day]: [
      servedAddress('192.0.2.1', day, { filterResult: 'RED' }),
      servedAddress('192.0.2.1', day, { filterResult: 'GREEN' }),
      servedAddress('192.0.2.1', day, { filterResult: '' }),
    ],
  };
  assert.equal((await fetch(scene))!.problem, null);
  const { addresses } = await addressesOf(scene);
  assert.deepEqual(
    addresses[0]!.days.map(({ filter_result }) => filter_result),
    ['RED'],
  );
});
