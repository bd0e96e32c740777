/**
 * What receivers reported in a period about some domains: the figures of summaries, scheduled reports and monitors. They come
 * from the sums by day.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { failedOf, MIN_FAILING_MESSAGES, stoppedOf } from '../figures/dmarc.ts';
import { addShares, type MailShares, NO_MAIL } from '../figures/mail-shares.ts';
import { isoTime } from '../lib/clock.ts';
import { DAY_MS } from '../lib/durations.ts';
import { MAX_FIGURE_SOURCES } from '../report/feedback-figures.ts';
import type { FeedbackFigures, FigureSource, FigureSources } from '../report/summary.ts';
import { type Db, inSnapshot, type Tx } from '../store/open.ts';
import { sharesOfAll } from './mail-shares.ts';
import { messageCounts } from './messages/counts.ts';
import { isReportedSince } from './queries.ts';
import { SUM_COLUMNS } from './sources/days.ts';
import { isOwnFailing, isRest, kindOf } from './sources/kind.ts';
import { isNew, reportDaysOf } from './sources/new.ts';
import { countedReports } from './sums.ts';

/** For this many domains at a time, so that no query takes long. */
const BATCH_SIZE = 50;

interface Days {
  from: string;
  to: string;
}

/**
 * The days in UTC of which most is between two times, in milliseconds; null if there are none. A period of 7 days has 7 of
 * them in any time zone.
 */
export function daysBetween(from: number, to: number): Days | null {
  const first = Math.ceil((from - DAY_MS / 2) / DAY_MS);
  const end = Math.ceil((to - DAY_MS / 2) / DAY_MS);
  if (end <= first) return null;
  const dayOf = (index: number) => isoTime(index * DAY_MS).slice(0, 10);
  return { from: dayOf(first), to: dayOf(end - 1) };
}

/** null if there are no reports about these days. `domains` are IDs, or null for all domains. */
export async function feedbackFigures(
  db: Db | Tx,
  { from, to, domains }: Days & { domains: string[] | null },
): Promise<FeedbackFigures | null> {
  return inSnapshot(db, async (tx) => {
    const reported = await reportedDomains(tx, { from, domains });
    const parts: Part[] = [];
    for (let start = 0; start < reported.length; start += BATCH_SIZE) {
      if (start > 0) await nextTurn();
      parts.push(await partOf(tx, reported.slice(start, start + BATCH_SIZE), { from, to }));
    }
    return figuresOf(parts, { from, to });
  });
}

interface ReportedDomain {
  id: string;
  name: string;
}

/** Those with a report since the first day: others have nothing to add. */
async function reportedDomains(
  tx: Tx,
  { from, domains }: { from: string; domains: string[] | null },
): Promise<ReportedDomain[]> {
  if (domains?.length === 0) return [];
  let query = tx
    .selectFrom('feedback_domains')
    .innerJoin('domains', 'domains.id', 'feedback_domains.id')
    .select(['domains.id', 'domains.name'])
    .where(isReportedSince(from));
  if (domains !== null) query = query.where('feedback_domains.id', 'in', domains);
  return query.orderBy('domains.id').execute();
}

/** The figures of some of the domains. */
interface Part {
  shares: MailShares;
  messages: number;
  passed: number;
  reporters: string[];
  failing: FigureSource[];
  fresh: FigureSource[];
  spoofed: FeedbackFigures['spoofed'];
  tls: { reporters: string[]; sessions: number; failed: number };
  /** By provider. */
  complaints: { value: string; count: number }[];
}

async function partOf(tx: Tx, domains: ReportedDomain[], days: Days): Promise<Part> {
  const ids = domains.map(({ id }) => id);
  const { messages, passed } = await dmarcSums(tx, ids, days);
  const tls = await tlsSums(tx, ids, days);
  const sources = messages === 0 ? [] : await sourcesOf(tx, ids, days);
  const known = new Map(domains.map(({ id, name }) => [id, name]));
  const figureOf = ({ id, domain_id, name, label, ...source }: Source): FigureSource => ({
    id,
    domain_id,
    domain: known.get(domain_id)!,
    name: label ?? name,
    messages: source.messages,
    passed: source.passed,
  });
  const foreign = sources.filter(({ kind }) => kind === 'spoof');
  return {
    shares: await sharesOfAll(tx, ids, sources, messages),
    messages,
    passed,
    reporters: messages === 0 ? [] : await reportersOf(tx, ids, days, 'dmarc'),
    failing: sources.filter(isOwnFailing).map(figureOf),
    fresh: sources.filter(isWorthALook).map(figureOf),
    spoofed: {
      messages: sumOf(foreign, failedOf),
      stopped: sumOf(foreign, stoppedOf),
    },
    tls: { ...tls, reporters: tls.sessions === 0 ? [] : await reportersOf(tx, ids, days, 'tls') },
    complaints: await messageCounts(tx, { domains: ids, ...days }, 'complaint provider'),
  };
}

const sumOf = <Item>(items: Item[], read: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + read(item), 0);

