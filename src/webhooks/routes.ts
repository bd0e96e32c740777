/** The operations on webhooks, in the order of their documentation. */

import { deliveryRoutes } from './delivery-routes.ts';
import { endpointRoutes } from './endpoint-routes.ts';

export const webhookRoutes = [...endpointRoutes, ...deliveryRoutes];
