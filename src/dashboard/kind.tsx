/** The form on the page of a report with which a member chooses the kind of mail. */

import * as v from 'valibot';
import { route } from '../http/route.ts';
import { waitUntil } from '../lib/concurrency.ts';
import { invalidParams } from '../lib/errors.ts';
import { requestReanalysis, testOr404 } from '../mailtests/queries.ts';
import { kindPath } from '../mailtests/report.ts';
import { KINDS } from '../mailtests/schema.ts';
import type { TestRow } from '../store/tables.generated.ts';
import { FORM, Notice, readForm } from './form.tsx';
import { pageResponse, seeOther } from './page.tsx';

/** The longest analysis takes 15 seconds. */
const MAX_WAIT_MS = 18_000;

const submitKind = route({
  method: 'POST',
  path: kindPath(':id'),
  operation: 'submitTestKind',
  role: 'member',
  hasTestMode: true,
  summary: 'Choose the kind of mail of a test and reanalyze it',
  consumes: FORM,
  produces: ['text/html'],
  async handle(call) {
    const { app, actor, params, signal } = call;
    const id = params.id!;
    const { success, output: kind } = v.safeParse(v.picklist(KINDS), readForm(call.raw)('kind'));
    if (!success)
      throw invalidParams([
        { param: 'kind', code: 'invalid', message: `must be one of ${KINDS.join(', ')}` },
      ]);
    await call.transact(async (tx) =>
      requestReanalysis(tx, app, await testOr404({ db: tx }, id, actor.livemode), kind),
    );
    const find = () => testOr404(app, id, actor.livemode);
    const row = await waitUntil(app, { name: id, ms: MAX_WAIT_MS, abort: signal }, find, isDone);
    return isDone(row) ? seeOther(reportPath(id)) : runningPage(id);
  },
});

const isDone = ({ analysis_due_at }: TestRow): boolean => analysis_due_at === null;

const reportPath = (id: string): string => `/v1/tests/${encodeURIComponent(id)}/report.html`;

const runningPage = (id: string): Response =>
  pageResponse({
    title: 'Reanalysis in progress',
    children: (
      <>
        <Notice tone="info">The service is still analyzing the message.</Notice>
        <p class="links">
          <a href={reportPath(id)}>Open the report</a>
        </p>
      </>
    ),
  });

export const kindPages = [submitKind];