async function dmarcSums(tx: Tx, ids: string[], { from, to }: Days) {
  const { messages, passed } = await tx
    .selectFrom('dmarc_days')
    .select(({ fn }) => [fn.sum('messages').as('messages'), fn.sum('passed').as('passed')])
    .where('domain_id', 'in', ids)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .executeTakeFirstOrThrow();
  return { messages: Number(messages), passed: Number(passed) };
}

async function tlsSums(tx: Tx, ids: string[], { from, to }: Days) {
  const { succeeded, failed } = await tx
    .selectFrom('tls_days')
    .select(({ fn }) => [fn.sum('succeeded').as('succeeded'), fn.sum('failed').as('failed')])
    .where('domain_id', 'in', ids)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .executeTakeFirstOrThrow();
  return { sessions: Number(succeeded) + Number(failed), failed: Number(failed) };
}

async function reportersOf(tx: Tx, domains: string[], days: Days, type: 'dmarc' | 'tls') {
  const rows = await countedReports(tx, { domains, ...days }, type)
    .select('reporter_id')
    .distinct()
    .execute();
  return rows.flatMap(({ reporter_id }) => reporter_id ?? []);
}

// Sources.

type Source = Awaited<ReturnType<typeof sourcesOf>>[number];

async function sourcesOf(tx: Tx, ids: string[], { from, to }: Days) {
  const reportDays = await reportDaysOf(tx, ids, { from, to });
  const rows = await tx
    .selectFrom((eb) =>
      eb
        .selectFrom('feedback_source_days')
        .select('source_id')
        .select(({ fn }) => SUM_COLUMNS.map((name) => fn.sum(name).as(name)))
        .select(({ fn }) => fn.min('day').as('first'))
        .where('domain_id', 'in', ids)
        .where('day', '>=', from)
        .where('day', '<=', to)
        .where('messages', '>', 0)
        .groupBy('source_id')
        .as('sums'),
    )
    .innerJoin('feedback_sources as source', 'source.id', 'sums.source_id')
    .select(['source.id', 'source.domain_id', 'source.key', 'source.name', 'source.label'])
    .select(['source.mark', 'source.claim', 'sums.first'])
    .select(SUM_COLUMNS.map((name) => `sums.${name}` as const))
    .select(
      sql<string | null>`(
        select max(day) from feedback_source_days earlier
        where earlier.source_id = source.id and earlier.day < ${from} and earlier.messages > 0
      )`.as('previous'),
    )
    .execute();
  return rows.map(
    ({ id, domain_id, key, name, label, mark, claim, first, previous, ...counts }) => {
      const totals = Object.fromEntries(
        SUM_COLUMNS.map((column) => [column, Number(counts[column])]),
      ) as Record<(typeof SUM_COLUMNS)[number], number>;
      return {
        id,
        domain_id,
        name,
        label,
        ...totals,
        key,
        mark,
        kind: kindOf({ key, mark, claim }, totals),
        isNew: !isRest(key) && isNew({ first, previous }, reportDays.get(domain_id) ?? []),
      };
    },
  );
}

/** A sender that never passes is only worth a look if it sends some messages and the policy does not stop most of them. */
const isWorthALook = (source: Source): boolean =>
  source.isNew &&
  (source.kind !== 'spoof' ||
    (source.messages >= MIN_FAILING_MESSAGES && stoppedOf(source) * 2 < failedOf(source)));

// From the figures of some domains to those of all.

function figuresOf(parts: Part[], { from, to }: Days): FeedbackFigures | null {
  const messages = sumOf(parts, (part) => part.messages);
  const passed = sumOf(parts, (part) => part.passed);
  const sessions = sumOf(parts, ({ tls }) => tls.sessions);
  const complaints = parts.flatMap((part) => part.complaints);
  if (messages === 0 && sessions === 0 && complaints.length === 0) return null;
  return {
    from,
    to,
    messages,
    passed,
    pass_rate: messages === 0 ? null : Math.round((passed * 10_000) / messages) / 10_000,
    reporters: distinct(parts.flatMap(({ reporters }) => reporters)),
    shares: parts.reduce((sum, { shares }) => addShares(sum, shares), NO_MAIL),
    spoofed: {
      messages: sumOf(parts, ({ spoofed }) => spoofed.messages),
      stopped: sumOf(parts, ({ spoofed }) => spoofed.stopped),
    },
    failing_sources: listed(
      parts.flatMap(({ failing }) => failing),
      failedOf,
    ),
    new_sources: listed(
      parts.flatMap(({ fresh }) => fresh),
      (source) => source.messages,
    ),
    tls:
      sessions === 0
        ? null
        : {
            reporters: distinct(parts.flatMap(({ tls }) => tls.reporters)),
            sessions,
            failed: sumOf(parts, ({ tls }) => tls.failed),
          },
    complaints:
      complaints.length === 0
        ? null
        : {
            providers: distinct(complaints.map(({ value }) => value)),
            total: sumOf(complaints, ({ count }) => count),
          },
  };
}

const distinct = (values: string[]): number => new Set(values).size;

const listed = (
  sources: FigureSource[],
  size: (source: FigureSource) => number,
): FigureSources => ({
  total: sources.length,
  sources: sources
    .toSorted((a, b) => size(b) - size(a) || (a.id < b.id ? -1 : 1))
    .slice(0, MAX_FIGURE_SOURCES),
});
