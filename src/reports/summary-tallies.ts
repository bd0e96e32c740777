/** Reads what was counted in some hours: the database sums it, a slice at a time. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { isoTime } from '../lib/clock.ts';
import { ALL_TESTS, TALLIED, type Tallied } from '../mailtests/tally.ts';
import type { Db, Tx } from '../store/open.ts';

const DAY_MS = 24 * 3_600_000;

/** Which tests count. */
export interface Scope {
  livemode: boolean;
  /** Ids; null for all tests, those of no domain too. */
  domains: string[] | null;
}

export interface Tally {
  figures: Tallied;
  /** Each as it is stored, and how often: those of a domain are much alike from hour to hour. */
  issues: Map<string, number>;
}

/** With more domains than this others have their turn between two slices. */
const FEW_DOMAINS = 5;
/** Some milliseconds for the parser of JSON. */
const TEXTS_AT_A_STRETCH = 4000;

const isFew = ({ domains }: Scope): boolean => (domains?.length ?? 1) <= FEW_DOMAINS;

/**
 * What `read` reads is the state of one moment: in a transaction of its own, unless it is given one.
 * SQLite has no other isolation; elsewhere it has to be asked for.
 */
export async function inSnapshot<T>(db: Db | Tx, read: (tx: Tx) => Promise<T>): Promise<T> {
  if (db.isTransaction) return read(db as Tx);
  return db.transaction().setIsolationLevel('repeatable read').execute(read);
}

/** A tally for each slice between two borders; hours of one day lie side by side in the database. */
export async function tallySlices(tx: Tx, scope: Scope, borders: number[]): Promise<Tally[]> {
  const tallies: Tally[] = [];
  for (const [i, from] of borders.slice(0, -1).entries()) {
    if (!isFew(scope)) await nextTurn();
    const row = await querySums(tx, scope, { from, to: borders[i + 1]! }, TALLIED)
      // A line each: JSON has none inside.
      ?.select(({ fn, ref, val }) =>
        fn.agg<string | null>('string_agg', [ref('issues'), val('\n')]).as('issues'),
      )
      .executeTakeFirst();
    const issues = new Map<string, number>();
    for (const text of row?.issues?.split('\n') ?? [])
      issues.set(text, (issues.get(text) ?? 0) + 1);
    tallies.push({ figures: figuresOf(row), issues });
  }
  return tallies;
}

/** What the means of a span are made of. */
const COMPARED = [
  'tests',
  'scored',
  'score_sum',
  'placement_samples',
  'placement_inbox',
] as const satisfies (keyof Tallied)[];

/** Those alone that are compared; the others are 0. */
export async function tallySpan(tx: Tx, scope: Scope, from: number, to: number): Promise<Tallied> {
  const parts: Tallied[] = [];
  const step = isFew(scope) ? to - from : DAY_MS;
  for (let begin = from; begin < to; begin += step) {
    if (!isFew(scope)) await nextTurn();
    const span = { from: begin, to: Math.min(begin + step, to) };
    parts.push(figuresOf(await querySums(tx, scope, span, COMPARED)?.executeTakeFirst()));
  }
  return addUp(parts);
}

/** How many tests each check found something to put right in, by its id. */
export async function countIssues(tallies: Tally[]): Promise<Map<string, number>> {
  const texts = new Map<string, number>();
  for (const { issues } of tallies)
    for (const [text, times] of issues) texts.set(text, (texts.get(text) ?? 0) + times);
  const found = new Map<string, number>();
  let read = 0;
  for (const [text, times] of texts) {
    const counts: Record<string, number> = JSON.parse(text);
    for (const check in counts) found.set(check, (found.get(check) ?? 0) + times * counts[check]!);
    if (++read % TEXTS_AT_A_STRETCH === 0) await nextTurn();
  }
  return found;
}

export function addUp(parts: Tallied[]): Tallied {
  const total = figuresOf(undefined);
  for (const part of parts) for (const name of TALLIED) total[name] += part[name];
  return total;
}

/** Nothing to ask where no domain is named: some databases have no empty lists. */
function querySums(
  tx: Tx,
  { livemode, domains }: Scope,
  { from, to }: { from: number; to: number },
  names: readonly (keyof Tallied)[],
) {
  if (domains?.length === 0) return null;
  return tx
    .selectFrom('test_tallies')
    .select(({ fn }) => names.map((name) => fn.sum<number | string | null>(name).as(name)))
    .where('livemode', '=', livemode ? 1 : 0)
    .where('domain_id', 'in', domains ?? [ALL_TESTS])
    .where('hour', '>=', isoTime(from))
    .where('hour', '<', isoTime(to));
}

/** Sums of nothing are null, and some drivers tell large ones as text. */
const figuresOf = (row: Partial<Record<keyof Tallied, unknown>> | undefined): Tallied =>
  Object.fromEntries(TALLIED.map((name) => [name, Number(row?.[name] ?? 0)])) as Tallied;
