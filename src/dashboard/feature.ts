/** The pages of the web application. */

import type { Feature } from '../feature.ts';
import { allPages } from './routes.ts';

export const dashboard: Feature = { name: 'dashboard', undocumentedRoutes: allPages };
