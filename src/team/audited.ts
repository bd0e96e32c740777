/** What the audit log has of the team. */

import { audited, rowsOf } from '../store/audited.ts';

export const AUDITED_MEMBER = audited({
  type: 'team_member',
  name: 'Member',
  actions: [
    'member.created',
    'member.changed',
    'member.removed',
    'member.linked',
    'member.unlinked',
    'ownership.transferred',
    'sessions.ended',
    'password.changed',
    'password.reset_requested',
    'password.reset',
  ],
  texts: {
    'member.linked': 'Account at the identity provider linked',
    'member.unlinked': 'Account at the identity provider unlinked',
    'sessions.ended': 'Other sessions ended',
    'password.reset_requested': 'Password link requested',
    'password.reset': 'Password set with a link',
  },
  page: (id) => `/team/members/${id}`,
  withPage: rowsOf('members'),
});

export const AUDITED_INVITATION = audited({
  type: 'team_invitation',
  name: 'Invitation',
  actions: ['invitation.created', 'invitation.resent', 'invitation.accepted', 'invitation.revoked'],
  page: () => '/team',
});

export const AUDITED_API_KEY = audited({
  type: 'api_key',
  name: 'API key',
  actions: ['api_key.created', 'api_key.revoked'],
  page: () => '/api-keys',
});

export const AUDITED_ASSISTANT = audited({
  type: 'connected_assistant',
  name: 'Assistant',
  actions: [
    'connected_assistant.connected',
    'connected_assistant.revoked',
    'connected_assistant.token_reused',
  ],
  texts: {
    'connected_assistant.connected': 'Assistant connected',
    'connected_assistant.revoked': 'Assistant disconnected',
    'connected_assistant.token_reused': 'Assistant disconnected: token used twice',
  },
  page: () => '/api-keys#assistants',
});

export const AUDITED_SESSION = audited({
  type: 'session',
  name: 'Session',
  actions: ['session.created', 'session.ended'],
  texts: { 'session.created': 'Signed in' },
});
