/** Changes of domains by people: added, changed and deleted, each noted in the audit log. */

import type { App } from '../app.ts';
import { allows, type Role } from '../http/actor.ts';
import { isoTime } from '../lib/clock.ts';
import { randomToken } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import type { Tx } from '../store/open.ts';
import { requireBelowLimit } from '../store/queries.ts';
import { channel } from '../store/subscribers.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import { type Author, audit } from '../team/audit.ts';
import { rulesNaming } from './queries.ts';
import type { DomainPatch, NewDomain } from './schema.ts';
import { selectorsOf } from './selectors.ts';
import { nextLookup } from './transitions.ts';

/** Nobody publishes by chance what has 160 random bits. */
const TOKEN_LENGTH = 32;

/** Twice what a machine is known to look at in time. */
const MOST_DOMAINS = 20_000;
/** As many ids as a sentence can hold. */
const RULES_NAMED = 10;

type Changer = Author & { app: App };

/**
 * Published inside the deleting transaction (of `transact`) before the row of the domain goes:
 * subscribers delete what names the domain, and note that in the audit log. Whoever deletes has been
 * found allowed to: where alert rules name the domain, they are an admin at least.
 */
export const domainRemoved = channel<[domain: DomainRow, author: Changer]>('domain removed');

/** Throws `conflict` for a domain that the team has already, and where there are too many. */
export async function createDomain(
  tx: Tx,
  author: Changer,
  { name, dkim_selectors, badge_enabled }: NewDomain,
): Promise<DomainRow> {
  const present = await tx
    .selectFrom('domains')
    .select('id')
    .where('name', '=', name)
    .executeTakeFirst();
  if (present)
    throw new AppError('conflict', `The team has the domain ${name} already: it is ${present.id}.`);
  await requireBelowLimit(tx.selectFrom('domains'), { max: MOST_DOMAINS, things: 'domains' });
  const { clock, newId } = author.app;
  const now = clock.now();
  const row: DomainRow = {
    id: newId('dom'),
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
  };
  await tx.insertInto('domains').values(row).execute();
  await note(tx, author, 'created', row.id, { name, dkim_selectors, badge_enabled });
  return row;
}

/** Changes what is given and is not so already; gives the row as it is then. */
export async function changeDomain(
  tx: Tx,
  author: Changer,
  present: DomainRow,
  { dkim_selectors, badge_enabled }: DomainPatch,
): Promise<DomainRow> {
  const details: Record<string, object> = {};
  const change: Partial<DomainRow> = {};
  const [from, to] = [selectorsOf(present), dkim_selectors ?? []];
  // The list is all there is then, so that a selector that is no longer used can be taken out.
  if (dkim_selectors !== undefined && JSON.stringify(from) !== JSON.stringify(to)) {
    change.given_selectors = JSON.stringify(to);
    change.learnt_selectors = '[]';
    details.dkim_selectors = { from, to };
  }
  const badge = badge_enabled === undefined ? present.badge_enabled : Number(badge_enabled);
  if (badge !== present.badge_enabled) {
    change.badge_enabled = badge;
    details.badge_enabled = { from: present.badge_enabled === 1, to: badge === 1 };
  }
  if (Object.keys(change).length === 0) return present;
  await tx.updateTable('domains').set(change).where('id', '=', present.id).execute();
  await note(tx, author, 'changed', present.id, details);
  return { ...present, ...change };
}

/**
 * Its tests stay, and still tell that they were its; what else is about it goes with it. Throws
 * `conflict` where alert rules name it and `role` is not that of an admin, who alone change rules.
 * To be called in `transact`.
 */
export async function deleteDomain(
  tx: Tx,
  author: Changer,
  row: DomainRow,
  role: Role,
): Promise<void> {
  const { id, name } = row;
  const rules = await rulesNaming(tx, id);
  if (rules.length > 0 && !allows(role, 'admin')) throw namedBy(rules, name);
  await author.app.subscribers.publish(domainRemoved, tx, row, author);
  await tx.deleteFrom('domains').where('id', '=', id).execute();
  await note(tx, author, 'deleted', id, { name });
}

function namedBy(rules: string[], name: string): AppError {
  const more = rules.length - RULES_NAMED;
  const ids = rules.slice(0, RULES_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
  return new AppError(
    'conflict',
    `Alert rules name ${name}, and would be deleted with it: ${ids}. Have an admin delete them or change their domain_id first, or have an admin delete the domain.`,
  );
}

/** That somebody had it looked up at once. */
export async function noteVerification(tx: Tx, author: Changer, row: DomainRow): Promise<void> {
  await note(tx, author, 'verification_asked', row.id, { name: row.name, status: row.status });
}

async function note(
  tx: Tx,
  author: Author,
  what: string,
  id: string,
  details: Record<string, unknown>,
): Promise<void> {
  await audit(tx, author, { action: `domain.${what}`, object: { type: 'domain', id }, details });
}
