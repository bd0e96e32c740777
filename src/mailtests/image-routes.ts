/** The operations on the images of a test. */

import { route } from '../http/route.ts';
import { deletedOf, idOf } from '../http/schemas.ts';
import { audit } from '../team/audit.ts';
import { reauthorize } from '../team/permissions.ts';
import { AUDITED_TEST } from './audited.ts';
import {
  findImages,
  forgetImages,
  loadImages,
  requestImages,
  requireLoadable,
  type StoredImages,
} from './images.ts';
import { testOr404 } from './queries.ts';
import { TestImages } from './schemas/image.ts';

const TEST_ID = idOf('test', 'The ID of the test.');

const load = route({
  method: 'POST',
  path: '/v1/tests/:id/images',
  params: { id: TEST_ID },
  operation: 'loadTestImages',
  limited: true,
  role: 'member',
  hasTestMode: true,
  summary: 'Load the images of a test',
  description:
    'Loads the images of the message that are on web servers, for previews of the message. The sender’s web servers see that someone looked at the message, and the address of this server. The service loads them once, without cookies. Later requests return the stored result. To load them again, delete them first. Tracking pixels are never loaded.',
  response: TestImages,
  errors: ['conflict', 'unavailable'],
  async handle(call) {
    const { app, actor, params, signal } = call;
    const test = await testOr404(app, params.id!, actor.livemode);
    const known = await findImages(app.db, test.id);
    if (known.status === 'not_loaded') await requireLoadable(app, test);
    await call.transact(
      async (tx) => {
        // The test may have been deleted meanwhile.
        await testOr404({ db: tx }, test.id, actor.livemode);
        if (await requestImages(tx, app, test.id))
          await audit(tx, call, AUDITED_TEST, 'test.images_loaded', test.id);
      },
      () => undefined,
    );
    await loadImages(app, test, signal);
    await reauthorize(app.db, call, 'viewer');
    return present(test.id, await findImages(app.db, test.id));
  },
});

const list = route({
  method: 'GET',
  path: '/v1/tests/:id/images',
  params: { id: TEST_ID },
  operation: 'listTestImages',
  limited: true,
  role: 'viewer',
  summary: 'List the images of a test',
  description:
    'Returns which images of the message were loaded, and why others were not. Makes no requests to web servers.',
  response: TestImages,
  async handle({ app, actor, params }) {
    const { id } = await testOr404(app, params.id!, actor.livemode);
    return present(id, await findImages(app.db, id));
  },
});

const remove = route({
  method: 'DELETE',
  path: '/v1/tests/:id/images',
  params: { id: TEST_ID },
  operation: 'deleteTestImages',
  limited: true,
  role: 'member',
  hasTestMode: true,
  summary: 'Delete the images of a test',
  description: 'Deletes the loaded images of a test. They can be loaded again.',
  response: deletedOf('test_images', 'test'),
  async handle(call) {
    const { actor, params } = call;
    return call.transact(async (tx) => {
      const { id } = await testOr404({ db: tx }, params.id!, actor.livemode);
      await forgetImages(tx, id);
      await audit(tx, call, AUDITED_TEST, 'test.images_deleted', id);
      return { id, object: 'test_images', deleted: true };
    });
  },
});

export const imageOperations = { load, list, remove };

function present(test_id: string, { status, loadedAt, images }: StoredImages): TestImages {
  return {
    object: 'test_images',
    test_id,
    status,
    loaded_at: loadedAt,
    images: images.map(
      ({ url, kind, status, reason, detail, media_type, size, width, height }) => ({
        url,
        kind,
        status,
        detail,
        media_type,
        size,
        width,
        height,
        reason: reason as TestImages['images'][number]['reason'],
      }),
    ),
  };
}
