/** A load: clients that work while services are killed, the moments at which a kill tells most, and what must hold. */

import type { Db } from '../../../src/store/open.ts';
import type { Environment } from '../../helpers/program.ts';
import type { Random } from '../../helpers/random.ts';
import type { StartingProcess } from '../../helpers/serve-process.ts';
import type { Site } from './site.ts';

export type Figures = Record<string, number>;

export interface Load {
  name: string;
  /** The variables of the service that it needs. */
  env?: Environment;
  /** Before the first start. */
  prepare?(db: Db): Promise<void>;
  /** How many clients work at the same time. Default: one. */
  clients?: number;
  /** The longest pause of a client between two units of work. */
  maxPauseMs?: number;
  /** A unit of work. A client tries again until it has an answer, also at the next service. */
  work?(site: Site): Promise<void>;
  moments?: Moment[];
  /** After each kill of the only service. */
  afterKill?(db: Db): Promise<void>;
  /** Other machines work well from now on. */
  recover?(): void;
  /** Nothing is due any more: nothing was lost, doubled or invented. */
  verify(db: Db, site: Site): Promise<Figures>;
}

/** A moment of the service's work. */
export interface Moment {
  name: string;
  /** What the service does is held until the kill, so that other moments can come meanwhile. */
  holds?: boolean;
  /** It comes once after a start, so no other moment can come first. */
  once?: boolean;
  /** Resolves when the moment comes. */
  reach(running: Running): Promise<unknown>;
  /** Called after the kill. Whether the kill came at this moment. */
  end(db: Db): boolean | Promise<boolean>;
}

export interface Running {
  service: StartingProcess;
  /** Reads only. */
  db: Db;
  random: Random;
}

/** Where the service waits for another machine. While the gate is closed, the wait does not end. */
export interface Gate {
  /** The other machine awaits it before it answers. */
  pass(): Promise<void> | null;
  /** Resolves when the service arrives. */
  close(): Promise<void>;
  open(): void;
}

export function createGate(): Gate {
  let closed: { arrive(): void; opened: Promise<void>; open(): void } | null = null;
  return {
    pass() {
      closed?.arrive();
      return closed?.opened ?? null;
    },
    close() {
      const arrival = Promise.withResolvers<void>();
      const opening = Promise.withResolvers<void>();
      closed = { arrive: arrival.resolve, opened: opening.promise, open: opening.resolve };
      return arrival.promise;
    },
    open() {
      closed?.open();
      closed = null;
    },
  };
}

/** A moment at a gate. `isInterrupted`: the database has the work as begun and not ended. */
export const atGate = (
  name: string,
  gate: Gate,
  isInterrupted: (db: Db) => Promise<boolean>,
): Moment => ({
  name,
  holds: true,
  reach: () => gate.close(),
  async end(db) {
    gate.open();
    return isInterrupted(db);
  },
});

const POLL_MS = 4;

/** Resolves when the database satisfies the condition. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}

/** Resolves when the service has stored more rows than now. */
export async function untilMore(count: () => Promise<number>): Promise<void> {
  const before = await count();
  await until(async () => (await count()) > before);
}

/** The number of rows of a table, such as `events`; with a column, of those that have a value there. */
export async function countRows(db: Db, table: string, column?: string): Promise<number> {
  const { count } = await db
    .selectFrom(table as 'tests')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .$if(column !== undefined, (query) => query.where(column as 'completed_at', 'is not', null))
    .executeTakeFirstOrThrow();
  return Number(count);
}
