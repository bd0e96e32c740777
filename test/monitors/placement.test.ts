/** Placement monitors: messages from outside become tests and runs, and a missing message is a finding. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { AlertIncident } from '../../src/alerts/schema.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import type { PlacementFinding } from '../../src/monitors/findings.ts';
import { placementOutcome } from '../../src/monitors/placement.ts';
import type { Monitor, MonitorRun } from '../../src/monitors/schema.ts';
import type { TestService } from '../helpers/app.ts';
import { type ImapServer, startImapServer } from '../helpers/imap-server.ts';
import { sendMail } from '../helpers/send.ts';
import { mailWith, offsetClock, startSeeding } from '../placement/seeding.ts';

async function startMailbox(t: TestContext): Promise<ImapServer> {
  return startImapServer(t, {
    folders: [
      { name: 'INBOX', messages: [] },
      { name: 'Junk', flags: ['\\Junk'], messages: [] },
    ],
  });
}

function put({ script }: ImapServer, raw: string, isSpam: boolean, receivedAt: Date): void {
  const { messages } = script.folders[isSpam ? 1 : 0]!;
  messages.push({ uid: messages.length + 1, raw, receivedAt });
}

async function start(t: TestContext) {
  const clock = offsetClock();
  const mailboxes = [await startMailbox(t), await startMailbox(t)];
  const service = await startSeeding(t, {
    clock,
    seeds: mailboxes.map(({ url }, i) => ({
      provider: i === 0 ? 'gmail' : 'gmx',
      address: `seed${i}@b.example`,
      imap: url,
      plus_addresses: true,
    })),
  });
  const { body: monitor } = await service.call<Monitor>('POST', '/v1/monitors', {
    json: { name: 'Newsletter', type: 'placement', frequency: 'daily' },
  });
  let sent = 0;
  /** One message to the monitor and its seed addresses. */
  const send = async (isSpam: boolean[] = [false, false]): Promise<string> => {
    const id = `<${++sent}@example.com>`;
    const raw = mailWith({ 'Message-ID': id });
    for (const [i, mailbox] of mailboxes.entries())
      if (isSpam[i] !== undefined)
        put(
          mailbox,
          mailWith({ 'Message-ID': id, To: monitor.seed_addresses[i]!.address }),
          isSpam[i],
          new Date(clock.now()),
        );
    return sendMail({ port: service.smtp.port, to: monitor.address!, raw });
  };
  return { clock, service, mailboxes, monitor, send };
}

const runsOf = async ({ call }: TestService, { id }: Monitor): Promise<MonitorRun[]> =>
  (await call<{ data: MonitorRun[] }>('GET', `/v1/monitors/${id}/runs`)).body.data;

