/** The operations by which a team shares reports and takes them back (contract §5). */

import { route } from '../http/route.ts';
import { listOf } from '../http/schemas.ts';
import { standing } from '../team/permissions.ts';
import { deletedOf } from '../team/schema.ts';
import { createShare, revokeShare } from './share-change.ts';
import { presentMade, presentShares } from './share-present.ts';
import { publicRoutes } from './share-public.ts';
import { listShares, shareOr404 } from './share-queries.ts';
import { NewShare, Share, ShareListQuery, ShareWithLink } from './share-schema.ts';

const create = route({
  method: 'POST',
  path: '/v1/reports/share',
  operation: 'shareReport',
  role: 'member',
  summary: 'Make a link by which whoever has it reads the reports of some tests, without a sign-in',
  body: NewShare,
  status: 201,
  location: ({ id }) => `/v1/reports/shared/${id}`,
  response: ShareWithLink,
  async handle(call) {
    const { app, body, keep } = call;
    return app.db.transaction().execute(async (tx) => {
      await standing(tx, call, 'member');
      const answer = presentMade(app, await createShare(tx, call, body), body.test_ids);
      await keep(tx, answer);
      return answer;
    });
  },
});

const list = route({
  method: 'GET',
  path: '/v1/reports/shared',
  operation: 'listSharedReports',
  role: 'viewer',
  summary: 'List shared reports, newest first, those that have ended too; admins see their links',
  query: ShareListQuery,
  response: listOf(Share),
  async handle({ app, actor, query }) {
    const { rows, hasMore } = await listShares(app.db, actor.livemode, query);
    const data = await presentShares(app.db, app, actor, rows);
    return { object: 'list' as const, data, has_more: hasMore };
  },
});

const get = route({
  method: 'GET',
  path: '/v1/reports/shared/:id',
  operation: 'getSharedReport',
  role: 'viewer',
  summary: 'Get a shared report: how often it was read, and, for admins, its link',
  response: Share,
  async handle({ app, actor, params }) {
    const row = await shareOr404(app.db, params.id!, actor.livemode);
    return (await presentShares(app.db, app, actor, [row]))[0]!;
  },
});

const revoke = route({
  method: 'DELETE',
  path: '/v1/reports/shared/:id',
  operation: 'revokeSharedReport',
  role: 'member',
  summary: 'Revoke a shared report: its link ends at once',
  response: deletedOf('shared_report'),
  async handle(call) {
    const { app, actor, params } = call;
    await app.db.transaction().execute(async (tx) => {
      await standing(tx, call, 'member');
      await revokeShare(tx, call, await shareOr404(tx, params.id!, actor.livemode));
    });
    return { id: params.id!, object: 'shared_report' as const, deleted: true as const };
  },
});

export const shareRoutes = [create, list, get, revoke, ...publicRoutes];
