/** Operations on connected assistants. Members connect them on a page (`oauth-server`). */

import * as v from 'valibot';
import { ROLES } from '../http/actor.ts';
import { readLimit } from '../http/limited.ts';
import { resource } from '../http/resource.ts';
import { described, idOf, LIVEMODE, named, oneOf, Time, typeField } from '../http/schemas.ts';
import type { ConnectedAssistantRow } from '../store/tables.generated.ts';
import { assistantOr404, endConnection, listAssistants } from './assistants.ts';
import { requireCanRevoke } from './permissions.ts';
import { ListQuery, limitField } from './schema.ts';

export const ConnectedAssistant = named(
  'ConnectedAssistant',
  v.object({
    id: idOf('con'),
    object: typeField('connected_assistant'),
    name: described(v.string(), 'The name that the assistant gives itself. Anyone can choose it.'),
    host: described(v.string(), 'The host to which the member was sent back after allowing it.'),
    role: described(
      oneOf(ROLES),
      'The role that the member chose. It never has more permissions than the current role of its member.',
    ),
    tags: limitField(' The limit of its member applies too.'),
    livemode: LIVEMODE,
    writes: described(v.boolean(), 'Whether it may use tools that change settings.'),
    member_id: described(v.string(), 'The ID of the member who connected it.'),
    created_at: Time,
    expires_at: described(Time, 'When the connection ends, unless it is used before.'),
    last_used_at: described(
      v.nullable(Time),
      'The last use, accurate to the minute. Null if it has not been used.',
    ),
  }),
  'An assistant that a member has connected to `/mcp` by OAuth.',
  {
    name: 'Claude',
    host: 'claude.ai',
    role: 'member',
    tags: null,
    livemode: true,
    writes: false,
    last_used_at: null,
  },
);
export type ConnectedAssistant = v.InferOutput<typeof ConnectedAssistant>;

const present = (row: ConnectedAssistantRow): ConnectedAssistant => ({
  ...row,
  object: 'connected_assistant',
  livemode: row.livemode === 1,
  tags: readLimit(row.tags),
  writes: row.writes === 1,
});

const assistants = resource({
  type: 'connected_assistant',
  prefix: 'con',
  path: '/v1/connected_assistants',
  name: 'ConnectedAssistant',
  noun: 'connected assistant',
  roles: { read: 'member', change: 'member' },
  response: ConnectedAssistant,
  find: (db, id, actor) => assistantOr404(db, actor, id),
  present: (rows) => rows.map(present),
});

export const assistantOperations = {
  list: assistants.list({
    limited: true,
    description:
      'Returns the assistants that you have connected, newest first. Admins and the owner get those of all members.',
    query: ListQuery,
    rows: (_, query, { app, actor }) => listAssistants(app, actor, query),
  }),
  revoke: assistants.remove({
    operation: 'revokeConnectedAssistant',
    limited: true,
    summary: 'Disconnect an assistant',
    description: 'Revokes the access of an assistant immediately.',
    async work(tx, call, assistant, current) {
      requireCanRevoke(current, assistant);
      await endConnection(tx, call, 'connected_assistant.revoked', assistant);
    },
  }),
};
