/** The operations on inboxes. `POST /v1/tests` with `reusable` creates one. */

import { route } from '../http/route.ts';
import { deletedOf, idOf, listOf, listSchema } from '../http/schemas.ts';
import { deleteInbox, inboxOr404, listInboxes, presentInbox } from './inboxes.ts';
import { Inbox, InboxListQuery } from './schemas/inbox.ts';

const INBOX_ID = idOf('ibx', 'The ID of the inbox.');

const list = route({
  method: 'GET',
  path: '/v1/inboxes',
  operation: 'listInboxes',
  limited: true,
  role: 'viewer',
  summary: 'List inboxes',
  description:
    'Returns the inboxes of your mode (live or test), newest first. `GET /v1/tests?inbox_id=…` lists the tests of one.',
  query: InboxListQuery,
  response: listSchema(Inbox),
  async handle({ app, actor, query }) {
    const { rows, hasMore } = await listInboxes(app.db, actor.livemode, query);
    const data = rows.map((row) => presentInbox(row, app.config));
    return listOf(data, hasMore);
  },
});

const get = route({
  method: 'GET',
  path: '/v1/inboxes/:id',
  params: { id: INBOX_ID },
  operation: 'getInbox',
  limited: true,
  role: 'viewer',
  summary: 'Get an inbox',
  description: 'Returns an inbox with its address and the time of its last message.',
  response: Inbox,
  async handle({ app, actor, params }) {
    return presentInbox(await inboxOr404(app.db, params.id!, actor.livemode), app.config);
  },
});

const remove = route({
  method: 'DELETE',
  path: '/v1/inboxes/:id',
  params: { id: INBOX_ID },
  operation: 'deleteInbox',
  limited: true,
  role: 'member',
  hasTestMode: true,
  summary: 'Delete an inbox',
  description: 'Deletes an inbox. Its address rejects messages from now on. Its tests stay.',
  response: deletedOf('inbox', 'ibx'),
  async handle(call) {
    const { actor, params } = call;
    const id = params.id!;
    return call.transact(async (tx) => {
      await deleteInbox(tx, call, await inboxOr404(tx, id, actor.livemode));
      return { id, object: 'inbox', deleted: true };
    });
  },
});

export const inboxOperations = { list, get, remove };
