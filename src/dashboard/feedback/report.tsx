/** One report: what it says, and its rows in pages. */

import * as v from 'valibot';
import { feedbackOperations } from '../../feedback/routes.ts';
import type { FeedbackReport, FeedbackRow } from '../../feedback/schema.ts';
import { sourcesOfAddresses } from '../../feedback/sources/queries.ts';
import { StateMark } from '../../report/html/components.tsx';
import { formatCount } from '../../report/summary.ts';
import { appPage } from '../frame/app-page.tsx';
import { Card, Facts } from '../frame/card.tsx';
import { catchErrors, Select } from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { page } from '../frame/page-route.ts';
import { type Column, DataTable, Filters, Pager, pathWith } from '../frame/table.tsx';
import { Time } from '../frame/times.tsx';
import { FEEDBACK, feedbackPath, REPORTS } from './list.tsx';
import { StatusMark, titleOf } from './report-words.tsx';

const PAGE_SIZE = 50;

const Query = v.strictObject({
  outcome: v.optional(v.string()),
  starting_after: v.optional(v.string()),
  ending_before: v.optional(v.string()),
});

const show = page({
  path: `${REPORTS}/:id`,
  operation: 'showFeedbackReport',
  role: 'viewer',
  summary: 'Show a report and its rows',
  query: Query,
  async handle(call) {
    const { app, query } = call;
    const params = { id: call.params.id! };
    const path = `${REPORTS}/${params.id}`;
    const report = await call.invoke(feedbackOperations.get, { params });
    const outcome = ['pass', 'fail'].find((one) => one === query.outcome);
    const cursors = { starting_after: query.starting_after, ending_before: query.ending_before };
    const asked = { outcome, limit: String(PAGE_SIZE), ...cursors };
    const { result: listed } = await catchErrors(['invalid_cursor', 'validation_failed'], () =>
      call.invoke(feedbackOperations.rows, { params, query: asked }),
    );
    if (listed === null) return seeOther(pathWith(path, { outcome }));
    const addresses = listed.data.flatMap(({ address }) => address ?? []);
    const sources =
      report.domain_id === null
        ? new Map()
        : await sourcesOfAddresses(app.db, report.domain_id, addresses);
    return appPage(call, {
      title: titleOf(report),
      section: 'feedback',
      path: pathWith(path, { ...query, outcome }),
      parents: [
        { href: FEEDBACK, text: 'Feedback' },
        { href: REPORTS, text: 'Reports' },
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
      calls: [
        { route: feedbackOperations.get, params },
        { route: feedbackOperations.rows, params, query: asked },
      ],
      children: (
        <>
          <Card id="facts">
            <ReportFacts report={report} />
          </Card>
          {report.type === 'dmarc' && report.row_count > 0 && (
            <Card
              title="Rows"
              id="rows"
              actions={
                listed.data.length > 0 && (
                  <a
                    class="button"
                    href={pathWith(`/v1/feedback/reports/${report.id}/rows/export`, { outcome })}
                    download
                  >
                    Export as CSV
                  </a>
                )
              }
            >
              <Filters path={`${path}#rows`} active={outcome !== undefined}>
                <Select
                  name="outcome"
                  label="Show"
                  value={outcome ?? ''}
                  options={[
                    ['', 'All rows'],
                    ['fail', 'Only failed'],
                    ['pass', 'Only passed'],
                  ]}
                />
              </Filters>
              {listed.data.length === 0 ? (
                <p class="muted">
                  {outcome === undefined ? 'The rows are no longer kept.' : 'No row matches.'}
                </p>
              ) : (
                <>
                  <DataTable
                    label="Rows"
                    rows={listed.data}
                    keyOf={({ id }) => id}
                    columns={columnsOf(sources)}
                  />
                  <p class="small muted">
                    {`The report has ${formatCount(report.row_count, 'row')}; those with the most messages come first.`}
                  </p>
                  <Pager
                    path={path}
                    query={{ outcome }}
                    cursors={cursors}
                    rows={listed.data}
                    hasMore={listed.has_more}
                    words={['← Previous rows', 'Next rows →']}
                    fragment="#rows"
                  />
                </>
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

const DISPOSITION_WORDS: Record<FeedbackRow['disposition'], string> = {
  none: 'None',
  quarantine: 'Quarantined',
  reject: 'Rejected',
};

/** A result with alignment, and the domain that it is about. */
const Result = ({ result, domain }: { result: string; domain: string | null }) => (
  <>
    {result}
    {domain && <div class="small muted unbroken">{domain}</div>}
  </>
);

/** `sources`: by address. */
const columnsOf = (sources: Map<string, { id: string; name: string }>): Column<FeedbackRow>[] => [
  { title: 'Address', cell: ({ address }) => <code class="unbroken">{address ?? 'others'}</code> },
  {
    title: 'Source',
    wide: true,
    cell({ address }) {
      const source = address === null ? undefined : sources.get(address);
      if (!source) return '–';
      return (
        <a href={`${FEEDBACK}/sources/${source.id}`}>
          <bdi>{source.name}</bdi>
        </a>
      );
    },
  },
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
    cell: ({ dkim, dkim_domain }) => <Result result={dkim} domain={dkim_domain} />,
  },
  {
    title: 'SPF',
    wide: true,
    cell: ({ spf, spf_domain }) => <Result result={spf} domain={spf_domain} />,
  },
  { title: 'From domain', wide: true, cell: ({ header_from }) => header_from ?? '–' },
  {
    title: 'Policy applied',
    cell: ({ disposition, reasons }) => (
      <>
        {DISPOSITION_WORDS[disposition]}
        {reasons.length > 0 && (
          <div class="small muted">
            {reasons.map(({ type }) => type.replaceAll('_', ' ')).join(', ')}
          </div>
        )}
      </>
    ),
  },
];

export const feedbackReportPage = [show];
