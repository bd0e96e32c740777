/** Every page of the web application. */

import { acceptInvitationPages } from './accept-invitation.tsx';
import { forgotPasswordPages } from './forgot-password.tsx';
import { homePages } from './home.tsx';
import { setPasswordPages } from './set-password.tsx';
import { signInPages } from './sign-in.tsx';

export const dashboardRoutes = [
  ...homePages,
  ...signInPages,
  ...forgotPasswordPages,
  ...setPasswordPages,
  ...acceptInvitationPages,
];
