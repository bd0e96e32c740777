/** Who reports, as stored: each reporter with whether its reports count. */

import { sql } from 'kysely';
import type { App } from '../../app.ts';
import { type Db, type PreparedParameter, prepared, type Tx } from '../../store/open.ts';
import type { FeedbackReporterRow } from '../../store/tables.generated.ts';
import type { ReportType } from '../reading/report.ts';
import { namedReporter, type ReporterIdentity } from '../senders/reporter.ts';

/** What new reports add to their reporter: the name in the first one, and when they arrived. */
export interface ReporterSighting {
  label: string;
  first_at: string;
  last_at: string;
  reports: number;
}

export const sightingOf = (label: string, at: string): ReporterSighting => ({
  label,
  first_at: at,
  last_at: at,
  reports: 1,
});

/** Adds reports to their reporter, and returns the reporter. Known and uploaded reporters count at once. */
export async function upsertReporter(
  tx: Tx,
  { newId }: Pick<App, 'newId'>,
  { kind, name, title }: ReporterIdentity,
  sighting: ReporterSighting,
): Promise<FeedbackReporterRow> {
  const trusted = kind === 'known' || kind === 'file' ? 1 : 0;
  const row = { id: newId('rep'), name, kind, title, trusted, counted: 0, ...sighting };
  return (await upsert(tx, row))[0]!;
}

const upsert = prepared((db, parameter: PreparedParameter<FeedbackReporterRow>) =>
  db
    .insertInto('feedback_reporters')
    .values({
      id: parameter('id'),
      name: parameter('name'),
      kind: parameter('kind'),
      title: parameter('title'),
      label: parameter('label'),
      trusted: parameter('trusted'),
      first_at: parameter('first_at'),
      last_at: parameter('last_at'),
      reports: parameter('reports'),
      counted: parameter('counted'),
    })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet(({ eb, ref }) => ({
        reports: eb(ref('feedback_reporters.reports'), '+', ref('excluded.reports')),
        // Reports from before can be attributed after newer ones.
        last_at: eb
          .case()
          .when('feedback_reporters.last_at', '<', ref('excluded.last_at'))
          .then(ref('excluded.last_at'))
          .else(ref('feedback_reporters.last_at'))
          .end(),
      })),
    )
    .returningAll(),
);

/**
 * The reporter that an uploaded file names: a known one, or one that a person confirmed, so that the same report by mail is a
 * copy. What others call themselves says nothing.
 */
export async function uploadedReporter(
  tx: Tx,
  label: string,
  type: ReportType,
): Promise<ReporterIdentity> {
  const named = namedReporter(label, type);
  if (named.kind === 'known') return named;
  const [confirmed] = await findConfirmed(tx, { label });
  return (confirmed as ReporterIdentity | undefined) ?? named;
}

const findConfirmed = prepared((db, parameter: PreparedParameter<{ label: string }>) =>
  db
    .selectFrom('feedback_reporters')
    .select(['kind', 'name', 'title'])
    .where('label', '=', parameter('label'))
    .where('kind', 'in', ['dkim', 'spf'])
    .where('trusted', '=', 1)
    .orderBy('id')
    .limit(1),
);

/** What pages and responses call a reporter: those from before version 21 have only a name. */
export const reporterTitle = sql<string>`coalesce(feedback_reporters.title, feedback_reporters.name)`;

/** The reporters whose reports count. */
export const trustedReporters = (db: Db | Tx) =>
  db.selectFrom('feedback_reporters').select('id').where('trusted', '=', 1);
