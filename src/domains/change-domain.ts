/** Adds, updates, and deletes domains, with audit entries. */

import { readDomain } from '../analysis/domain/read-pasted.ts';
import type { App } from '../app.ts';
import { allows, type Role } from '../http/actor.ts';
import { isoTime } from '../lib/clock.ts';
import { randomToken } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import { audited, rowsOf } from '../store/audited.ts';
import { afterCommit, type Tx } from '../store/open.ts';
import { requireBelowLimit } from '../store/queries.ts';
import { channel } from '../store/subscribers.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import { type Author, audit } from '../team/audit.ts';
import { addFeedbackRow } from './feedback/address.ts';
import { FIRST_LOOKUP_JOB } from './first-lookup.ts';
import type { AddedLine, NewDomains } from './lookup-schema.ts';
import { findRulesOfDomain } from './queries.ts';
import type { DomainPatch, NewDomain } from './schema.ts';
import { selectorsOf } from './selectors.ts';
import { noteDomainChange } from './team-domains.ts';
import { nextLookup, requestCheck } from './transitions.ts';
import { TOKEN_LENGTH, verificationRecord } from './verification.ts';
import { VERIFY_JOB } from './verify-job.ts';

/** Twice the number that one machine is known to check on time. */
const MAX_DOMAINS = 20_000;
/** Alert rules named in an error message. */
const MAX_NAMED_RULES = 10;

type DomainAuthor = Author & { app: App };

export const AUDITED_DOMAIN = audited({
  type: 'domain',
  name: 'Domain',
  actions: [
    'domain.created',
    'domain.changed',
    'domain.verification_asked',
    'domain.files_changed',
    'domain.deleted',
  ],
  page: (id) => `/domains/${id}`,
  withPage: rowsOf('domains'),
  texts: {
    'domain.verification_asked': 'Domain verification requested',
    'domain.files_changed': 'Hosted files changed',
  },
});

/**
 * Published in the transaction (of `transact`) before a domain is deleted. Subscribers delete the rows
 * that refer to the domain and write audit entries. The author's permission was checked: they are at
 * least an admin if alert rules name the domain.
 */
export const domainRemoved = channel<[domain: DomainRow, author: DomainAuthor]>('domain removed');

/** Throws `conflict` if the team already has the domain, or has too many. */
export async function createDomain(
  tx: Tx,
  author: DomainAuthor,
  domain: NewDomain,
): Promise<DomainRow> {
  const { row, isNew } = await addDomain(tx, author, domain);
  wakeAfter(tx, author);
  if (isNew) return row;
  throw new AppError('conflict', `Your team has already added the domain ${row.name} (${row.id}).`);
}

/** Adds what the team does not have yet, with the same time for all. Throws `conflict` if it has too many. */
export async function createDomains(
  tx: Tx,
  author: DomainAuthor,
  { names, tags }: NewDomains,
): Promise<{ lines: AddedLine[]; created_at: string }> {
  const now = author.app.clock.now();
  const lines: AddedLine[] = [];
  for (const text of names) {
    const { name, fault, note = null } = readDomain(text);
    const about = { object: 'added_domain' as const, text, name, note };
    if (name === null) {
      lines.push({ ...about, result: 'invalid', domain_id: null, error: `This ${fault}.` });
      continue;
    }
    const domain = { name, tags, dkim_selectors: [], badge_enabled: false };
    const { row, isNew } = await addDomain(tx, author, domain, now);
    lines.push({ ...about, result: isNew ? 'added' : 'exists', domain_id: row.id, error: null });
  }
  wakeAfter(tx, author);
  return { lines, created_at: isoTime(now) };
}

const wakeAfter = (tx: Tx, { app }: DomainAuthor): void =>
  afterCommit(tx, () => app.scheduler.wake(FIRST_LOOKUP_JOB));

/** The domain as the team has it now. Throws `conflict` if there are too many. */
async function addDomain(
  tx: Tx,
  author: DomainAuthor,
  { name, dkim_selectors, badge_enabled, tags }: NewDomain,
  now = author.app.clock.now(),
): Promise<{ row: DomainRow; isNew: boolean }> {
  const find = () =>
    tx.selectFrom('domains').selectAll().where('name', '=', name).executeTakeFirst();
  const existing = await find();
  if (existing) return { row: existing, isNew: false };
  await requireBelowLimit(tx, tx.selectFrom('domains'), { max: MAX_DOMAINS, noun: 'domains' });
  const { app } = author;
  const row: DomainRow = {
    id: app.newId('dom'),
    name,
    status: 'pending',
    token: randomToken(TOKEN_LENGTH),
    created_at: isoTime(now),
    verified_at: null,
    pending_since: isoTime(now),
    last_checked_at: null,
    last_check_detail: null,
    next_check_at: isoTime(nextLookup(now, now)),
    missing_since: null,
    given_selectors: JSON.stringify(dkim_selectors),
    learnt_selectors: '[]',
    badge_enabled: badge_enabled ? 1 : 0,
    health_status: 'unknown',
    health_score: null,
    health_checks: '[]',
    health_checked_at: null,
    lease: null,
    leased_until: null,
    next_look_at: isoTime(now),
    watched: null,
    tags: JSON.stringify(tags.toSorted()),
  };
  await tx
    .insertInto('domains')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  // Again, because a concurrent request may have added it since.
  const stored = (await find())!;
  if (stored.id !== row.id) return { row: stored, isNew: false };
  await addFeedbackRow(tx, app, row.id);
  await noteDomainChange(tx);
  await audit(tx, author, AUDITED_DOMAIN, 'domain.created', row.id, {
    name,
    dkim_selectors,
    badge_enabled,
    ...(tags.length > 0 && { tags }),
  });
  return { row, isNew: true };
}

