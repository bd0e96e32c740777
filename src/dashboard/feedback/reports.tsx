/** The list of reports that arrived: which count, which do not, and why; and uploads. */

import * as v from 'valibot';
import { findDomain, listDomains } from '../../domains/queries.ts';
import { REPORT_TYPES } from '../../feedback/reading/report.ts';
import { feedbackOperations } from '../../feedback/routes.ts';
import type { ListedReport } from '../../feedback/schemas/report.ts';
import { REPORT_STATUSES, STATUSES } from '../../feedback/status.ts';
import { readFormPartList } from '../../http/multipart.ts';
import { isDay } from '../../lib/clock.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Filters } from '../frame/filters.tsx';
import { type FormProblem, Notice, PageQuery, Select, submit, TextField } from '../frame/form.tsx';
import { form, page } from '../frame/page-route.ts';
import { For } from '../frame/reader.tsx';
import { EmptyState } from '../frame/states.tsx';
import { type Column, DataTable, Pager, pathWith } from '../frame/table.tsx';
import { Ago } from '../frame/times.tsx';
import { FEEDBACK, REPORTS } from './list.tsx';
import { daysInWords } from './period.tsx';
import { StatusMark, senderOf, typeWord } from './report-words.tsx';
import { FeedbackTabs } from './tabs.tsx';
import { filesOf, Upload, type UploadedFile, UploadedFiles } from './upload.tsx';

const PAGE_SIZE = 25;

const ListQuery = v.strictObject({
  ...PageQuery.entries,
  status: v.optional(v.string()),
  type: v.optional(v.string()),
  day: v.optional(v.string()),
  reporter: v.optional(v.string()),
  domain_id: v.optional(v.string()),
  starting_after: v.optional(v.string()),
  ending_before: v.optional(v.string()),
});

interface ListState {
  query?: v.InferOutput<typeof ListQuery>;
  problem?: FormProblem | null;
  uploaded?: UploadedFile[];
}

/** Values that do not exist are left out. */
const filtersOf = ({
  status,
  type,
  day,
  reporter,
  domain_id,
}: v.InferOutput<typeof ListQuery>) => ({
  status: REPORT_STATUSES.find((one) => one === status),
  type: REPORT_TYPES.find((one) => one === type),
  day: isDay(day) ? day : undefined,
  reporter: reporter || undefined,
  domain_id: domain_id || undefined,
});

/** More domains are not in the list, unless one of them is chosen. */
const MAX_CHOICES = 100;

async function renderList(
  call: PageCall,
  { query = {}, problem = null, uploaded = [] }: ListState,
) {
  const { starting_after, ending_before } = query;
  const filters = filtersOf(query);
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  const asked = { ...filters, limit: String(PAGE_SIZE), starting_after, ending_before };
  const { data, has_more } = await call.invoke(feedbackOperations.list, { query: asked });
  const { rows: domains } = await listDomains(call.app.db, { limit: MAX_CHOICES });
  const chosen =
    filters.domain_id !== undefined && domains.every(({ id }) => id !== filters.domain_id)
      ? await findDomain(call.app.db, filters.domain_id)
      : undefined;
  return appPage(call, {
    title: 'Reports from receivers',
    section: 'feedback',
    path: pathWith(REPORTS, filters),
    parents: [{ href: FEEDBACK, text: 'Feedback' }],
    status: problem?.status,
    headers: problem?.headers,
    calls: [{ route: feedbackOperations.list, query: asked }],
    children: (
      <>
        <FeedbackTabs current="reports" />
        {query.done === 'deleted' && <Notice tone="pass">The report is deleted.</Notice>}
        {uploaded.length > 0 && <UploadedFiles files={uploaded} />}
        <Filters path={REPORTS} active={isFiltered}>
          <Select
            name="domain_id"
            label="Domain"
            value={filters.domain_id ?? ''}
            options={[
              ['', 'All'],
              ...[...(chosen ? [chosen] : []), ...domains].map(({ id, name }): [string, string] => [
                id,
                readableDomain(name),
              ]),
            ]}
          />
          <Select
            name="type"
            label="Type"
            value={filters.type ?? ''}
            options={[
              ['', 'All'],
              ...REPORT_TYPES.map((one): [string, string] => [one, typeWord({ type: one })]),
            ]}
          />
          <TextField name="day" label="Day (UTC)" type="date" value={filters.day} />
          <TextField name="reporter" label="Reporter" value={filters.reporter} />
          <Select
            name="status"
            label="Status"
            value={filters.status ?? ''}
            options={[
              ['', 'All'],
              ...REPORT_STATUSES.map((one): [string, string] => [one, STATUSES[one].word]),
            ]}
          />
        </Filters>
        {data.length === 0 ? (
          <EmptyState title={isFiltered ? 'No report matches' : 'No reports yet'}>
            {!isFiltered &&
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
              query={filters}
              cursors={{ starting_after, ending_before }}
              rows={data}
              hasMore={has_more}
            />
          </>
        )}
        <For role="member" team>
          <Upload problem={problem} maxSize={call.app.config.FEEDBACK_MAX_SIZE} />
        </For>
      </>
    ),
  });
}

const list = page({
  path: REPORTS,
  operation: 'showFeedbackReports',
  limited: true,
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
    cell: (report) => <bdi>{`${typeWord(report)} ${senderOf(report)}`}</bdi>,
  },
  {
    title: 'About',
    wide: true,
    cell: ({ policy_domain }) => <bdi class="about">{policy_domain ?? '–'}</bdi>,
  },
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
  {
    title: 'Days',
    wide: true,
    cell: ({ period }) => <span class="nowrap">{period === null ? '–' : daysInWords(period)}</span>,
  },
  { title: 'Arrived', wide: 'desktop', cell: ({ received_at }) => <Ago at={received_at} /> },
];

export const feedbackReportPages = [list, upload];
