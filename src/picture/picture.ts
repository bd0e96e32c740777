/** The picture of a domain from what is stored about it. */

import type { App } from '../app.ts';
import { type Db, inSnapshot, type Tx } from '../store/open.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import { dnsReport } from './dns.ts';
import { feedbackReport } from './feedback.ts';
import { assemble } from './headline.ts';
import { placementReport } from './placement.ts';
import { receiversReport } from './receivers.ts';
import type { Picture } from './schema.ts';
import { testsReport } from './tests.ts';

/** All from one snapshot of the database; asks no other server. */
export async function pictureOf(
  app: Pick<App, 'clock' | 'config'> & { db: Db | Tx },
  domain: DomainRow,
): Promise<Picture> {
  return inSnapshot(app.db, async (db) => {
    const reading = { ...app, db, domain };
    // One connection has the snapshot, so nothing would run at the same time.
    const reports = [
      await dnsReport(reading),
      await testsReport(reading),
      await placementReport(reading),
      await feedbackReport(reading),
      await receiversReport(reading),
    ];
    return assemble({ domain_id: domain.id, name: domain.name }, reports);
  });
}
