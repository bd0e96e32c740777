/** One report: what it says, and its rows in pages. */

import * as v from 'valibot';
import { type PublishedPolicy, whyMilder } from '../../feedback/override-reasons.ts';
import { feedbackOperations } from '../../feedback/routes.ts';
import type { FeedbackReport, FeedbackRow } from '../../feedback/schemas/report.ts';
import { sourcesOfAddresses } from '../../feedback/sources/queries.ts';
import { senderOfRow } from '../../feedback/sources/tenants.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { StateMark } from '../../ui/components.tsx';
import { Confirm } from '../frame/action.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card, Facts } from '../frame/card.tsx';
import { Filters } from '../frame/filters.tsx';
import {
  catchErrors,
  type FormProblem,
  Notice,
  PageQuery,
  ProblemNotice,
  Select,
} from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { page } from '../frame/page-route.ts';
import { For } from '../frame/reader.tsx';
import { type Column, DataTable, Pager, pathWith } from '../frame/table.tsx';
import { Time } from '../frame/times.tsx';
import { FEEDBACK, feedbackPath, REPORTS } from './list.tsx';
import { Overrides, overridesOfRows } from './overrides.tsx';
import { StatusMark, titleOf } from './report-words.tsx';
import { TrustCard } from './trust-card.tsx';

const PAGE_SIZE = 50;

const Query = v.strictObject({
  ...PageQuery.entries,
  outcome: v.optional(v.string()),
  starting_after: v.optional(v.string()),
  ending_before: v.optional(v.string()),
});

interface State {
  query?: v.InferOutput<typeof Query>;
  problem?: FormProblem | null;
}

const DONE: Record<string, string> = {
  confirmed: 'The reporter is confirmed. Its reports count within a minute.',
  withdrawn: 'The reporter is no longer confirmed. Its reports leave all sums within a minute.',
};

/** Also after a form that failed. */
export async function renderReport(
  call: PageCall & { params: Record<string, string> },
  { query = {}, problem = null }: State,
) {
  const { app } = call;
  const params = { id: call.params.id! };
  const path = `${REPORTS}/${params.id}`;
  const report = await call.invoke(feedbackOperations.get, { params });
  const { reporter_id, type } = report;
  const reporter =
    // Its figures are about the whole team.
    reporter_id !== null && type !== 'bounce' && call.actor.tags === null
      ? await call.invoke(feedbackOperations.getReporter, { params: { id: reporter_id } })
      : null;
  const outcome = ['pass', 'fail'].find((one) => one === query.outcome);
  const cursors = { starting_after: query.starting_after, ending_before: query.ending_before };
  const asked = { outcome, limit: String(PAGE_SIZE), ...cursors };
  const { result: listed } = await catchErrors(['invalid_cursor', 'validation_failed'], () =>
    call.invoke(feedbackOperations.rows, { params, query: asked }),
  );
  if (listed === null) return seeOther(pathWith(path, { outcome }));
  const policy = (report.details.policy ?? {}) as PublishedPolicy;
  const senders = listed.data.flatMap((row) => senderOfRow(row) ?? []);
  const sources =
    report.domain_id === null
      ? new Map()
      : await sourcesOfAddresses(app.db, report.domain_id, senders);
  return appPage(call, {
    title: titleOf(report),
    section: 'feedback',
    path: pathWith(path, { outcome, ...cursors }),
    status: problem?.status,
    headers: problem?.headers,
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
        {query.done !== undefined && Object.hasOwn(DONE, query.done) && (
          <Notice tone="pass">{DONE[query.done]}</Notice>
        )}
        <ProblemNotice problem={problem} />
        <Card id="facts">
          <ReportFacts report={report} />
        </Card>
        <TrustCard report={report} reporter={reporter} />
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
                {outcome === undefined ? 'The rows have expired.' : 'No row matches.'}
              </p>
            ) : (
              <>
                <DataTable
                  label="Rows"
                  rows={listed.data}
                  keyOf={({ id }) => id}
                  columns={columnsOf(sources, policy, report.policy_domain)}
                />
                <p class="small muted">
                  {`The report has ${formatCount(report.row_count, 'row')}; those with the most messages come first.`}
                  {foldedInWords(report.details)}
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
        <Overrides
          overrides={overridesOfRows(listed.data)}
          basis={`From the ${formatCount(listed.data.length, 'row')} above.`}
        />
        <For role="member" team>
          <Confirm
            action={`${path}/delete`}
            label="Delete report…"
            warning={deletionOf(report)}
            confirm="Delete report"
          />
        </For>
      </>
    ),
  });
}

