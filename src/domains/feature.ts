/** The team's domains: their verification by DNS record, and their health. */

import type { Feature } from '../feature.ts';
import { AUDITED_DOMAIN } from './change-domain.ts';
import { addMissingFeedbackRows } from './feedback/address.ts';
import { lookupJob } from './feedback/lookup-job.ts';
import { firstLookupJob } from './first-lookup.ts';
import { lookJob } from './look-job.ts';
import { lookupOperations } from './lookup-routes.ts';
import { domainOperations } from './routes.ts';
import { DOMAIN_EVENTS } from './schema.ts';
import { domainTools } from './tools.ts';
import { teamToken } from './verification.ts';
import { verifyDomainsJob } from './verify-job.ts';

export const domains: Feature = {
  name: 'domains',
  events: DOMAIN_EVENTS,
  audited: [AUDITED_DOMAIN],
  routes: [...Object.values(domainOperations), ...Object.values(lookupOperations)],
  tools: domainTools,
  jobs: (app) => [
    verifyDomainsJob(app),
    lookJob(app),
    firstLookupJob(app),
    lookupJob(app),
    // While nodes of both versions work, an older one can add domains.
    {
      name: 'domains.feedback-addresses',
      tick: '30 * * * * *',
      run: () => addMissingFeedbackRows(app),
    },
  ],
  async onStart(app) {
    await addMissingFeedbackRows(app);
    // A transaction cannot create it.
    await teamToken(app);
  },
};
