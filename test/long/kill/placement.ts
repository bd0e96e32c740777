/** Tests with seed mailboxes: each settles once, with the folders in which its messages arrived. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type ImapServer, startImapServer } from '../../helpers/imap-server.ts';
import type { Environment } from '../../helpers/program.ts';
import { mailWith } from '../../placement/seeding.ts';
import { createGate, type Gate, type Load } from './load.ts';
import { type Messages, newMail } from './messages.ts';
import { startSeedSignIn } from './seed-sign-in.ts';
import type { Site } from './site.ts';

interface Placed {
  testId: string;
  /** By mailbox. */
  isSpam: boolean[];
}

export interface Placement {
  loads: [placement: Load, signIn: Load];
  env: Environment;
}

/** Three mailboxes with passwords, and one with OAuth 2. */
export async function startPlacement(t: TestContext, messages: Messages): Promise<Placement> {
  const gate = createGate();
  const signIn = await startSeedSignIn(t);
  const servers: ImapServer[] = [];
  for (let place = 0; place < 3; place++) servers.push(await startMailbox(t, gate));
  const seeds = servers.map(({ url }, place) => ({
    provider: `p${place}`,
    address: `user${place}@b.example`,
    imap: url,
  }));
  return {
    loads: [createLoad([...servers, signIn.imap], gate, messages), signIn.load],
    env: {
      DELIVERABILITY_SEED_MAILBOXES: JSON.stringify([...seeds, signIn.seed]),
      DELIVERABILITY_PLACEMENT_RECHECK: '10s',
    },
  };
}

const startMailbox = (t: TestContext, gate: Gate): Promise<ImapServer> =>
  startImapServer(t, {
    folders: mailboxFolders(),
    // While the gate is closed, no message can be read.
    on: ({ line }) => /^UID FETCH/.test(line) && gate.pass() !== null,
  });

export const mailboxFolders = () => [
  { name: 'INBOX', messages: [] },
  { name: 'Junk', flags: ['\\Junk'], messages: [] },
];

function createLoad(servers: ImapServer[], gate: Gate, messages: Messages): Load {
  const placed: Placed[] = [];
  let number = 0;
  return {
    name: 'placement',
    maxPauseMs: 1_800,
    async work(site) {
      const idempotencyKey = `placement-${++number}`;
      const body = JSON.stringify({ placement: true });
      const test = await site.call('POST', '/v1/tests', { body, idempotencyKey });
      if (!test) return;
      const isSpam = servers.map(() => site.random.chance(0.5));
      const seeds = test.seed_addresses as { address: string }[];
      const arrive = () => {
        for (const [place, server] of servers.entries())
          deliver(server, isSpam[place]!, seeds[place]!.address);
      };
      const isFirst = site.random.chance(0.5);
      if (isFirst) arrive();
      await sendTo(site, messages, test);
      if (!isFirst) arrive();
      placed.push({ testId: test.id, isSpam });
    },
    moments: [
      {
        name: 'look',
        holds: true,
        reach: () => gate.close(),
        async end(db) {
          gate.open();
          const open = await db
            .selectFrom('placements')
            .innerJoin('seed_mailboxes', 'seed_mailboxes.id', 'seed')
            .select('seed')
            .where('settled_at', 'is', null)
            .where('lease', 'is not', null)
            .execute();
          return open.length > 0;
        },
      },
    ],
    async verify(db) {
      const settled: string[] = [];
      for (const { testId, isSpam } of placed) {
        const test = await db
          .selectFrom('tests')
          .select(['placement_status'])
          .where('id', '=', testId)
          .executeTakeFirstOrThrow();
        const rows = await db
          .selectFrom('placements')
          .select(['seed', 'placement'])
          .where('test_id', '=', testId)
          .orderBy('provider')
          .execute();
        assert.equal(test.placement_status, 'settled', testId);
        assert.deepEqual(
          rows.map(({ placement }) => placement),
          isSpam.map((is) => (is ? 'spam' : 'inbox')),
          testId,
        );
        settled.push(testId);
      }
      const events = await db
        .selectFrom('events')
        .select('data')
        .where('type', '=', 'test.placement_settled')
        .execute();
      const announced = events.map(({ data }) => (JSON.parse(data) as { id: string }).id);
      assert.deepEqual(announced.sort(), settled.sort());
      return { placements: settled.length * servers.length };
    },
  };
}

/** Its sender retries, because the test must have its message to settle. */
function sendTo(site: Site, messages: Messages, test: Parameters<typeof newMail>[0]) {
  const raw = Buffer.from(mailWith({ To: String(test.address) }));
  return messages.send(site, { ...newMail(test, raw, site), retries: true, isPlaced: true });
}

function deliver(server: ImapServer, isSpam: boolean, to: string): void {
  const { messages } = server.script.folders[isSpam ? 1 : 0]!;
  messages.push({ uid: messages.length + 1, raw: mailWith({ To: to }) });
  server.announce(messages.length);
}
