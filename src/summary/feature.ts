/** The summary of the tests in a period. */

import type { Feature } from '../feature.ts';
import { summaryRoutes } from './routes.ts';

export const summary: Feature = { name: 'summary', routes: summaryRoutes };
