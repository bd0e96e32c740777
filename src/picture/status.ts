/** The status of domains for clients: their pictures, without what only the team should see. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { App } from '../app.ts';
import { idsWithTags } from '../domains/queries.ts';
import { type DomainStatus, forClients, type StoredStatus } from '../report/status.ts';
import type { Db } from '../store/open.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import { dmarcSums, recentDays } from './feedback.ts';
import { pictureOf } from './picture.ts';
import { policyOf } from './published-policy.ts';

/** The page stays short enough to read, and is made in a few seconds. */
const MAX_DOMAINS = 500;

const WORST_FIRST: DomainStatus['state'][] = ['fail', 'warn', 'unknown', 'pass'];

/** IDs and names of the domains with one of the tags, in the order of names. */
export const taggedDomains = (db: Db, tags: string[]) =>
  db
    .selectFrom('domains')
    .select(['id', 'name'])
    .where('id', 'in', idsWithTags(db, tags))
    .orderBy('name')
    .execute();

/** The domains with one of these tags, the worst first. */
export async function statusOf(
  app: Pick<App, 'db' | 'clock' | 'config'>,
  tags: string[],
): Promise<StoredStatus> {
  const tagged = await taggedDomains(app.db, tags);
  const domains: DomainStatus[] = [];
  for (const { id } of tagged.slice(0, MAX_DOMAINS)) {
    // Requests are served in between.
    await nextTurn();
    const status = await statusOfDomain(app, tags, id);
    if (status) domains.push(status);
  }
  return {
    domains: domains.toSorted(
      (a, b) => WORST_FIRST.indexOf(a.state) - WORST_FIRST.indexOf(b.state),
    ),
    omitted: Math.max(0, tagged.length - MAX_DOMAINS),
  };
}

/** Null if it was removed a moment ago, or its tag. */
async function statusOfDomain(
  app: Pick<App, 'db' | 'clock' | 'config'>,
  tags: string[],
  id: string,
): Promise<DomainStatus | null> {
  const { db } = app;
  const domain = await db
    .selectFrom('domains')
    .selectAll()
    .where('id', '=', id)
    .where('id', 'in', idsWithTags(db, tags))
    .executeTakeFirst();
  if (!domain) return null;
  const { name, state, headline, since, problems } = await pictureOf(app, domain);
  const { messages, passed } = await dmarcSums({ db, domain, ...recentDays(app) });
  return {
    name,
    state,
    headline: forClients(headline),
    since,
    policy: publishedPolicy(domain),
    messages,
    passed,
    problems: problems.map(({ title, first_step }) => ({
      title: forClients(title),
      step: forClients(first_step.text),
    })),
  };
}

function publishedPolicy(domain: DomainRow): string {
  const { policy } = policyOf(domain);
  if (policy === null) return 'Not known';
  return policy === 'missing' ? 'No record' : policy;
}
