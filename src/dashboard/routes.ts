/** Every page of the web application. */

import type { Route } from '../http/route.ts';
import { docsPage } from './docs/docs.tsx';
import { errorTypePage } from './error-types.tsx';
import { homePages } from './home.tsx';
import { iconRoutes } from './icon.ts';
import { acceptInvitationPages } from './invitation.tsx';
import { kindPages } from './kind.tsx';
import { forgotPasswordPages, setPasswordPages } from './reset-password.tsx';
import { oidcPages, signInPages } from './sign-in.tsx';
import { unsubscribePages } from './unsubscribe.tsx';

export const dashboardRoutes = [
  ...homePages,
  ...signInPages,
  ...oidcPages,
  ...forgotPasswordPages,
  ...setPasswordPages,
  ...acceptInvitationPages,
  ...unsubscribePages,
  errorTypePage,
  ...kindPages,
];

/** All pages and their icon, including the API reference, which describes the given routes. */
export const allPages = (documented: Route[]): Route[] => [
  ...dashboardRoutes,
  ...iconRoutes,
  docsPage(documented),
];
