/** The reports that arrived: which count, which do not, and why; and the rows of one. */

import * as v from 'valibot';
import { feedbackOperations } from '../../feedback/routes.ts';
import type { FeedbackReport, FeedbackRow, ListedReport } from '../../feedback/schema.ts';
import { REPORT_STATUSES, type ReportStatus } from '../../feedback/status.ts';
import { readFormParts } from '../../http/multipart.ts';
import { formatSize } from '../../lib/durations.ts';
import type { State } from '../../report/blocks.ts';
import { StateMark } from '../../report/html/components.tsx';
import { formatCount } from '../../report/summary.ts';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card, Facts } from '../frame/card.tsx';
import { type FormProblem, Notice, ProblemNotice, Select, Submit, submit } from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { For } from '../frame/reader.tsx';
import { EmptyState } from '../frame/states.tsx';
import { type Column, DataTable, Filters, Pager, pathWith } from '../frame/table.tsx';
import { Ago, Time } from '../frame/times.tsx';
import { FEEDBACK, feedbackPath } from './list.tsx';
import { FeedbackTabs } from './tabs.tsx';

const PATH = `${FEEDBACK}/reports`;
const PAGE_SIZE = 25;

const STATUS_WORDS: Record<ReportStatus, string> = {
  counted: 'Counted',
  duplicate: 'Duplicate',
  conflict: 'Conflict',
  unverified: 'Not verified',
  refused: 'Not accepted',
};

const STATUS_STATES: Record<ReportStatus, State> = {
  counted: 'pass',
  duplicate: 'info',
  conflict: 'warn',
  unverified: 'warn',
  refused: 'info',
};

const TYPE_WORDS: Record<string, string> = {
  dmarc: 'DMARC',
  dmarc_failure: 'DMARC failure',
  tls: 'TLS',
  complaint: 'Complaint',
  bounce: 'Bounce',
};

const StatusMark = ({ status }: Pick<ListedReport, 'status'>) => (
  <StateMark state={STATUS_STATES[status]} word={STATUS_WORDS[status]} />
);

const typeWord = ({ type }: Pick<ListedReport, 'type'>): string =>
  type === null ? 'Unknown' : TYPE_WORDS[type]!;

const ListQuery = v.strictObject({
  status: v.optional(v.string()),
  starting_after: v.optional(v.string()),
  ending_before: v.optional(v.string()),
  done: v.optional(v.string()),
});

interface ListState {
  query?: v.InferOutput<typeof ListQuery>;
  problem?: FormProblem | null;
}

