/** The team: members, invitations, API keys, connected assistants, sessions and the audit log. */

import type { Feature } from '../feature.ts';
import type { Route } from '../http/route.ts';
import { apiKeyOperations } from './api-key-routes.ts';
import { assistantOperations } from './assistant-routes.ts';
import { expireAssistantsJob } from './assistants.ts';
import { auditOperations } from './audit-routes.ts';
import {
  AUDITED_API_KEY,
  AUDITED_ASSISTANT,
  AUDITED_INVITATION,
  AUDITED_MEMBER,
  AUDITED_SESSION,
} from './audited.ts';
import { invitationOperations } from './invitation-routes.ts';
import { meOperations } from './me.ts';
import { memberOperations } from './member-routes.ts';
import { createFirstOwner } from './owner.ts';
import { sessionOperations } from './session-routes.ts';
import { expireSessionsJob } from './sessions.ts';
import { expireAttemptsJob } from './shared-attempts.ts';

export const team: Feature = {
  name: 'team',
  audited: [
    AUDITED_MEMBER,
    AUDITED_INVITATION,
    AUDITED_API_KEY,
    AUDITED_ASSISTANT,
    AUDITED_SESSION,
  ],
  routes: [
    memberOperations,
    invitationOperations,
    apiKeyOperations,
    assistantOperations,
    auditOperations,
    sessionOperations,
    meOperations,
  ].flatMap((group) => Object.values<Route>(group)),
  jobs: (app) => [expireSessionsJob(app), expireAttemptsJob(app), expireAssistantsJob(app)],
  onStart: createFirstOwner,
};
