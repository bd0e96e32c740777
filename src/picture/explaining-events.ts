/** What may explain the figures of a domain in a period: changes of its records and health, and what began to fail. */

import { sql } from 'kysely';
import type { App } from '../app.ts';
import type { DomainEvent } from '../domains/queries.ts';
import type { RecordChange } from '../domains/schema.ts';
import { policyOf } from '../feedback/sources/policy-step.ts';
import { type Actor, allows } from '../http/actor.ts';
import { isoTime } from '../lib/clock.ts';
import { DAY_MS } from '../lib/durations.ts';
import { formatCount } from '../lib/format/numbers.ts';
import { idAt } from '../lib/ids.ts';
import type { DayEvent } from '../report/day-chart.ts';
import type { Db } from '../store/open.ts';

interface Asked {
  domainId: string;
  from: string;
  to: string;
  isMember: boolean;
}

const MAX_EVENTS = 100;

export async function eventsOf(
  { app, actor }: { app: Pick<App, 'db'>; actor: Pick<Actor, 'role'> },
  domainId: string,
  { from, to }: { from: string; to: string },
): Promise<DayEvent[]> {
  const asked = { domainId, from, to, isMember: allows(actor.role, 'member') };
  const changes = await domainChanges(app.db, asked);
  const all = [
    ...changes.events,
    ...(await publishedChanges(app.db, asked, changes.published)),
    ...(await failingTests(app.db, asked)),
  ];
  return all.sort((a, b) => (a.at < b.at ? -1 : 1));
}

const timesIn = ({ from, to }: Asked) => ({
  first: Date.parse(from),
  end: Date.parse(to) + DAY_MS,
});

async function domainChanges(db: Db, asked: Asked) {
  const { first, end } = timesIn(asked);
  const rows = await db
    .selectFrom('events')
    .select(['created_at', 'data'])
    // Literally the expression and the condition of the index `events_domain`.
    .where(sql<boolean>`substr(data, 8, 30) = ${asked.domainId}`)
    .where(sql<boolean>`type >= 'domain.' and type < 'domain/'`)
    .where('created_at', '>=', isoTime(first))
    .where('created_at', '<', isoTime(end))
    .orderBy('id', 'desc')
    .limit(MAX_EVENTS)
    .execute();
  const href = asked.isMember ? `/domains/${asked.domainId}#history` : null;
  const published = new Set<string>();
  const events = rows.flatMap(({ created_at: at, data }): DayEvent[] => {
    const { changes, previous_health, health } = JSON.parse(data) as DomainEvent['data'];
    for (const { dns_change_id } of changes ?? []) if (dns_change_id) published.add(dns_change_id);
    if (changes) return [{ at, text: changesInWords(changes), isProblem: false, href }];
    if (!previous_health || health.status === 'unknown' || previous_health === 'unknown') return [];
    const isProblem = RANKS[health.status] > RANKS[previous_health];
    const text = `Health: ${health.status}, was ${previous_health}`;
    return [{ at, text, isProblem, href }];
  });
  return { events, published };
}

const RANKS = { healthy: 0, warning: 1, critical: 2 };

const MAX_NAMED = 2;

function changesInWords(changes: RecordChange[]): string {
  const named = changes.slice(0, MAX_NAMED).map(changeInWords).join('; ');
  const rest = changes.length - MAX_NAMED;
  return rest > 0 ? `${named}; ${formatCount(rest, 'more record')}` : named;
}

function changeInWords({ type, name, before, after, dns_change_id }: RecordChange): string {
  const verb = after.length === 0 ? 'removed' : before.length === 0 ? 'added' : 'changed';
  const by = dns_change_id === null ? '' : ' by this service';
  if (!name.startsWith('_dmarc.')) return `${type} ${name} ${verb}${by}`;
  const [was, is] = [policyOf(before[0]), policyOf(after[0])];
  if (was === is || is === null) return `DMARC record ${verb}${by}`;
  return was === null
    ? `DMARC policy ${is} published${by}`
    : `DMARC policy changed from ${was} to ${is}${by}`;
}

/** Those that the hourly look at the records has not found, for example because it does not watch them. */
async function publishedChanges(
  db: Db,
  asked: Asked,
  found: ReadonlySet<string>,
): Promise<DayEvent[]> {
  const { first, end } = timesIn(asked);
  const rows = await db
    .selectFrom('dns_changes')
    .select(['id', 'type', 'name', 'finished_at'])
    .where('domain_id', '=', asked.domainId)
    .where('created_at', '>=', isoTime(first))
    .where('created_at', '<', isoTime(end))
    .where('status', '=', 'applied')
    .orderBy('id', 'desc')
    .limit(MAX_EVENTS)
    .execute();
  return rows.flatMap(({ id, type, name, finished_at: at }) =>
    at === null || found.has(id)
      ? []
      : [{ at, text: `${type} ${name} published by this service`, isProblem: false, href: null }],
  );
}

async function failingTests(db: Db, asked: Asked): Promise<DayEvent[]> {
  // IDs begin with their time, and the index is by ID.
  const { first, end } = timesIn(asked);
  const rows = await db
    .selectFrom((eb) =>
      eb
        .selectFrom('tests')
        .select(['id', 'completed_at', 'dmarc'])
        .select(sql<string | null>`lag(dmarc) over (order by id)`.as('previous'))
        .where('livemode', '=', 1)
        .where('domain_id', '=', asked.domainId)
        .where('id', '>=', idAt('test', first))
        .where('id', '<', idAt('test', end))
        .where('status', '=', 'completed')
        .where('dmarc', 'in', ['pass', 'fail'])
        .as('judged'),
    )
    .select(['id', 'completed_at'])
    .where('dmarc', '=', 'fail')
    .where(({ eb, or }) => or([eb('previous', 'is', null), eb('previous', '<>', 'fail')]))
    .orderBy('id', 'desc')
    .limit(MAX_EVENTS)
    .execute();
  return rows.map(({ id, completed_at }) => ({
    at: completed_at!,
    text: 'A test failed DMARC',
    isProblem: true,
    href: `/tests/${id}`,
  }));
}
