/** The picture of a domain: what each source says about it, and what to do first. */

import type { Feature } from '../feature.ts';
import { pictureOperations } from './routes.ts';
import { pictureTools } from './tools.ts';

export const picture: Feature = {
  name: 'picture',
  routes: Object.values(pictureOperations),
  tools: pictureTools,
};