const show = page({
  path: `${REPORTS}/:id`,
  operation: 'showFeedbackReport',
  limited: true,
  role: 'viewer',
  summary: 'Show a report and its rows',
  query: Query,
  handle: (call) => renderReport(call, { query: call.query }),
});

function deletionOf({ status, messages }: FeedbackReport): string {
  const sums =
    status === 'counted'
      ? `Its ${formatCount(messages, 'message')} will be taken out of all sums. If it arrives again, it counts again.`
      : 'It is not part of any sum.';
  return `Delete this report only if it is wrong. ${sums} This cannot be undone.`;
}

/** The policy of the domain at that time, as the reporter saw it. */
function policyInWords({ p, sp, pct, testing }: PublishedPolicy): string | null {
  if (!p) return null;
  const parts = [`p=${p}`, sp && sp !== p && `sp=${sp}`, pct != null && pct < 100 && `pct=${pct}`];
  return `${parts.filter(Boolean).join(', ')}${testing ? ' (test mode)' : ''}`;
}

const ReportFacts = ({ report }: { report: FeedbackReport }) => (
  <Facts
    items={[
      [report.status === 'counted' ? 'Note' : 'Why', report.detail],
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
      ['Policy at that time', policyInWords((report.details.policy ?? {}) as PublishedPolicy)],
      [
        'Calls itself',
        report.reporter === null || report.label === report.reporter ? null : report.label,
      ],
      ['Report ID', report.report_id],
      ['Repaired or invalid', report.repaired.length > 0 ? report.repaired.join(', ') : null],
      ['Arrived', <Time key="at" at={report.received_at} />],
    ]}
  />
);

const DISPOSITION_WORDS: Record<FeedbackRow['disposition'], string> = {
  none: 'Not applied',
  quarantine: 'Quarantined',
  reject: 'Rejected',
  unknown: 'Unknown',
};

/** How much the last rows sum up. */
function foldedInWords({ folded_rows, folded_messages }: FeedbackReport['details']): string | null {
  if (!folded_rows) return null;
  const counted =
    typeof folded_messages === 'number' ? ` with ${formatCount(folded_messages, 'message')}` : '';
  return ` ${formatCount(Number(folded_rows), 'more row')}${counted} are summed up by sending service, or by network and signing domain.`;
}

/** A result with alignment, and the domain that it is about. */
const Result = ({ result, domain }: { result: string; domain: string | null }) => (
  <>
    {result}
    {domain && <div class="small muted unbroken">{domain}</div>}
  </>
);

/** `sources`: by address or tenant. */
const columnsOf = (
  sources: Map<string, { id: string; name: string }>,
  policy: PublishedPolicy,
  policyDomain: string | null,
): Column<FeedbackRow>[] => [
  {
    title: 'Source',
    cell(row) {
      const { address, folded } = row;
      const source = sources.get(senderOfRow(row) ?? '');
      return (
        <>
          {source && (
            <a href={`${FEEDBACK}/sources/${source.id}`}>
              <bdi>{source.name}</bdi>
            </a>
          )}
          <div class={source ? 'small muted' : undefined}>
            <code class="unbroken">{address ?? (folded ? 'others' : 'no address')}</code>
          </div>
        </>
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
    title: 'Policy',
    cell: (row) => {
      const why = whyMilder(row, policy, policyDomain);
      if (row.outcome === 'pass' && row.disposition === 'none') return 'Not needed';
      return (
        <>
          {DISPOSITION_WORDS[row.disposition]}
          {why && <div class="small muted">{why}</div>}
        </>
      );
    },
  },
];

export const feedbackReportPage = [show];
