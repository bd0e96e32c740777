/** The search over tests, domains and pages. */

import type { Feature } from '../feature.ts';
import { searchRoute } from './routes.ts';

export const search: Feature = { name: 'search', routes: [searchRoute] };
