/** Placement in mailboxes of servers that misbehave, or have what Dovecot lacks. */

// @one-database: about IMAP servers.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Test } from '../../src/mailtests/schema.ts';
import type { SeedPlacement } from '../../src/mailtests/schemas/placement.ts';
import { createImapSource, type ImapSeed } from '../../src/placement/imap-source.ts';
import { seedErrorWords } from '../../src/placement/seeds.ts';
import type { TestService } from '../helpers/app.ts';
import {
  type Exchange,
  type ImapScript,
  type ImapServer,
  type ScriptedMessage,
  startImapServer,
} from '../helpers/imap-server.ts';
import {
  mailWith,
  type OffsetClock,
  offsetClock,
  placementIn,
  sendToTest,
  startSeeding,
  waitForPlacement,
  waitForSeed,
} from './seeding.ts';

interface Scene {
  service: TestService;
  clock: OffsetClock;
  server: ImapServer;
  created: Test;
  /** The placement at the scripted server, once `isDone`. */
  wait(isDone: (seed: SeedPlacement) => boolean): Promise<SeedPlacement>;
}

/** A service with the scripted mailbox and a healthy one, and a test whose message the healthy one has. */
async function startScene(
  t: TestContext,
  script: (created: () => Test) => ImapScript,
  seed: object = {},
): Promise<Scene> {
  const clock = offsetClock();
  let current: Test | undefined;
  const server = await startImapServer(
    t,
    script(() => current!),
  );
  const healthy = await startImapServer(t, {
    folders: [
      { name: 'INBOX', messages: [] },
      { name: 'Junk', flags: ['\\Junk'], messages: [] },
    ],
  });
  const service = await startSeeding(t, {
    clock,
    seeds: [
      { provider: 'scripted', address: 'seed@mail.example', imap: server.url, ...seed },
      { provider: 'healthy', address: 'well@other.example', imap: healthy.url },
    ],
  });
  const created = await service.createTest({ placement: true });
  current = created;
  const to = created.seed_addresses.find(({ provider }) => provider === 'healthy')!.address;
  healthy.script.folders[0]!.messages.push({ uid: 1, raw: mailWith({ To: to }) });
  await sendToTest(service, created);
  await service.getTest(created.id, '?wait=20');
  const wait = async (isDone: (seed: SeedPlacement) => boolean) => {
    const done = await waitForPlacement(
      service,
      created.id,
      (now) => isDone(placementIn(now, 'seed')),
      30,
    );
    return placementIn(done, 'seed');
  };
  return { service, clock, server, created, wait };
}

const isSettled = ({ settled }: SeedPlacement): boolean => settled;

/** The same, while time passes quickly until the next looks. */
const settledLater =
  ({ clock }: Scene) =>
  ({ settled }: SeedPlacement): boolean => {
    clock.advance(1000);
    return settled;
  };

/** The folders of a mailbox, with messages in the inbox. */
const mailbox = (...raws: string[]): ImapScript => ({
  folders: [
    { name: 'INBOX', messages: raws.map((raw, i) => ({ uid: i + 1, raw })) },
    { name: 'Junk', flags: ['\\Junk'], messages: [] },
  ],
});

