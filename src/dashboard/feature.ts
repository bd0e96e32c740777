/** The pages of the web application. */

import type { Feature } from '../feature.ts';
import { docsPages } from './docs/docs.tsx';
import { assetRoutes } from './frame/assets.ts';
import { iconRoutes } from './frame/icon.ts';
import { DASHBOARD_ROUTES } from './pages.generated.ts';
import { auditPages } from './team/audit-log.tsx';

/** All pages. The API reference describes what the features declare, and the page of the audit log filters by it. */
export const dashboard: Feature = {
  name: 'dashboard',
  undocumentedRoutes: ({ audited, ...api }) => [
    ...DASHBOARD_ROUTES,
    ...auditPages(audited),
    ...iconRoutes,
    ...assetRoutes,
    ...docsPages(api),
  ],
};