/** Applies a patch, if it changes anything, and returns the resulting row. */
export async function changeDomain(
  tx: Tx,
  author: DomainAuthor,
  current: DomainRow,
  { dkim_selectors, badge_enabled, tags }: DomainPatch,
): Promise<DomainRow> {
  const details: Record<string, object> = {};
  const change: Partial<DomainRow> = {};
  const [from, to] = [selectorsOf(current), dkim_selectors ?? []];
  // The new list replaces learned selectors too, so that users can remove an unused one.
  if (dkim_selectors !== undefined && JSON.stringify(from) !== JSON.stringify(to)) {
    change.given_selectors = JSON.stringify(to);
    change.learnt_selectors = '[]';
    details.dkim_selectors = { from, to };
  }
  const badge = badge_enabled === undefined ? current.badge_enabled : Number(badge_enabled);
  if (badge !== current.badge_enabled) {
    change.badge_enabled = badge;
    details.badge_enabled = { from: current.badge_enabled === 1, to: badge === 1 };
  }
  const stored = tags === undefined ? current.tags : JSON.stringify(tags.toSorted());
  if (stored !== current.tags) {
    change.tags = stored;
    await noteDomainChange(tx);
    details.tags = { from: JSON.parse(current.tags), to: JSON.parse(stored) };
  }
  if (Object.keys(change).length === 0) return current;
  await tx.updateTable('domains').set(change).where('id', '=', current.id).execute();
  await audit(tx, author, AUDITED_DOMAIN, 'domain.changed', current.id, details);
  return { ...current, ...change };
}

/**
 * Deletes a domain and everything that belongs to it except its tests, which keep the domain's ID. Throws
 * `conflict` if alert rules name it and `role` is below admin, which changing rules requires. Call in
 * `transact`.
 */
export async function deleteDomain(
  tx: Tx,
  author: DomainAuthor,
  row: DomainRow,
  role: Role,
): Promise<void> {
  const { id, name } = row;
  const rules = await findRulesOfDomain(tx, id);
  if (rules.length > 0 && !allows(role, 'admin')) throw usedByRules(rules, name);
  await author.app.subscribers.publish(domainRemoved, tx, row, author);
  await tx.deleteFrom('domains').where('id', '=', id).execute();
  await noteDomainChange(tx);
  await audit(tx, author, AUDITED_DOMAIN, 'domain.deleted', id, { name });
}

function usedByRules(rules: string[], name: string): AppError {
  const more = rules.length - MAX_NAMED_RULES;
  const ids = rules.slice(0, MAX_NAMED_RULES).join(', ') + (more > 0 ? ` and ${more} more` : '');
  return new AppError(
    'conflict',
    `Only an admin can delete ${name}, because alert rules use it: ${ids}. Ask an admin to delete the domain, or to delete or reassign these rules first.`,
  );
}

/**
 * Makes the lookups of all domains that are not verified due now: of those that have waited longest, at most `max`. Returns how
 * many. A failed one gets another 72 hours.
 */
export async function requestVerifications(
  tx: Tx,
  author: DomainAuthor,
  max: number,
): Promise<number> {
  const { app } = author;
  const rows = await tx
    .selectFrom('domains')
    .selectAll()
    .where('status', '!=', 'verified')
    .orderBy('last_checked_at', (order) => order.asc().nullsFirst())
    .orderBy('id')
    .limit(max)
    .execute();
  for (const row of rows) {
    await auditVerification(tx, author, row);
    await requestCheck(tx, app, row.id);
    app.forgetDns(verificationRecord(row).name);
  }
  afterCommit(tx, () => app.scheduler.wake(VERIFY_JOB));
  return rows.length;
}

/** Records in the audit log that a user requested a verification. */
export async function auditVerification(
  tx: Tx,
  author: DomainAuthor,
  row: DomainRow,
): Promise<void> {
  await audit(tx, author, AUDITED_DOMAIN, 'domain.verification_asked', row.id, {
    name: row.name,
    status: row.status,
  });
}
