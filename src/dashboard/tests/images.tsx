/** The page of the images of a test: what was loaded, what was not and why, and the buttons to load and delete them. */

import { formatSize } from '../../lib/durations.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { imageOperations } from '../../mailtests/image-routes.ts';
import { testOr404 } from '../../mailtests/queries.ts';
import { imagesPath } from '../../mailtests/report.ts';
import type { TestImages } from '../../mailtests/schemas/image.ts';
import { titleOfTest } from '../../mailtests/titles.ts';
import { oneLine } from '../../report/blocks.ts';
import { StateMark } from '../../ui/components.tsx';
import { ActionButton, Confirm } from '../frame/action.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import {
  type FormProblem,
  Notice,
  PageQuery,
  ProblemNotice,
  readForm,
  submit,
} from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { For } from '../frame/reader.tsx';
import { asErrorSentence, EmptyState } from '../frame/states.tsx';
import { DataTable } from '../frame/table.tsx';
import { Time } from '../frame/times.tsx';

/** What loading images tells others. */
const LOADING_IS_VISIBLE =
  'This server loads the images once and keeps them with the test. The sender’s web servers see that someone looked at the message, and the address of this server. Tracking pixels are never loaded.';

const DONE: Record<string, string> = {
  loaded: 'Images loaded.',
  deleted: 'Images deleted. They can be loaded again.',
};

const show = page({
  path: '/tests/:id/images',
  operation: 'showTestImages',
  limited: true,
  role: 'viewer',
  summary: 'Show the images of a test',
  query: PageQuery,
  handle: (call) => render(call, call.params.id!, { done: call.query.done }),
});

async function render(
  call: PageCall,
  id: string,
  { done, problem = null }: { done?: string; problem?: FormProblem | null },
) {
  const test = await testOr404(call.app, id, call.actor.livemode);
  const images = await call.invoke(imageOperations.list, { params: { id } });
  return appPage(call, {
    title: 'Images',
    section: 'tests',
    path: imagesPath(id),
    parents: [
      { href: '/tests', text: 'Tests' },
      { href: `/tests/${id}`, text: oneLine(titleOfTest(test), 60) },
    ],
    status: problem?.status,
    headers: problem?.headers,
    actions: images.status === 'loaded' && (
      <For role="member">
        <Confirm
          action={`${imagesPath(id)}/delete`}
          label="Delete images…"
          warning="Previews of the message then show no images from web servers. You can load them again."
          confirm="Delete images"
        />
      </For>
    ),
    calls: [{ route: imageOperations.list, params: { id } }],
    children: (
      <>
        <ProblemNotice problem={problem} />
        {done !== undefined && Object.hasOwn(DONE, done) && (
          <Notice tone="pass">{DONE[done]}</Notice>
        )}
        <Images images={images} />
      </>
    ),
  });
}

function Images({ images: { test_id, status, images, loaded_at } }: { images: TestImages }) {
  if (status === 'loading')
    return (
      <EmptyState
        title="The images are being loaded"
        action={
          <a class="button" href={imagesPath(test_id)}>
            Show the result
          </a>
        }
      >
        This takes up to half a minute.
      </EmptyState>
    );
  if (status === 'not_loaded')
    return (
      <EmptyState
        title="Images from web servers are not loaded"
        action={
          <For role="member">
            <ActionButton action={imagesPath(test_id)} primary>
              Load images
            </ActionButton>
          </For>
        }
      >
        {LOADING_IS_VISIBLE}
      </EmptyState>
    );
  if (images.length === 0)
    return (
      <EmptyState title="This message has no images on web servers">
        Images in its attachments are part of the message.
      </EmptyState>
    );
  const loaded = images.filter((image) => image.status === 'loaded').length;
  return (
    <Card>
      <p>
        {formatCount(loaded)} of {formatCount(images.length, 'image')} loaded
        {loaded_at && (
          <>
            {' '}
            on <Time at={loaded_at} />
          </>
        )}
        . They are kept with the test.
      </p>
      <ImageTable images={images} />
    </Card>
  );
}

type Image = TestImages['images'][number];

function ImageTable({ images }: { images: Image[] }) {
  return (
    <DataTable
      label="Images"
      rows={images}
      keyOf={({ url, kind }) => `${kind} ${url}`}
      columns={[
        {
          title: 'Image',
          cell: ({ url, kind, detail }) => (
            <>
              <bdi class="image-url">{oneLine(url, 300)}</bdi>
              {(detail !== null || kind === 'bimi_logo') && (
                <span class="row-note">
                  {detail === null ? 'BIMI logo' : asErrorSentence(detail)}
                </span>
              )}
            </>
          ),
        },
        { title: 'State', cell: (image) => <ImageState image={image} /> },
        { title: 'Type', cell: ({ media_type }) => typeName(media_type), wide: true },
        {
          title: 'Dimensions',
          cell: ({ width, height }) => (width === null ? null : `${width} × ${height}`),
          number: true,
          wide: true,
        },
        {
          title: 'Size',
          cell: ({ size }) => (size === null ? null : formatSize(size)),
          number: true,
          wide: true,
        },
      ]}
    />
  );
}

function ImageState({ image: { status } }: { image: Image }) {
  if (status === 'loaded') return <StateMark state="pass" word="Loaded" />;
  if (status === 'failed') return <StateMark state="warn" word="Failed" />;
  return <StateMark state="unknown" word="Skipped" />;
}

const typeName = (mediaType: string | null): string =>
  (mediaType ?? '').replace(/^image\/|\+xml$/g, '').toUpperCase();

const load = form({
  path: '/tests/:id/images',
  operation: 'submitTestImages',
  limited: true,
  role: 'member',
  summary: 'Load the images of a test with the button',
  async handle(call) {
    const id = call.params.id!;
    // The report of the test has the button too.
    const back = readForm(call.raw)('back');
    const { problem } = await submit({}, () =>
      call.invoke(imageOperations.load, { params: { id } }),
    );
    if (problem) return render(call, id, { problem });
    return seeOther(back === 'test' ? `/tests/${id}#preview` : `${imagesPath(id)}?done=loaded`);
  },
});

const remove = form({
  path: '/tests/:id/images/delete',
  operation: 'submitTestImagesDeletion',
  limited: true,
  role: 'member',
  summary: 'Delete the images of a test with the button',
  async handle(call) {
    const id = call.params.id!;
    await call.invoke(imageOperations.remove, { params: { id } });
    return seeOther(`${imagesPath(id)}?done=deleted`);
  },
});

export const imagePages = [show, load, remove];
