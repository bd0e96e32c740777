/** A service with seed mailboxes, and the messages that a sender sends to them. */

import type { TestContext } from 'node:test';
import type { Clock } from '../../src/lib/clock.ts';
import { LOOK_JOB } from '../../src/mailtests/placement.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import type { SeedPlacement } from '../../src/mailtests/schemas/placement.ts';
import type { SeedMailboxRow } from '../../src/store/tables.generated.ts';
import { type ServiceOptions, startTestService, type TestService } from '../helpers/app.ts';
import { sendMail } from '../helpers/send.ts';

/** The time of this machine, which tests can advance: providers have clocks of their own. */
export interface OffsetClock extends Clock {
  advance(ms: number): void;
}

export function offsetClock(): OffsetClock {
  let offset = 0;
  return {
    now: () => Date.now() + offset,
    advance(ms) {
      offset += ms;
    },
  };
}

export interface SeedingOptions extends ServiceOptions {
  seeds: object[];
}

/** A service with these seed mailboxes. A placement is final once it is found, unless a test wants it to be checked again. */
export function startSeeding(
  t: TestContext,
  { seeds, env, ...options }: SeedingOptions,
): Promise<TestService> {
  return startTestService(t, {
    ...options,
    env: {
      DELIVERABILITY_SEED_MAILBOXES: JSON.stringify(seeds),
      DELIVERABILITY_PLACEMENT_RECHECK: '0',
      ...env,
    },
  });
}

/** A message with the given header fields instead of its own; null omits a field. Others are on top. */
export function mailWith(fields: Record<string, string | null> = {}, body = 'Hello.'): string {
  const own = {
    From: 'News <news@example.com>',
    To: 'reader@example.net',
    Subject: 'Spring news',
    Date: new Date().toUTCString(),
    'Message-ID': '<copy@example.com>',
  };
  const others = Object.entries(fields).filter(([name]) => !Object.hasOwn(own, name));
  const all = [
    ...others,
    ...Object.entries({ ...own, ...fields }).slice(0, Object.keys(own).length),
  ];
  const lines = all.flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`]));
  return `${lines.join('\r\n')}\r\n\r\n${body}\r\n`;
}

/** Sends the message to the test address. */
export const sendToTest = (service: TestService, test: Test, raw = mailWith()): Promise<string> =>
  sendMail({ port: service.smtp.port, to: test.address, raw });

/** Looks into mailboxes and settles placements now, as the ticks of the next seconds would. */
function lookNow({ scheduler }: Pick<TestService['app'], 'scheduler'>): void {
  scheduler.wakeHere(LOOK_JOB);
  scheduler.wakeHere('placement.settle');
}

/** Reads the test until the placement is as wanted; rejects after `seconds`. */
export async function waitForPlacement(
  service: TestService,
  id: string,
  isDone: (test: Test) => boolean,
  seconds = 20,
): Promise<Test> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const test = await service.getTest(id);
    if (isDone(test)) return test;
    if (Date.now() > end)
      throw new Error(`The placement is still ${JSON.stringify(test.placement, null, 1)}`);
    lookNow(service.app);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The placement in the seed mailbox whose address begins so. */
export function placementIn(test: Test, user: string): SeedPlacement {
  const found = test.placement.find(({ address }) => address.startsWith(user));
  if (!found) throw new Error(`No seed mailbox of ${user}`);
  return found;
}

/** The placement by the beginning of the seed address. */
export const placesOf = (test: Test): Record<string, string> =>
  Object.fromEntries(
    test.placement.map(({ address, placement }) => [address.split(/[+@]/)[0]!, placement]),
  );

/** Reads the state of a seed mailbox until it is as wanted; rejects after 20 seconds. */
export async function waitForSeed(
  { app }: Pick<TestService, 'app'>,
  name: string,
  isDone: (row: SeedMailboxRow) => boolean,
): Promise<SeedMailboxRow> {
  const end = Date.now() + 20_000;
  for (;;) {
    const row = await app.db
      .selectFrom('seed_mailboxes')
      .selectAll()
      .where('id', '=', name)
      .executeTakeFirstOrThrow();
    if (isDone(row)) return row;
    if (Date.now() > end) throw new Error(`The seed mailbox is still ${JSON.stringify(row)}`);
    lookNow(app);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
