/** The page to rename and tag a test, and to change its metadata. */

import { presentListed } from '../../mailtests/present.ts';
import { testOr404 } from '../../mailtests/queries.ts';
import { testOperations } from '../../mailtests/routes.ts';
import { tagsOf } from '../../mailtests/tags.ts';
import { titleOfTest } from '../../mailtests/titles.ts';
import { oneLine } from '../../report/blocks.ts';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import {
  type FormProblem,
  ProblemNotice,
  readForm,
  submit,
  TextArea,
  TextField,
} from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { splitTags, tagLabels, tagsError } from '../frame/tags-field.tsx';
import { ifUnchanged, VersionField, versionOf } from '../frame/version.tsx';
import { fromLines, toLines } from './metadata-lines.ts';

interface State {
  /** What was typed. */
  values?: { name: string; tags: string; metadata: string };
  problem?: FormProblem | null;
}

async function render(call: PageCall, id: string, { values, problem = null }: State) {
  const test = await readTest(call, id);
  const { name, metadata, tags } = test;
  const lines = toLines(metadata);
  const path = `/tests/${id}/edit`;
  return appPage(call, {
    title: 'Edit test',
    section: 'tests',
    path,
    parents: [
      { href: '/tests', text: 'Tests' },
      { href: `/tests/${id}`, text: oneLine(titleOfTest(test), 60) },
    ],
    status: problem?.status,
    headers: problem?.headers,
    calls: [{ route: testOperations.update, params: { id }, body: { name, tags, metadata } }],
    children: (
      <Card>
        <form method="post" action={path} class="fields">
          <ProblemNotice problem={problem} />
          <VersionField version={versionOf(testOperations.get, test)} />
          <TextField
            name="name"
            label="Name"
            hint="Give tests of the same campaign or program the same name to compare them."
            value={values?.name ?? name ?? ''}
            error={problem?.fields.name}
          />
          <TextField
            name="tags"
            label="Tags"
            hint="Separated by commas, up to 10. Tags filter the list of tests."
            value={values?.tags ?? tags.join(', ')}
            error={problem ? tagsError(problem) : undefined}
          />
          {lines === null ? (
            <p class="small muted">
              A metadata value of this test contains line breaks. Use the API to change it.
            </p>
          ) : (
            <TextArea
              name="metadata"
              label="Metadata"
              hint="Your own key-value pairs, one per line, such as campaign = spring."
              value={values?.metadata ?? lines}
              error={problem?.fields.metadata}
              mono
            />
          )}
          <div class="actions">
            <button type="submit" class="button primary">
              Save
            </button>
            <a class="button" href={`/tests/${id}`}>
              Cancel
            </a>
          </div>
        </form>
      </Card>
    ),
  });
}

const show = page({
  path: '/tests/:id/edit',
  operation: 'showTestForm',
  limited: true,
  role: 'member',
  summary: 'Show the form to edit a test',
  handle: (call) => render(call, call.params.id!, {}),
});

async function readTest({ app, actor }: PageCall, id: string) {
  const row = await testOr404(app, id, actor.livemode);
  return presentListed(row, app.config, await tagsOf(app.db, id));
}

const LABELS = { name: 'name', metadata: 'metadata' };

const save = form({
  path: '/tests/:id/edit',
  operation: 'submitTestForm',
  limited: true,
  role: 'member',
  summary: 'Edit a test with the form',
  async handle(call) {
    const id = call.params.id!;
    const field = readForm(call.raw);
    const values = {
      name: field('name').trim(),
      tags: field('tags'),
      metadata: field('metadata'),
    };
    const current = await readTest(call, id);
    const { metadata, error } = fromLines(values.metadata);
    if (error !== null)
      return render(call, id, {
        values,
        problem: { status: 422, notice: null, fields: { metadata: error }, headers: {} },
      });
    const tags = splitTags(values.tags);
    const { problem } = await submit({ ...LABELS, ...tagLabels(tags) }, () =>
      call.invoke(testOperations.update, {
        params: { id },
        headers: ifUnchanged(call.raw),
        body: {
          name: values.name === '' ? null : values.name,
          tags,
          // The form has no such field if lines can't express it.
          ...(toLines(current.metadata) === null ? {} : { metadata }),
        },
      }),
    );
    return problem ? render(call, id, { values, problem }) : seeOther(`/tests/${id}?done=saved`);
  },
});

export const editPages = [show, save];
