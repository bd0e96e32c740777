/** Who takes part in the deletion of a domain, with all that is about it, although it lies further up. */

import type { App } from '../app.ts';
import type { Tx } from '../store/open.ts';
import type { DomainRow } from '../store/watching-tables.ts';
import type { Author } from '../team/audit.ts';

/** Who deletes it, with the App that this takes. */
export type Remover = Author & { app: App };

/**
 * Called inside the deleting transaction (of `transact`) before the row of the domain goes: it
 * deletes what names the domain, and notes that in the audit log. Whoever deletes has been found
 * allowed to: where alert rules name the domain, they are an admin at least.
 */
export type DomainRemovedSubscriber = (tx: Tx, domain: DomainRow, author: Remover) => Promise<void>;
