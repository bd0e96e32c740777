/** Verification records of many domains at once, at a name server that has their zones. */

import type { App } from '../app.ts';
import { verificationRecord } from '../domains/verification.ts';
import type { DnsServerRow, DomainRow } from '../store/tables.generated.ts';
import type { Author } from '../team/audit.ts';
import { beginChanges, makeChanges } from './apply.ts';
import { requireUnchanged, type Store } from './confirmed.ts';
import { applicableChanges, isPossible, type Plan, planOf } from './plans.ts';
import { verificationProposal } from './proposals.ts';
import { openServer, presentServer, serversFor } from './stored-servers.ts';

/** A request ends within a minute or two, at one change after another. */
const MAX_RECORDS = 50;

type Unverified = Pick<DomainRow, 'id' | 'name' | 'token'>;

export interface VerificationPlan extends Plan {
  more: number;
}

/**
 * The verification records of all domains that need one and whose zone the server has. Rejects as `planFor` does. Call outside
 * of a transaction.
 */
export async function planVerifications(
  app: App,
  server: DnsServerRow,
  signal?: AbortSignal,
): Promise<VerificationPlan> {
  const presented = presentServer(server);
  const unverified = (await unverifiedDomains(app)).filter(
    ({ name }) => serversFor([presented], name).length > 0,
  );
  const source = openServer(app, server, signal);
  const batchAt = async (start: number): Promise<VerificationPlan> => {
    const batch = unverified.slice(start, start + MAX_RECORDS);
    const boundTo = ['verification', server.id];
    const { changes, token } = await planOf(source, batch.map(verificationProposal), boundTo);
    const more = Math.max(0, unverified.length - start - MAX_RECORDS);
    // A server without a list of its zones is asked about all domains.
    const found = { changes: changes.filter(({ zone }) => zone !== null), token, more };
    return more > 0 && !found.changes.some(isPossible) ? batchAt(start + MAX_RECORDS) : found;
  };
  return batchAt(0);
}

const unverifiedDomains = ({ db }: Pick<App, 'db'>): Promise<Unverified[]> =>
  db
    .selectFrom('domains')
    .select(['id', 'name', 'token'])
    .where(({ eb, or }) =>
      or([eb('status', '!=', 'verified'), eb('missing_since', 'is not', null)]),
    )
    .orderBy('id')
    .execute();

/** Publishes a plan that an admin has confirmed. Throws `conflict` if anything has changed since. */
export async function applyVerifications(
  author: Author & { app: App },
  server: DnsServerRow,
  token: string,
  store: Store,
): Promise<Awaited<ReturnType<Store>>> {
  const { app } = author;
  const idOf = new Map(
    (await unverifiedDomains(app)).map((domain) => [verificationRecord(domain).name, domain.id]),
  );
  const changes = applicableChanges(await planVerifications(app, server), { token });
  const begun = await store(async (tx) => {
    await requireUnchanged(tx, server);
    const rows = [];
    for (const change of changes) {
      const domainId = idOf.get(change.before.name) ?? null;
      rows.push(...(await beginChanges(tx, author, server, domainId, [change])));
    }
    return rows;
  });
  return makeChanges(app, author, server, begun);
}
