/** Every page of the web application. */

import type { Route } from '../http/route.ts';
import { docsPage } from './docs/docs.tsx';
import { homePages } from './home.tsx';
import { acceptInvitationPages } from './invitation.tsx';
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
];

/** All pages, including the API reference, which describes the given routes. */
export const allPages = (documented: Route[]): Route[] => [
  ...dashboardRoutes,
  docsPage(documented),
];