async function renderList(call: PageCall, { query = {}, problem = null }: ListState) {
  const { starting_after, ending_before } = query;
  const status = REPORT_STATUSES.find((one) => one === query.status);
  const asked = { status, limit: String(PAGE_SIZE), starting_after, ending_before };
  const { data, has_more } = await call.invoke(feedbackOperations.list, { query: asked });
  const uploaded = uploadedInWords(query.done ?? '');
  return appPage(call, {
    title: 'Reports from receivers',
    section: 'feedback',
    path: pathWith(PATH, { status }),
    parents: [{ href: FEEDBACK, text: 'Feedback' }],
    status: problem?.status,
    headers: problem?.headers,
    calls: [{ route: feedbackOperations.list, query: asked }],
    children: (
      <>
        <FeedbackTabs current="reports" />
        {uploaded && <Notice tone="info">{uploaded}</Notice>}
        <Filters path={PATH} active={status !== undefined}>
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
              'Publish the feedback address of a domain. Most receivers send a report a day.'}
          </EmptyState>
        ) : (
          <>
            <DataTable
              label="Reports"
              columns={COLUMNS}
              rows={data}
              keyOf={({ id }) => id}
              hrefOf={({ id }) => `${PATH}/${id}`}
            />
            <Pager
              path={PATH}
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

function Upload({ problem, maxSize }: { problem: FormProblem | null; maxSize: number }) {
  const wrong = problem?.fields.file;
  return (
    <Card title="Upload a report" id="upload">
      <form method="post" action={PATH} enctype="multipart/form-data" class="fields">
        <ProblemNotice problem={problem} />
        <div class="field">
          <label for="file">File</label>
          <p id="file-hint" class="hint">
            {`XML, JSON, gzip, zip, or the message that carried it, up to ${formatSize(maxSize)}. For many files, use the command feedback import.`}
          </p>
          {wrong && (
            <p id="file-wrong" class="wrong">
              <span class="visually-hidden">Error: </span>
              {wrong}
            </p>
          )}
          <input
            id="file"
            name="file"
            type="file"
            data-max-bytes={maxSize}
            data-too-large={`The file is larger than ${formatSize(maxSize)}. Choose a smaller one.`}
            aria-invalid={wrong ? 'true' : undefined}
            aria-describedby={wrong ? 'file-wrong file-hint' : 'file-hint'}
          />
        </div>
        <Submit secondary>Upload</Submit>
      </form>
    </Card>
  );
}

/** `done` has the number of reports for each status: `counted.2,refused.1`. */
function uploadedInWords(done: string): string | null {
  const parts = done.split(',').flatMap((part) => {
    const [name, count] = part.split('.');
    const status = REPORT_STATUSES.find((one) => one === name);
    return status && /^\d{1,3}$/.test(count ?? '')
      ? [`${STATUS_WORDS[status].toLowerCase()}: ${count}`]
      : [];
  });
  return parts.length > 0 ? `Uploaded. Reports by status: ${parts.join(', ')}.` : null;
}

const list = page({
  path: PATH,
  operation: 'showFeedbackReports',
  role: 'viewer',
  summary: 'Show the reports that arrived',
  query: ListQuery,
  handle: (call) => renderList(call, { query: call.query }),
});

const upload = form({
  path: PATH,
  operation: 'submitFeedbackReport',
  role: 'member',
  summary: 'Upload a report with the form',
  consumes: {
    type: 'multipart/form-data',
    maxBytes: ({ config }) => config.FEEDBACK_MAX_SIZE + FORM_BYTES,
  },
  async handle(call) {
    const parts = readFormParts(call.raw, call.headers.get('content-type'));
    const raw = parts.get('file')?.bytes ?? new Uint8Array();
    if (raw.byteLength === 0) {
      const fields = { file: 'Choose a file.' };
      return renderList(call, { problem: { status: 422, notice: null, fields, headers: {} } });
    }
    const { result, problem } = await submit({}, () =>
      call.invoke(feedbackOperations.upload, { raw }),
    );
    if (problem) return renderList(call, { problem });
    const counts = Map.groupBy(result.data, ({ status }) => status);
    const done = [...counts].map(([status, reports]) => `${status}.${reports.length}`).join(',');
    return seeOther(pathWith(PATH, { done }));
  },
});

/** The form beside the file. */
const FORM_BYTES = 16 * 1024;

const COLUMNS: Column<ListedReport>[] = [
  {
    title: 'Report',
    cell: (report) => (
      <bdi>{`${typeWord(report)} from ${report.reporter ?? 'an unknown reporter'}`}</bdi>
    ),
  },
  { title: 'About', cell: ({ policy_domain }) => <bdi>{policy_domain ?? '–'}</bdi> },
  { title: 'Status', cell: StatusMark },
  {
    title: 'Messages',
    number: true,
    cell: ({ messages, status }) => (status === 'refused' ? '–' : formatCount(messages)),
  },
  { title: 'Why', wide: true, cell: ({ detail }) => detail ?? '' },
  { title: 'Arrived', wide: true, cell: ({ received_at }) => <Ago at={received_at} /> },
];

const one = page({
  path: `${PATH}/:id`,
  operation: 'showFeedbackReport',
  role: 'viewer',
  summary: 'Show a report and its rows',
  async handle(call) {
    const params = { id: call.params.id! };
    const report = await call.invoke(feedbackOperations.get, { params });
    const calls = [
      { route: feedbackOperations.get, params },
      { route: feedbackOperations.rows, params },
    ];
    return appPage(call, {
      title: `${typeWord(report)} report from ${report.reporter ?? 'an unknown reporter'}`,
      section: 'feedback',
      path: `${PATH}/${report.id}`,
      parents: [
        { href: FEEDBACK, text: 'Feedback' },
        { href: PATH, text: 'Reports' },
      ],
      actions: (
        <>
          <StatusMark status={report.status} />
          {report.source_kept && (
            <a class="button" href={`/v1/feedback/reports/${report.id}/source`} download>
              Download original
            </a>
          )}
        </>
      ),
      calls,
      children: (
        <>
          <Card id="facts">
            <ReportFacts report={report} />
          </Card>
          {report.rows && report.rows.length > 0 && (
            <Card title="Rows" id="rows">
              <DataTable label="Rows" rows={report.rows} keyOf={({ id }) => id} columns={ROWS} />
              {report.row_count > report.rows.length && (
                <p class="small muted">
                  {`The ${report.rows.length} rows with the most messages, of ${formatCount(report.row_count)}.`}
                </p>
              )}
            </Card>
          )}
        </>
      ),
    });
  },
});

const ReportFacts = ({ report }: { report: FeedbackReport }) => (
  <Facts
    items={[
      ['Why', report.detail],
      [
        'About',
        report.domain_id === null ? (
          report.policy_domain
        ) : (
          <a href={feedbackPath(report.domain_id)}>{report.policy_domain ?? 'the domain'}</a>
        ),
      ],
      [
        'Period',
        report.period && (
          <>
            <Time at={report.period.from} /> to <Time at={report.period.to} />
          </>
        ),
      ],
      [
        'Messages',
        report.status === 'refused'
          ? null
          : `${formatCount(report.messages)}: ${formatCount(report.passed)} passed, ${formatCount(report.failed)} failed`,
      ],
      ['Report ID', report.report_id],
      ['Repaired', report.repaired.length > 0 ? report.repaired.join(', ') : null],
      ['Arrived', <Time key="at" at={report.received_at} />],
    ]}
  />
);

const ROWS: Column<FeedbackRow>[] = [
  { title: 'Address', cell: ({ address }) => <code>{address ?? 'others'}</code> },
  { title: 'Messages', number: true, cell: ({ count }) => formatCount(count) },
  {
    title: 'DMARC',
    cell: ({ outcome }) => (
      <StateMark
        state={outcome === 'pass' ? 'pass' : 'info'}
        word={outcome === 'pass' ? 'Passed' : 'Failed'}
      />
    ),
  },
  {
    title: 'DKIM',
    wide: true,
    cell: ({ dkim_domain, dkim }) => `${dkim}${dkim_domain ? ` (${dkim_domain})` : ''}`,
  },
  {
    title: 'SPF',
    wide: true,
    cell: ({ spf_domain, spf }) => `${spf}${spf_domain ? ` (${spf_domain})` : ''}`,
  },
  { title: 'Disposition', wide: true, cell: ({ disposition }) => disposition },
];

export const feedbackReportPages = [list, upload, one];
