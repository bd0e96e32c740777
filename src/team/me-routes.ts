/** The operations on the member who asks (contract §6). */

import { route } from '../http/route.ts';
import { changeMe, presentMe } from './me.ts';
import { standing } from './permissions.ts';
import { Me, MePatch } from './session-schema.ts';

const getMe = route({
  method: 'GET',
  path: '/v1/me',
  operation: 'getMe',
  role: 'viewer',
  summary: 'Get who you are: the member, the role, and the key or session you came by',
  etag: true,
  response: Me,
  handle: async (call) => {
    const { app, actor } = call;
    return presentMe(app.db, actor, await standing(app.db, call, 'viewer'));
  },
});

const updateMe = route({
  method: 'PATCH',
  path: '/v1/me',
  operation: 'updateMe',
  role: 'viewer',
  live: true,
  summary:
    'Change your name, or your password by the present one, which ends other sessions; a key needs your own role for it',
  etag: true,
  body: MePatch,
  response: Me,
  errors: ['conflict', 'rate_limited', 'unavailable'],
  handle: (call) => changeMe(call, call.body),
});

export const meRoutes = [getMe, updateMe];
