/** The list of reports that arrived: which count, which do not, and why; and uploads. */

import * as v from 'valibot';
import { feedbackOperations } from '../../feedback/routes.ts';
import type { ListedReport } from '../../feedback/schema.ts';
import { REPORT_STATUSES } from '../../feedback/status.ts';
import { readFormPartList } from '../../http/multipart.ts';
import { formatCount } from '../../report/summary.ts';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { type FormProblem, Select, submit } from '../frame/form.tsx';
import { form, page } from '../frame/page-route.ts';
import { For } from '../frame/reader.tsx';
import { EmptyState } from '../frame/states.tsx';
import { type Column, DataTable, Filters, Pager, pathWith } from '../frame/table.tsx';
import { Ago } from '../frame/times.tsx';
import { FEEDBACK, REPORTS } from './list.tsx';
import { STATUS_WORDS, StatusMark, typeWord } from './report-words.tsx';
import { FeedbackTabs } from './tabs.tsx';
import { filesOf, Upload, type UploadedFile, UploadedFiles } from './upload.tsx';

const PAGE_SIZE = 25;

const ListQuery = v.strictObject({
  status: v.optional(v.string()),
  starting_after: v.optional(v.string()),
  ending_before: v.optional(v.string()),
});

interface ListState {
  query?: v.InferOutput<typeof ListQuery>;
  problem?: FormProblem | null;
  uploaded?: UploadedFile[];
}

async function renderList(
  call: PageCall,
  { query = {}, problem = null, uploaded = [] }: ListState,
) {
  const { starting_after, ending_before } = query;
  const status = REPORT_STATUSES.find((one) => one === query.status);
  const asked = { status, limit: String(PAGE_SIZE), starting_after, ending_before };
  const { data, has_more } = await call.invoke(feedbackOperations.list, { query: asked });
  return appPage(call, {
    title: 'Reports from receivers',
    section: 'feedback',
    path: pathWith(REPORTS, { status }),
    parents: [{ href: FEEDBACK, text: 'Feedback' }],
    status: problem?.status,
    headers: problem?.headers,
    calls: [{ route: feedbackOperations.list, query: asked }],
    children: (
      <>
        <FeedbackTabs current="reports" />
        {uploaded.length > 0 && <UploadedFiles files={uploaded} />}
        <Filters path={REPORTS} active={status !== undefined}>
          <Select
            name="status"
            label="Status"
            value={status ?? ''}
            options={[
              ['', 'All'],
              ...REPORT_STATUSES.map((one): [string, string] => [one, STATUS_WORDS[one]]),
            ]}
          />
        </Filters>
        {data.length === 0 ? (
          <EmptyState title={status ? 'No reports with this status' : 'No reports yet'}>
            {status === undefined &&
              'Publish the feedback address of a domain. Most reporters send one report a day.'}
          </EmptyState>
        ) : (
          <>
            <DataTable
              label="Reports"
              columns={COLUMNS}
              rows={data}
              keyOf={({ id }) => id}
              hrefOf={({ id }) => `${REPORTS}/${id}`}
            />
            <Pager
              path={REPORTS}
              query={{ status }}
              cursors={{ starting_after, ending_before }}
              rows={data}
              hasMore={has_more}
            />
          </>
        )}
        <For role="member">
          <Upload problem={problem} maxSize={call.app.config.FEEDBACK_MAX_SIZE} />
        </For>
      </>
    ),
  });
}

const list = page({
  path: REPORTS,
  operation: 'showFeedbackReports',
  role: 'viewer',
  summary: 'Show the reports that arrived',
  query: ListQuery,
  handle: (call) => renderList(call, { query: call.query }),
});

const upload = form({
  path: REPORTS,
  operation: 'submitFeedbackReport',
  role: 'member',
  summary: 'Upload reports with the form',
  consumes: {
    type: 'multipart/form-data',
    maxBytes: ({ config }) => config.FEEDBACK_MAX_SIZE + FORM_BYTES,
  },
  async handle(call) {
    const files = filesOf(readFormPartList(call.raw, call.headers.get('content-type')));
    if (files.length === 0) {
      const fields = { file: 'Choose a file.' };
      return renderList(call, { problem: { status: 422, notice: null, fields, headers: {} } });
    }
    const uploaded: UploadedFile[] = [];
    for (const { filename, bytes } of files) {
      const { result, problem } = await submit({}, () =>
        call.invoke(feedbackOperations.upload, { raw: bytes }),
      );
      uploaded.push({
        name: filename!,
        reports: result?.data ?? [],
        error: problem?.notice ?? null,
      });
    }
    // The names of the files are known only now. Sent again, each report is a duplicate.
    return renderList(call, { uploaded });
  },
});

/** The form beside the files. */
const FORM_BYTES = 16 * 1024;

const COLUMNS: Column<ListedReport>[] = [
  {
    title: 'Report',
    cell: (report) => (
      <bdi>{`${typeWord(report)} from ${report.reporter ?? 'an unknown reporter'}`}</bdi>
    ),
  },
  { title: 'About', wide: true, cell: ({ policy_domain }) => <bdi>{policy_domain ?? '–'}</bdi> },
  {
    title: 'Status',
    cell: ({ status, detail }) => (
      <>
        <StatusMark status={status} />
        {detail && <div class="small muted">{detail}</div>}
      </>
    ),
  },
  {
    title: 'Messages',
    number: true,
    wide: true,
    cell: ({ messages, status }) => (status === 'refused' ? '–' : formatCount(messages)),
  },
  { title: 'Arrived', wide: true, cell: ({ received_at }) => <Ago at={received_at} /> },
];

export const feedbackReportPages = [list, upload];
