/** Receivers: what Google Postmaster Tools and Microsoft SNDS publish about domains and addresses. */

import type { Feature } from '../feature.ts';
import { receiverOperations } from './routes.ts';
import { RECEIVER_EVENTS } from './schema.ts';

export const receivers: Feature = {
  name: 'receivers',
  events: RECEIVER_EVENTS,
  routes: Object.values(receiverOperations),
};
