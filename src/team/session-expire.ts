/** Deletes sessions that are over, and links to set a password that have long been so. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { IDLE_MS } from './sessions.ts';

/** For so long, a dead link says that it is dead and not that it is unknown. */
const DEAD_LINK_MS = 30 * 86_400_000;

export function expireSessionsJob(app: App): Job {
  return { name: 'sessions.expire', tick: '0 23 * * * *', run: () => expireSessions(app) };
}

export async function expireSessions({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<void> {
  const now = clock.now();
  await db
    .deleteFrom('sessions')
    .where(({ eb, or }) =>
      or([eb('expires_at', '<=', isoTime(now)), eb('last_seen_at', '<=', isoTime(now - IDLE_MS))]),
    )
    .execute();
  await db
    .deleteFrom('password_links')
    .where('expires_at', '<=', isoTime(now - DEAD_LINK_MS))
    .execute();
}