/** Waits until the mailbox was found unreadable, lets the time run out, and expects `unknown` with the reason. */
async function assertUnknown(
  { service, clock, created, wait }: Scene,
  problem: string,
): Promise<void> {
  const until = Date.now() + 40_000;
  for (;;) {
    const row = await service.app.db
      .selectFrom('seed_mailboxes')
      .selectAll()
      .where('id', '=', 'seed@mail.example')
      .executeTakeFirstOrThrow();
    if (row.error !== null) {
      assert.equal(row.error, problem);
      break;
    }
    assert.ok(Date.now() < until, 'the mailbox was not found unreadable');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { body } = await service.call<{
    dependencies: { name: string; status: string; detail: string }[];
  }>('GET', '/readyz');
  const seeds = body.dependencies.find(({ name }) => name === 'seed_mailboxes')!;
  assert.equal(seeds.status, 'degraded');
  assert.equal(seeds.detail, `1 of 2 can’t be read: scripted (${seedErrorWords(problem)}).`);
  clock.advance(61 * 60_000);
  const { placement, detail, ...seed } = await wait(isSettled);
  assert.deepEqual([placement, seed.problem], ['unknown', problem]);
  assert.ok(detail && !detail.includes('right'), `${detail}`);
  const final = await service.getTest(created.id, '?wait=20&for=placement');
  // The other mailbox is not affected, and this one counts nowhere.
  assert.deepEqual(final.inbox_placement, { healthy: 'inbox', scripted: 'unknown' });
  const summary = await service.call('GET', '/v1/reports/summary?period=day');
  assert.deepEqual([summary.body.placement_samples, summary.body.inbox_rate], [1, 1]);
}

test('A wrong password makes the placement unknown, and is not tried again at once', async (t) => {
  const refusing = await startScene(t, () => ({
    ...mailbox(),
    on({ tag, line, send }) {
      if (!/^LOGIN/.test(line)) return false;
      send(`${tag} NO [AUTHENTICATIONFAILED] Invalid credentials`);
      return true;
    },
  }));
  await assertUnknown(refusing, 'sign_in_failed');
  assert.ok(refusing.server.total <= 2, `${refusing.server.total} sign-ins`);
});

for (const [what, reply] of [
  ['a literal of 1 GB', '* LIST () "/" {1073741824}\r\n'],
  ['a literal whose size is no number', '* LIST () "/" {99999999999999999999999}\r\n'],
] as const)
  test(`A server that announces ${what} is disconnected`, async (t) => {
    const scene = await startScene(t, () => ({
      ...mailbox(),
      on({ line, socket }) {
        if (!/^LIST/.test(line)) return false;
        socket.write(reply);
        return true;
      },
    }));
    await assertUnknown(scene, 'bad_response');
    assert.ok(scene.server.open <= 1);
  });

test('A server that sends an endless line is disconnected', async (t) => {
  const scene = await startScene(t, () => ({
    ...mailbox(),
    on({ line, socket }) {
      if (!/^LIST/.test(line)) return false;
      const more = () => {
        while (!socket.destroyed && socket.write('x'.repeat(65_536)));
      };
      socket.on('drain', more);
      more();
      return true;
    },
  }));
  await assertUnknown(scene, 'bad_response');
});

test('A server that sends endless responses is disconnected', async (t) => {
  const scene = await startScene(t, () => ({
    ...mailbox(),
    on({ line, socket }) {
      if (!/^LIST/.test(line)) return false;
      const response = `* OK ${'x'.repeat(8000)}\r\n`.repeat(8);
      const more = () => {
        while (!socket.destroyed && socket.write(response));
      };
      socket.on('drain', more);
      more();
      return true;
    },
  }));
  await assertUnknown(scene, 'bad_response');
});

test('A greeting in pieces is understood', async (t) => {
  const scene = await startScene(t, (created) => ({
    ...mailbox(),
    greet(socket) {
      for (const [i, piece] of ['* O', 'K re', 'ady\r', '\n'].entries())
        setTimeout(() => socket.write(piece), 50 * i);
    },
    get folders() {
      const raw = mailWith({ To: placementIn(created(), 'seed').address });
      return mailbox(raw).folders;
    },
  }));
  assert.equal((await scene.wait(isSettled)).placement, 'inbox');
});

test('A connection that drops during a search is opened again', async (t) => {
  let drops = 2;
  const scene = await startScene(t, (created) => ({
    get folders() {
      return mailbox(mailWith({ To: placementIn(created(), 'seed').address })).folders;
    },
    on({ line, socket }) {
      if (!/^UID SEARCH/.test(line) || drops === 0) return false;
      drops -= 1;
      socket.write('* SEAR');
      socket.destroy();
      return true;
    },
  }));
  assert.equal((await scene.wait(settledLater(scene))).placement, 'inbox');
  assert.equal(drops, 0);
});

test('Folders are examined and messages are peeked at, never selected', async (t) => {
  const scene = await startScene(t, (created) => ({
    get folders() {
      return mailbox(mailWith({ To: placementIn(created(), 'seed').address })).folders;
    },
  }));
  await scene.wait(isSettled);
  const changing = scene.server.commands.filter((line) =>
    /^(?:SELECT|UID STORE|STORE|UID COPY|UID MOVE|EXPUNGE|APPEND|CREATE|DELETE)|BODY\[/i.test(line),
  );
  assert.deepEqual(changing, []);
  assert.ok(scene.server.commands.some((line) => line.includes('BODY.PEEK[]')));
});

test('New UIDs of a folder whose UIDVALIDITY changed are read from the beginning', async (t) => {
  const scene = await startScene(t, () =>
    mailbox(mailWith({ Subject: 'a' }), mailWith({ Subject: 'b' })),
  );
  const inbox = scene.server.script.folders[0]!;
  await waitForSearches(scene.server, 2);
  // The same UIDs, for other messages.
  inbox.uidValidity = 2;
  inbox.messages = [{ uid: 1, raw: mailWith({ To: placementIn(scene.created, 'seed').address }) }];
  scene.clock.advance(11_000);
  assert.equal((await scene.wait(isSettled)).placement, 'inbox');
});

async function waitForSearches(server: ImapServer, count: number): Promise<void> {
  while (server.commands.filter((line) => /^UID SEARCH/.test(line)).length < count)
    await new Promise((resolve) => setTimeout(resolve, 20));
}

test('A mailbox without a known spam folder is unknown, never missing', async (t) => {
  const scene = await startScene(t, () => ({
    folders: [
      { name: 'INBOX', messages: [] },
      { name: 'Archive', messages: [] },
      { name: 'Archive/Spam', messages: [] },
    ],
  }));
  scene.clock.advance(61 * 60_000);
  const { placement, problem, searched } = await scene.wait(isSettled);
  assert.deepEqual([placement, problem, searched], ['unknown', 'no_junk_folder', ['INBOX']]);
});

test('No more connections are open to a mailbox than it accepts', async (t) => {
  const scene = await startScene(t, () => mailbox(), { connections: 1 });
  for (let i = 0; i < 5; i++) await scene.service.createTest({ placement: true });
  scene.clock.advance(11_000);
  const before = scene.server.commands.length;
  while (scene.server.commands.slice(before).every((line) => !/^EXAMINE INBOX/.test(line)))
    await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(scene.server.mostOpen, 1);
});

test('Both connections to a mailbox are opened again every 25 minutes, and mail is found through the new ones', async (t) => {
  const scene = await startScene(t, () => mailbox());
  const { server, clock } = scene;
  const idling = () => server.commands.filter((line) => /^IDLE$/i.test(line)).length;
  const waitFor = async (isDone: () => boolean, what: string) => {
    for (const end = Date.now() + 20_000; !isDone(); ) {
      assert.ok(Date.now() < end, `${what}: ${server.total} connections, ${idling()} idle`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const lookAfter = async (minutes: number) => {
    const before = server.commands.filter((line) => /^EXAMINE INBOX/.test(line)).length;
    clock.advance(minutes * 60_000);
    await waitFor(
      () => server.commands.filter((line) => /^EXAMINE INBOX/.test(line)).length > before,
      `a look after ${minutes} min`,
    );
  };
  await waitFor(() => idling() === 1, 'the first connections');
  assert.equal(server.total, 2);
  await lookAfter(24);
  assert.deepEqual([server.total, idling()], [2, 1], 'kept for 24 minutes');
  for (const [round, minutes] of [2, 26].entries()) {
    await lookAfter(minutes);
    // The look that opens one of them may have begun before the time was over for the other.
    await waitFor(
      () => server.total === 2 * (round + 2) && idling() === round + 2 && server.open === 2,
      `round ${round}`,
    );
    assert.equal(server.mostOpen, 2);
  }
  assert.equal(server.commands.filter((line) => line === 'LOGOUT').length, 4);
  // The server now reports new mail to the connection that waits, long before the next look.
  const inbox = server.script.folders[0]!;
  inbox.messages.push({
    uid: 1,
    raw: mailWith({ To: placementIn(scene.created, 'seed').address }),
  });
  server.announce(1);
  assert.equal((await scene.wait(isSettled)).placement, 'inbox');
});

test('A message among 50,000 older ones is found without reading those', async (t) => {
  const old = new Date(Date.now() - 5 * 86_400_000);
  const raw = mailWith({ Subject: 'Old' });
  const messages = Array.from({ length: 50_000 }, (_, i) => ({ uid: i + 1, raw, receivedAt: old }));
  const scene = await startScene(t, (created) => ({
    get folders() {
      const to = placementIn(created(), 'seed').address;
      const inbox = [...messages, { uid: 50_001, raw: mailWith({ To: to }) }];
      return [
        { name: 'INBOX', messages: inbox },
        { name: 'Junk', flags: ['\\Junk'], messages: [] },
      ];
    },
  }));
  assert.equal((await scene.wait(isSettled)).placement, 'inbox');
  const fetches = scene.server.commands.filter((line) => line.includes('BODY.PEEK'));
  assert.deepEqual(
    fetches.map((line) => line.split(' ')[2]),
    ['50001'],
  );
});

test('Among 60,000 new messages, the newest are read, and one that is not among them is unknown', async (t) => {
  const raw = mailWith({ Subject: 'Other', 'Message-ID': '<other@example.com>' });
  const messages: ScriptedMessage[] = Array.from({ length: 60_000 }, (_, i) => ({
    uid: i + 1,
    raw,
  }));
  const scene = await startScene(t, () => ({
    folders: [
      { name: 'INBOX', messages },
      { name: 'Junk', flags: ['\\Junk'], messages: [] },
    ],
  }));
  await waitForSeed(scene.service, 'seed@mail.example', ({ last_read_at, error }) => {
    assert.equal(error, null);
    return last_read_at !== null;
  });
  const fetches = scene.server.commands.filter((line) => line.includes('BODY.PEEK'));
  assert.equal(fetches.length, 25, 'the newest 500 in batches of 20');
  scene.clock.advance(61 * 60_000);
  const { placement, problem } = await scene.wait(isSettled);
  assert.deepEqual([placement, problem], ['unknown', 'too_many_messages']);
  // A later message is found all the same, and a test without one is not affected.
  const later = await scene.service.createTest({ placement: true });
  const unsent = await scene.service.createTest({ placement: true });
  const to = placementIn(later, 'seed').address;
  messages.push({
    uid: 60_001,
    raw: mailWith({ To: to }),
    receivedAt: new Date(scene.clock.now()),
  });
  scene.clock.advance(11_000);
  const done = await waitForPlacement(
    scene.service,
    later.id,
    (now) => placementIn(now, 'seed').settled,
  );
  assert.equal(placementIn(done, 'seed').placement, 'inbox');
  await sendToTest(scene.service, unsent, mailWith({ 'Message-ID': '<unsent@example.com>' }));
  await scene.service.getTest(unsent.id, '?wait=20');
  scene.clock.advance(61 * 60_000);
  const over = await waitForPlacement(
    scene.service,
    unsent.id,
    (now) => placementIn(now, 'seed').settled,
  );
  assert.equal(placementIn(over, 'seed').placement, 'missing');
});

test('A look that takes too long ends, and the next one reads only the rest', async (t) => {
  const raws = Array.from({ length: 45 }, (_, i) => mailWith({ 'Message-ID': `<${i}@a.example>` }));
  let limit = new AbortController();
  const server = await startImapServer(t, {
    ...mailbox(...raws),
    // The time is over before the server answers.
    on({ line }) {
      if (limit.signal.aborted || !/^UID FETCH 41:45 .*BODY/.test(line)) return false;
      limit.abort();
      return true;
    },
  });
  const { app } = await startSeeding(t, {
    seeds: [{ provider: 'scripted', address: 'seed@mail.example', imap: server.url }],
  });
  const seed = app.config.SEED_MAILBOXES[0]!;
  const source = createImapSource(app, seed as ImapSeed, { lookLimit: () => limit.signal });
  t.after(() => source.close());
  const since = Date.now() - 60_000;
  await assert.rejects(source.read(since), {
    problem: 'timeout',
    message: '127.0.0.1 took longer than 2 minutes to send what is new.',
  });
  assert.equal(source.messages().length, 40);
  server.commands.length = 0;
  const next = new AbortController();
  limit = next;
  server.script.on = () => false;
  await source.read(since);
  assert.equal(source.messages().length, 45);
  const fetched = server.commands.filter((line) => line.includes('BODY.PEEK'));
  assert.deepEqual(
    fetched.map((line) => line.split(' ')[2]),
    ['41:45'],
  );
  // The time of the look is over, not that of the connection.
  next.abort();
  limit = new AbortController();
  const { total } = server;
  await source.read(since);
  assert.equal(server.total, total);
});

test('A server that flags thousands of folders as spam is not searched, and the placement is unknown', async (t) => {
  const folders = Array.from({ length: 2000 }, (_, i) => ({
    name: `Spam ${i}`,
    flags: ['\\Junk'],
    messages: [],
  }));
  const scene = await startScene(t, () => ({
    folders: [{ name: 'INBOX', messages: [] }, ...folders],
  }));
  await assertUnknown(scene, 'bad_response');
  assert.ok(!scene.server.commands.some((line) => /^EXAMINE "?Spam/.test(line)));
});

test('A message that the server can’t send does not hide the others, and is not taken for missing', async (t) => {
  const broken = mailWith({ Subject: 'Broken', 'Message-ID': '<broken@example.com>' });
  const later: string[] = [];
  const scene = await startScene(t, (created) => ({
    get folders() {
      const own = mailWith({ To: placementIn(created(), 'seed').address });
      return mailbox(broken, mailWith({ Subject: 'Other' }), own, ...later).folders;
    },
    on({ tag, line, send }) {
      if (!/^UID FETCH [\d:,]*\b[14]\b.*BODY/.test(line)) return false;
      send(
        `${tag} NO The requested message could not be converted to an RFC-822 compatible format.`,
      );
      return true;
    },
  }));
  assert.equal((await scene.wait(isSettled)).placement, 'inbox');
  // A test whose message is not among those that could be read, and one after it.
  const other = await scene.service.createTest({ placement: true });
  await sendToTest(scene.service, other, mailWith({ 'Message-ID': '<other@example.com>' }));
  await scene.service.getTest(other.id, '?wait=20');
  later.push(broken);
  const isRefused = () => scene.server.commands.some((line) => /^UID FETCH 4 .*BODY/.test(line));
  while (!isRefused()) {
    scene.clock.advance(1000);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  scene.clock.advance(11_000);
  const third = await scene.service.createTest({ placement: true });
  await sendToTest(scene.service, third, mailWith({ 'Message-ID': '<third@example.com>' }));
  await scene.service.getTest(third.id, '?wait=20');
  scene.clock.advance(61 * 60_000);
  const outcomeOf = async ({ id }: Test) => {
    const done = await waitForPlacement(
      scene.service,
      id,
      (now) => placementIn(now, 'seed').settled,
    );
    const { placement, problem } = placementIn(done, 'seed');
    return [placement, problem];
  };
  assert.deepEqual(await outcomeOf(other), ['unknown', 'unreadable_message']);
  assert.deepEqual(await outcomeOf(third), ['missing', null]);
});

test('IMAP responses in the text of a message are only text', async (t) => {
  const scene = await startScene(t, () => {
    const injected =
      ')\r\n* 9 FETCH (UID 9 BODY[]<0> {4}\r\nTo:\r\n)\r\n* BYE\r\n* LIST () "/" "Spam"';
    return mailbox(mailWith({ Subject: 'Other' }, injected), mailWith({ Subject: 'Second' }));
  });
  await waitForSearches(scene.server, 2);
  scene.server.script.folders[0]!.messages.push({
    uid: 3,
    raw: mailWith({ To: placementIn(scene.created, 'seed').address }),
  });
  const { placement, searched } = await scene.wait(settledLater(scene));
  assert.deepEqual([placement, searched], ['inbox', ['Junk', 'INBOX']]);
  assert.equal(scene.server.total, 2, 'one connection that reads, and one that waits');
});

// Gmail.

const GMAIL = ['X-GM-EXT-1', 'IDLE'];

/** The message is in the inbox, in a tab, and a second copy is in All Mail. */
const gmail = (created: () => Test, tab?: string, on = (_: Exchange) => false): ImapScript => ({
  capabilities: GMAIL,
  on,
  get folders() {
    const raw = mailWith({ To: placementIn(created(), 'seed').address });
    const message = { uid: 1, raw, ...(tab === undefined ? {} : { tab }) };
    return [
      { name: 'INBOX', messages: [message] },
      { name: '[Gmail]/All Mail', flags: ['\\All'], messages: [message] },
      { name: '[Gmail]/Spam', flags: ['\\Junk'], messages: [] },
    ];
  },
});

for (const tab of ['promotions', 'social', 'updates', 'forums'])
  test(`A message in Gmail’s ${tab} tab is found there`, async (t) => {
    const { wait } = await startScene(t, (created) => gmail(created, tab));
    const { placement, folder, searched } = await wait(isSettled);
    assert.deepEqual([placement, folder], [tab, 'INBOX']);
    assert.deepEqual(searched, ['[Gmail]/Spam', 'INBOX']);
  });

test('A message in no tab of Gmail is in the inbox, after all tabs were asked for', async (t) => {
  const { wait, server } = await startScene(t, (created) => gmail(created));
  assert.equal((await wait(isSettled)).placement, 'inbox');
  assert.equal(server.commands.filter((line) => line.includes('category:')).length, 4);
});

test('A server that refuses a tab does not make a message appear in the inbox', async (t) => {
  const refuse = ({ tag, line, send }: Exchange) => {
    if (!line.includes('category:social')) return false;
    send(`${tag} BAD unknown category`);
    return true;
  };
  const scene = await startScene(t, (created) => gmail(created, undefined, refuse));
  const { placement, problem, folder } = await scene.wait(settledLater(scene));
  assert.deepEqual([placement, problem, folder], ['unknown', 'tab_unknown', 'INBOX']);
});