async function waitForRuns(service: TestService, monitor: Monitor, count: number) {
  for (const end = Date.now() + 20_000; ; ) {
    const runs = await runsOf(service, monitor);
    if (runs.length >= count) return runs;
    assert.ok(Date.now() < end, `${runs.length} of ${count} runs`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const problemsOf = ({ findings }: MonitorRun) =>
  findings.map((finding) => 'problem' in finding && [finding.problem, finding.provider]);

test('Each message to the address of a placement monitor becomes a test and a run', async (t) => {
  const { clock, service, monitor, send } = await start(t);
  assert.match(monitor.address!, /^[a-z2-9]{16}@/);
  const [token] = monitor.address!.split('@');
  assert.deepEqual(monitor.seed_addresses, [
    { provider: 'gmail', address: `seed0+${token}@b.example` },
    { provider: 'gmx', address: `seed1+${token}@b.example` },
  ]);
  await service.call('POST', '/v1/alerts', {
    json: { name: 'Placement', condition: 'placement_problem', channels: ['webhook'] },
  });
  await send([false, true]);
  const [first] = await waitForRuns(service, monitor, 1);
  assert.equal(first!.status, 'alerting');
  assert.deepEqual(problemsOf(first!), [['spam', 'gmx']]);
  assert.deepEqual(
    [first!.placement!.samples, first!.placement!.inbox, first!.targets],
    [2, 1, [{ target: monitor.address, known: true }]],
  );
  const message = await service.getTest(first!.placement!.test_id!, '?wait=20&for=placement');
  assert.deepEqual(
    [message.name, message.monitor_id, message.placement_status, message.inbox_placement],
    ['Newsletter', monitor.id, 'settled', { gmail: 'inbox', gmx: 'spam' }],
  );
  const { body: open } = await service.call<{ data: AlertIncident[] }>(
    'GET',
    '/v1/alert_incidents',
  );
  assert.deepEqual(
    open.data.map(({ subject, status, condition }) => [subject, status, condition]),
    [[monitor.address, 'open', 'placement_problem']],
  );
  assert.equal(open.data[0]!.value.monitor, 'Newsletter');
  // The next message is in the inbox everywhere.
  clock.advance(24 * 3_600_000);
  await send([false, false]);
  const [second] = await waitForRuns(service, monitor, 2);
  assert.deepEqual([second!.status, problemsOf(second!)], ['ok', []]);
  const { body: closed } = await service.call<{ data: AlertIncident[] }>(
    'GET',
    '/v1/alert_incidents',
  );
  assert.deepEqual(
    closed.data.map(({ status, resolution }) => [status, resolution]),
    [['resolved', 'condition_ended']],
  );
});

test('A message that does not arrive in time is a finding, which the next message resolves', async (t) => {
  const { clock, service, monitor, send } = await start(t);
  const startedAt = clock.now();
  while ((await runsOf(service, monitor)).length === 0) {
    clock.advance(900_000);
    service.app.scheduler.wakeAll();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const hours = (clock.now() - startedAt) / 3_600_000;
  assert.ok(hours > 26 && hours < 30, `${hours} hours`);
  const [missing] = await runsOf(service, monitor);
  assert.deepEqual([missing!.status, problemsOf(missing!)], ['alerting', [['no_message', null]]]);
  const { body: events } = await service.call<{ data: { type: string }[] }>('GET', '/v1/events');
  assert.deepEqual(
    events.data.map(({ type }) => type),
    ['monitor.alert'],
  );
  await send();
  const [run] = await waitForRuns(service, monitor, 2);
  assert.deepEqual([run!.status, problemsOf(run!)], ['ok', []]);
});

test('The same bytes start one run, and a paused monitor rejects messages', async (t) => {
  const { service, monitor } = await start(t);
  const raw = mailWith();
  const mail = { port: service.smtp.port, to: monitor.address!, raw };
  const first = await sendMail(mail);
  assert.equal(await sendMail(mail), first);
  const { body: tests } = await service.call<{ data: Test[] }>('GET', '/v1/tests');
  assert.equal(tests.data.length, 1);
  await service.call('PATCH', `/v1/monitors/${monitor.id}`, { json: { enabled: false } });
  await assert.rejects(sendMail(mail), { responseCode: 550 });
  await service.call('PATCH', `/v1/monitors/${monitor.id}`, { json: { enabled: true } });
  const { status, body } = await service.call('POST', `/v1/monitors/${monitor.id}/run`);
  assert.equal(status, 409);
  assert.match(String(body.detail), /^A placement monitor runs when a message arrives\./);
});

const seedsAt = (provider: string, ...places: ('inbox' | 'spam' | 'missing' | 'unknown')[]) =>
  places.map((placement) => ({ provider, placement }));

test('A message that arrived in an unknown tab shows that it was sent, so others can be missing', () => {
  const rows = [
    { provider: 'gmail', placement: 'unknown', message_key: '["INBOX","1",1]' },
    { provider: 'outlook', placement: 'missing', message_key: null },
  ] as const;
  const { findings, placement } = placementOutcome('a@b.example', 'test_1', [...rows], {
    samples: 0,
    inbox: 0,
  });
  assert.deepEqual(
    findings.map((finding) => 'problem' in finding && [finding.problem, finding.provider]),
    [['missing', 'outlook']],
  );
  assert.deepEqual([placement!.samples, placement!.inbox], [1, 0]);
});

test('Placement findings have numbers, and rates need at least 3 seed mailboxes now and before', () => {
  const outcome = (rows: ReturnType<typeof seedsAt>, usual = { samples: 0, inbox: 0 }) =>
    placementOutcome('a@b.example', 'test_1', rows, usual);
  const titles = (...args: Parameters<typeof outcome>) =>
    outcome(...args).findings.map((finding) => 'problem' in finding && finding.title);
  const usual = { samples: 20, inbox: 20 };
  assert.deepEqual(titles(seedsAt('gmail', 'inbox', 'inbox', 'inbox'), usual), []);
  assert.deepEqual(titles(seedsAt('gmail', 'inbox', 'spam', 'missing'), usual), [
    'Gmail sent the message to spam in 1 of 3 seed mailboxes.',
    'Gmail did not deliver the message to 1 of 3 seed mailboxes.',
    'The inbox rate fell to 33% of 3 seed mailboxes (before: 100% of 20 samples).',
  ]);
  // Too few, now or before.
  for (const [rows, before] of [
    [seedsAt('gmail', 'inbox', 'spam'), usual],
    [seedsAt('gmail', 'inbox', 'spam', 'spam'), { samples: 2, inbox: 2 }],
  ] as const)
    assert.deepEqual(
      outcome(rows, before).findings.map((finding) => 'problem' in finding && finding.problem),
      ['spam'],
    );
  assert.deepEqual(titles(seedsAt('gmail', 'missing', 'missing')), [
    'None of 2 seed mailboxes received the message. Check that it was sent to their addresses.',
  ]);
});

test('A provider without a result is unknown, and keeps its earlier findings', () => {
  const spam: PlacementFinding = {
    problem: 'spam',
    severity: 'critical',
    title: 'Spam.',
    provider: 'gmx',
  };
  const partly = placementOutcome(
    'a@b.example',
    'test_1',
    [...seedsAt('gmail', 'inbox'), ...seedsAt('gmx', 'unknown')],
    { samples: 0, inbox: 0 },
  );
  assert.deepEqual([partly.findings, partly.unknown], [[], [{ provider: 'gmx' }]]);
  assert.ok(partly.canPersist(spam) && !partly.canPersist({ ...spam, provider: 'gmail' }));
  assert.ok(!partly.canPersist({ ...spam, problem: 'no_message', provider: null }));
  const nothing = placementOutcome('a@b.example', 'test_1', seedsAt('gmx', 'unknown'), {
    samples: 0,
    inbox: 0,
  });
  assert.deepEqual([nothing.findings, nothing.allUnknown], [[], true]);
});
