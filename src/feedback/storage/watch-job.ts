/** The job that says how full the shares of the disk are, for alert rules. */

import type { App } from '../../app.ts';
import { type Observed, observed } from '../../events/observations.ts';
import type { Job } from '../../scheduler/scheduler.ts';
import { transact } from '../../store/open.ts';
import { type Fullness, fullnessOf, storageUsage } from './usage.ts';

/** The subject of the share that all domains have together. */
export const ALL_DOMAINS = 'all domains';

/** How full a share is. The subject is the name of a domain, or `ALL_DOMAINS`. */
export interface StorageObservation extends Observed, Fullness {
  kind: 'feedback_storage';
  /** In percent, of the fuller part. */
  percent: number;
}

declare module '../../events/observations.ts' {
  interface Observations {
    feedback_storage: StorageObservation;
  }
}

export const storageJob = (app: App): Job => ({
  name: 'feedback.storage',
  tick: '45 */5 * * * *',
  run: () => watchStorage(app),
});

export async function watchStorage(app: App): Promise<void> {
  const usage = await storageUsage(app);
  const domains = await app.db
    .selectFrom('feedback_domains')
    .innerJoin('domains', 'domains.id', 'feedback_domains.id')
    .select(['domains.id', 'domains.name'])
    .orderBy('domains.id')
    .execute();
  const observations = [
    observationOf(ALL_DOMAINS, null, usage.all),
    ...domains.map(({ id, name }) => observationOf(name, id, usage.ofDomain(id))),
  ];
  await transact(app.db, (tx) => app.subscribers.publish(observed, tx, observations));
}

const observationOf = (
  subject: string,
  domainId: string | null,
  share: Fullness,
): StorageObservation => ({
  kind: 'feedback_storage',
  subject,
  domainId,
  ...share,
  percent: Math.floor(fullnessOf(share) * 100),
});
