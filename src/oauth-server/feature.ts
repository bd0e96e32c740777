/** The service as an OAuth 2.1 authorization server for itself: assistants get access to `/mcp` from members. */

import type { Feature } from '../feature.ts';
import { oauthRoutes } from './routes.ts';

export const oauthServer: Feature = {
  name: 'oauth-server',
  undocumentedRoutes: () => oauthRoutes,
};
