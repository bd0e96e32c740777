/** Stores what Google publishes about a domain. What was published before is never lost by a later “no data”. */

import type { App } from '../app.ts';
import { observed } from '../events/observations.ts';
import { dayBefore } from '../feedback/sums.ts';
import { SPAM_RATE } from '../figures/gmail.ts';
import { isoTime } from '../lib/clock.ts';
import type { PostmasterDay, RequirementStatus } from '../net/google-postmaster/client.ts';
import { shareIn, type Tx } from '../store/open.ts';
import type { DomainRow, ReceiverRequirementRow } from '../store/tables.generated.ts';
import type { Fetch } from './fetch.ts';
import type { RequirementObservation, SpamRateObservation } from './observations.ts';
import { FIGURE_COLUMNS, googleDays } from './queries.ts';
import { appendStatusChange } from './status-changed.ts';

/** How old a spam rate may be that says how things are now. */
const RECENT_DAYS = 7;
/** Databases limit the number of parameters. */
const MAX_ROWS_PER_STATEMENT = 500;

type Domain = Pick<DomainRow, 'id' | 'name'>;

/** Undefined if it was deleted meanwhile. It cannot be deleted until the transaction ends. */
const domainNamed = (tx: Tx, name: string): Promise<Domain | undefined> =>
  shareIn(
    tx,
    tx.selectFrom('domains').select(['id', 'name']).where('name', '=', name),
  ).executeTakeFirst();

export async function storeDays(
  tx: Tx,
  { app, id, startedAt }: Fetch,
  name: string,
  { days, isComplete }: { days: PostmasterDay[]; isComplete: boolean },
): Promise<void> {
  const domain = await domainNamed(tx, name);
  if (!domain) return;
  for (let i = 0; i < days.length; i += MAX_ROWS_PER_STATEMENT)
    await upsertDays(
      tx,
      id,
      name,
      days.slice(i, i + MAX_ROWS_PER_STATEMENT),
      isoTime(app.clock.now()),
    );
  if (isComplete)
    await tx
      .updateTable('receiver_domains')
      .set({ days_at: isoTime(startedAt) })
      .where('receiver_id', '=', id)
      .where('name', '=', name)
      .execute();
  await app.subscribers.publish(observed, tx, [await observeSpamRate(tx, app, domain)]);
}

async function upsertDays(
  tx: Tx,
  receiver_id: string,
  name: string,
  days: PostmasterDay[],
  fetched_at: string,
): Promise<void> {
  await tx
    .insertInto('receiver_days')
    .values(
      days.map(({ errors, feedback_loops, ...day }) => ({
        ...day,
        name,
        receiver_id,
        fetched_at,
        errors: errors && JSON.stringify(errors),
        feedback_loops: feedback_loops && JSON.stringify(feedback_loops),
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['name', 'day', 'receiver_id']).doUpdateSet(({ ref, fn }) => ({
        fetched_at: ref('excluded.fetched_at'),
        ...Object.fromEntries(
          FIGURE_COLUMNS.map((column) => [
            column,
            fn.coalesce(ref(`excluded.${column}`), ref(`receiver_days.${column}`)),
          ]),
        ),
      })),
    )
    .execute();
}

async function observeSpamRate(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  { id, name }: Domain,
): Promise<SpamRateObservation> {
  const to = isoTime(clock.now()).slice(0, 10);
  const days = await googleDays(tx, name, { from: dayBefore(to, RECENT_DAYS), to });
  const latest = days.findLast((day) => day[SPAM_RATE.column] !== null);
  return {
    kind: SPAM_RATE.name,
    subject: name,
    domainId: id,
    day: latest?.day ?? null,
    spamRate: latest?.[SPAM_RATE.column] ?? null,
  };
}

// Requirements.

/** For requirements that Google no longer lists. */
export const NOT_LISTED = 'NOT_LISTED';

/** `statuses`: null if Google says nothing, which changes nothing. */
export async function storeRequirements(
  tx: Tx,
  fetch: Fetch,
  name: string,
  statuses: RequirementStatus[] | null,
): Promise<void> {
  const { app, id, startedAt } = fetch;
  const domain = await domainNamed(tx, name);
  if (!domain) return;
  await tx
    .updateTable('receiver_domains')
    .set({ requirements_at: isoTime(startedAt) })
    .where('receiver_id', '=', id)
    .where('name', '=', name)
    .execute();
  if (statuses === null) return;
  const before = await tx
    .selectFrom('receiver_requirements')
    .selectAll()
    .where('name', '=', name)
    .where('receiver_id', '=', id)
    .execute();
  const rows = statuses.map((status) =>
    requirementRow(
      fetch,
      name,
      status,
      before.find(({ requirement }) => requirement === status.requirement),
    ),
  );
  for (const row of rows) {
    await tx
      .insertInto('receiver_requirements')
      .values(row)
      .onConflict((conflict) =>
        conflict.columns(['name', 'requirement', 'receiver_id']).doUpdateSet(row),
      )
      .execute();
    const previous = before.find(({ requirement }) => requirement === row.requirement);
    await appendStatusChange(tx, app, {
      receiver: 'google_postmaster',
      receiver_id: id,
      domain: name,
      domain_id: domain.id,
      requirement: row.requirement,
      status: row.status,
      detail: row.reason,
      previous_status: previous?.status ?? null,
    });
  }
  const gone = before.filter(
    (row) => !rows.some(({ requirement }) => requirement === row.requirement),
  );
  for (const { requirement } of gone)
    await tx
      .deleteFrom('receiver_requirements')
      .where('name', '=', name)
      .where('requirement', '=', requirement)
      .where('receiver_id', '=', id)
      .execute();
  const observations = [
    ...rows.map((row) => observationOf(domain, row)),
    ...gone.map((row) =>
      observationOf(domain, {
        ...row,
        status: NOT_LISTED,
        previous: row.status,
        reason: null,
        since: isoTime(startedAt),
      }),
    ),
  ];
  if (observations.length > 0) await app.subscribers.publish(observed, tx, observations);
}

function requirementRow(
  { id, startedAt }: Fetch,
  name: string,
  { requirement, status, reason }: RequirementStatus,
  before: ReceiverRequirementRow | undefined,
): ReceiverRequirementRow {
  const checked_at = isoTime(startedAt);
  const isSame = before?.status === status;
  return {
    name,
    requirement,
    receiver_id: id,
    status,
    reason,
    checked_at,
    since: isSame ? before.since : checked_at,
    previous: isSame ? before.previous : (before?.status ?? null),
  };
}

const observationOf = (
  { id, name }: Domain,
  { requirement, status, previous, since, reason }: ReceiverRequirementRow,
): RequirementObservation => ({
  kind: 'requirement',
  subject: `${name} ${requirement}`,
  domainId: id,
  domain: name,
  requirement,
  status,
  previous,
  since,
  reason,
});
