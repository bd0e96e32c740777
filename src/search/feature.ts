/** The search over domains, pages, tests and the help. */

import type { Feature } from '../feature.ts';
import { searchRoute } from './routes.ts';

export const search: Feature = { name: 'search', routes: [searchRoute] };
