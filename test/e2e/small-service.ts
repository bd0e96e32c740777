/** A service with a small size limit, and a count of everything that it has stored. */

import type { TestContext } from 'node:test';
import { startTestService, type TestService } from '../helpers/app.ts';

/** Maximum size of a message in bytes. */
export const MAX_SIZE = 100_000;

const TABLES = ['tests', 'messages', 'message_chunks', 'events', 'api_keys', 'members'] as const;

export const startSmall = (t: TestContext): Promise<TestService> =>
  startTestService(t, {
    env: {
      DELIVERABILITY_SMTP_MAX_SIZE: String(MAX_SIZE),
      // The listener announces the largest limit of all its destinations.
      DELIVERABILITY_FEEDBACK_MAX_SIZE: String(MAX_SIZE),
    },
  });

export async function countRows({ app }: TestService): Promise<Record<string, number>> {
  const counts = TABLES.map(async (table) => {
    const { count } = await app.db
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return [table, count] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}
