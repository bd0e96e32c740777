/** How often the health of domains became critical, from their events. */

import { idAt } from '../../lib/ids.ts';
import { type History, keptSince, type PastAnswer, timesOf } from './history.ts';

/** Each has the whole domain as JSON. */
const MAX_EVENTS = 1000;

export const criticalHealth: History = {
  missing: 'no health check of a verified domain',
  async timesSince({ since: asked, ...source }) {
    const reading = { ...source, since: keptSince({ ...source, since: asked }) };
    const checked = await reading.db
      .selectFrom('domains')
      .select('id')
      .where('status', '=', 'verified')
      .where('health_status', '!=', 'unknown')
      .limit(1)
      .executeTakeFirst();
    if (!checked) return null;
    const rows = await reading.db
      .selectFrom('events')
      .select(['created_at', 'data'])
      .where('type', '=', 'domain.health_changed')
      .where('id', '>=', idAt('evt', Date.parse(reading.since)))
      .orderBy('id', 'desc')
      .limit(MAX_EVENTS)
      .execute();
    const answers = rows.map(({ created_at: at, data }): PastAnswer => {
      const { id: subject, health } = JSON.parse(data);
      return { at, subject, answer: ANSWERS[health.status as keyof typeof ANSWERS] };
    });
    // Without a change of health, all domains stayed as they were.
    if (answers.length === 0) return { times: 0, since: reading.since };
    return timesOf(answers, reading, rows.length === MAX_EVENTS);
  },
};

const ANSWERS = { critical: 'yes', warning: 'no', healthy: 'no', unknown: 'unknown' } as const;
