/** The operations on reports (contract §5). */

import { badgeRoutes } from './badge-routes.ts';
import { scheduleRoutes } from './schedule-routes.ts';
import { shareRoutes } from './share-routes.ts';
import { summaryRoutes } from './summary-routes.ts';

export const reportRoutes = [...summaryRoutes, ...shareRoutes, ...badgeRoutes, ...scheduleRoutes];
