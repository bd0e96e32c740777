/** Badges of domains and shared reports, to embed in other websites. */

import type { Feature } from '../feature.ts';
import { badgeRoutes } from './routes.ts';

export const badges: Feature = { name: 'badges', routes: badgeRoutes };
