/** The team: members, invitations, API keys, sessions and the audit log. */

import type { Feature } from '../feature.ts';
import { createFirstOwner } from './owner.ts';
import { teamRoutes } from './routes.ts';
import { sessionRoutes } from './session-routes.ts';
import { expireSessionsJob } from './sessions.ts';
import { expireAttemptsJob } from './shared-attempts.ts';

export const team: Feature = {
  name: 'team',
  routes: [...teamRoutes, ...sessionRoutes],
  jobs: (app) => [expireSessionsJob(app), expireAttemptsJob(app)],
  onStart: createFirstOwner,
};
