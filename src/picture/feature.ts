/** The picture of a domain: what each source says about it, and what to do first. */

import type { Feature } from '../feature.ts';

export const picture: Feature = { name: 'picture' };
