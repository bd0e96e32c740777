/** A service with a verified, healthy domain, whose test runs all jobs of the watch. */

import type { TestContext } from 'node:test';
import { notifyJob } from '../../src/alerts/channels/posts.ts';
import { lookJob } from '../../src/domains/look-job.ts';
import { verifyDomainsJob } from '../../src/domains/verify-job.ts';
import { runMonitorsJob } from '../../src/monitors/run.ts';
import { sendMailJob } from '../../src/outbox/send.ts';
import { GOOD_ZONE } from '../analysis/domain/domains.ts';
import { MINUTE, startDomainService } from './domain-service.ts';

export { DAY, HOUR, MINUTE } from './domain-service.ts';

export async function startWatching(t: TestContext, env: Record<string, string> = {}) {
  const service = await startDomainService(t, structuredClone(GOOD_ZONE), env);
  const { app, clock } = service;
  const jobs = [lookJob, verifyDomainsJob, runMonitorsJob, notifyJob, sendMailJob].map((job) =>
    job(app),
  );
  /** As the scheduler does every second: a job makes others due. */
  const work = async () => {
    for (const _ of [1, 2, 3])
      for (const job of jobs) {
        await job.run();
        await job.idle?.();
      }
  };
  const domain = await service.add('example.com', { dkim_selectors: ['s1'] });
  service.publish(domain);
  await service.verify(domain.id);
  await work();
  return {
    ...service,
    domain,
    work,
    /** Lets time pass in steps that are shorter than any interval. */
    async pass(ms: number, step = 20 * MINUTE) {
      for (let left = ms; left > 0; left -= step) {
        clock.advance(Math.min(step, left));
        await work();
      }
    },
  };
}
