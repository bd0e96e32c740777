/** The summary of the tests in a period. */

import type { Feature } from '../feature.ts';
import { summaryOperations } from './routes.ts';

export const summary: Feature = { name: 'summary', routes: Object.values(summaryOperations) };
