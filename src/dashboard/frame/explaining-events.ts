/** The events that explain the charts of a domain, for its readers. */

import { allows } from '../../http/actor.ts';
import { explainingEvents } from '../../picture/explaining-events.ts';
import type { DayEvent } from '../../report/day-chart.ts';
import type { PageCall } from './app-page.tsx';

export const eventsOf = (
  { app, actor }: Pick<PageCall, 'app' | 'actor'>,
  domainId: string,
  { from, to }: { from: string; to: string },
): Promise<DayEvent[]> =>
  explainingEvents(app.db, { domainId, from, to, isMember: allows(actor.role, 'member') });
