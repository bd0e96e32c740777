/** What an admin has confirmed, in the API or with the command: checked once more, stored, and made. */

import type { App } from '../app.ts';
import { domainOr404 } from '../domains/queries.ts';
import { AppError } from '../lib/errors.ts';
import type { Tx } from '../store/open.ts';
import type { DnsChangeRow, DnsServerRow } from '../store/tables.generated.ts';
import type { Author } from '../team/audit.ts';
import { beginChanges, makeChanges } from './apply.ts';
import { beginUndo, changeOr404, serverOfChange } from './changes.ts';
import { applicableChanges, planFor, unprovenNames } from './plans.ts';
import type { ApplyPlan } from './schema.ts';
import { openServer, serverOr404 } from './stored-servers.ts';

/** Runs in one transaction. */
export type Store = (work: (tx: Tx) => Promise<DnsChangeRow[]>) => Promise<DnsChangeRow[]>;

/** Throws `conflict` if anything that the plan depends on has changed, and `validation_failed` for unknown records. */
export async function applyPlan(
  author: Author & { app: App },
  domainId: string,
  body: ApplyPlan,
  store: Store,
): Promise<DnsChangeRow[]> {
  const { app } = author;
  const domain = await domainOr404(app.db, domainId);
  const server = await serverOr404(app.db, body.server_id);
  const changes = applicableChanges(await planFor(app, domain, server, body), body);
  const begun = await store(async (tx) => {
    const { status } = await domainOr404(tx, domain.id);
    const unproven = await unprovenNames(
      tx,
      domain.name,
      changes.map(({ before }) => before),
    );
    if (status !== domain.status || unproven.length > 0)
      throw new AppError(
        'conflict',
        'The verification of the domain has changed since the plan was made. Make a new plan.',
      );
    await requireUnchanged(tx, server);
    return beginChanges(tx, author, server, domain.id, changes);
  });
  return makeChanges(app, author, server, begun);
}

/** Throws `conflict` if the change can’t be undone. */
export async function undoChange(
  author: Author & { app: App },
  id: string,
  store: Store,
): Promise<DnsChangeRow> {
  const { app } = author;
  const server = await serverOfChange(app.db, await changeOr404(app.db, id));
  // Throws before anything is stored.
  openServer(app, server);
  const begun = await store(async (tx) => {
    await requireUnchanged(tx, server);
    return [await beginUndo(tx, author, await changeOr404(tx, id), server)];
  });
  const [made] = await makeChanges(app, author, server, begun);
  return made!;
}

/** In the transaction, the server can’t be changed or removed until it ends. */
export async function requireUnchanged(tx: Tx, server: DnsServerRow): Promise<void> {
  const { settings, secrets } = await serverOr404(tx, server.id);
  if (settings === server.settings && secrets === server.secrets) return;
  throw new AppError(
    'conflict',
    `The settings of ${server.name} have just been changed. Nothing was changed. Try again.`,
  );
}
