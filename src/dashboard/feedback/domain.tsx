/** What receivers report about one domain: the set-up, the advice, the messages by day, and who sends. */

import * as v from 'valibot';
import { feedbackOf } from '../../domains/feedback/state.ts';
import { findDomain } from '../../domains/queries.ts';
import { hasReports } from '../../feedback/queries.ts';
import type { RefusedReport } from '../../feedback/refused.ts';
import { feedbackOperations } from '../../feedback/routes.ts';
import { MAX_REPORTER_DAYS } from '../../feedback/sources/list.ts';
import { sourceOperations } from '../../feedback/sources/routes.ts';
import { dayBefore, lastDays, periodOf } from '../../feedback/sums.ts';
import { STOPPED } from '../../figures/dmarc.ts';
import { AppError } from '../../lib/errors.ts';
import { formatCount, formatPercent } from '../../lib/format/numbers.ts';
import { dayInWords } from '../../lib/format/times.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import { eventsOf } from '../../picture/explaining-events.ts';
import { AskToVerify } from '../domains/states.tsx';
import { appPage } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { Filters } from '../frame/filters.tsx';
import { catchErrors, Notice, Select } from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { page } from '../frame/page-route.ts';
import { pathWith } from '../frame/table.tsx';
import { Advice } from './advice.tsx';
import { DayChart } from './chart.tsx';
import { reportsPath } from './domain-part.tsx';
import { FEEDBACK, feedbackPath, REPORTS } from './list.tsx';
import { DEFAULT_DAYS, PERIODS } from './period.tsx';
import { SetUp } from './set-up.tsx';
import { SOURCES_PAGE_SIZE, Sources, sourceFilters } from './sources-table.tsx';
import { DomainTabs } from './tabs.tsx';
import { TlsSummary } from './tls.tsx';
import { UnconfirmedNotice } from './unconfirmed.tsx';
import { FeedbackStateMark } from './words.tsx';

const Query = v.strictObject({
  days: v.optional(v.string()),
  show: v.optional(v.string()),
  reporter: v.optional(v.string()),
  starting_after: v.optional(v.string()),
  ending_before: v.optional(v.string()),
});

const show = page({
  path: `${FEEDBACK}/domains/:id`,
  operation: 'showDomainFeedback',
  limited: true,
  role: 'viewer',
  summary: 'Show what receivers report about a domain',
  query: Query,
  async handle(call) {
    const { app, params, query } = call;
    const id = params.id!;
    const domain = await findDomain(app.db, id);
    if (!domain) throw new AppError('not_found', 'No such domain.');
    const path = feedbackPath(id);
    const { starting_after, ending_before, ...choices } = query;
    const days = PERIODS.find(([value]) => value === query.days)?.[0] ?? DEFAULT_DAYS;
    const from = dayBefore(lastDays(app).to, Number(days) - 1);
    const asked = { domain_id: id, from };
    const isShortened = Boolean(query.reporter) && Number(days) > MAX_REPORTER_DAYS;
    const askedSources = {
      domain_id: id,
      from: isShortened ? lastDays(app).from : from,
      ...sourceFilters(query),
    };
    const listQuery = {
      ...askedSources,
      limit: String(SOURCES_PAGE_SIZE),
      starting_after,
      ending_before,
    };
    const period = await periodOf(app, asked);
    // A source may have left the period since the page before was shown.
    const { result: listed } = await catchErrors(['invalid_cursor', 'validation_failed'], () =>
      call.invoke(sourceOperations.list, { query: listQuery }),
    );
    if (listed === null) return seeOther(`${pathWith(path, choices)}#sources`);
    const [sums, advice, tls, unconfirmed] = await Promise.all([
      call.invoke(feedbackOperations.dmarc, { query: asked }),
      call.invoke(sourceOperations.advice, { query: { domain_id: id } }),
      call.invoke(feedbackOperations.tls, { query: asked }),
      call.invoke(feedbackOperations.unconfirmed, { query: { domain_id: id } }),
    ]);
    const feedback = await feedbackOf(app, app.db, domain);
    const events = await eventsOf(call, id, period);
    const isReported = feedback.last_report_at !== null || (await hasReports(app.db, id));
    const { totals, reporters } = sums;
    const sourceChoice = Object.entries({ show: query.show, reporter: query.reporter }).filter(
      ([, value]) => value,
    );
    return appPage(call, {
      title: `Feedback on ${readableDomain(domain.name)}`,
      section: 'feedback',
      path: pathWith(path, query),
      parents: [{ href: FEEDBACK, text: 'Feedback' }],
      actions: <FeedbackStateMark state={feedback.state} />,
      calls: [
        { route: feedbackOperations.dmarc, query: asked },
        { route: sourceOperations.list, query: listQuery },
        { route: sourceOperations.advice, query: { domain_id: id } },
        { route: feedbackOperations.unconfirmed, query: { domain_id: id } },
      ],
      children: (
        <>
          <DomainTabs id={id} current="overview" />
          <AskToVerify domain={domain} to="to get alerts and publish this record with a button" />
          <SetUp domain={domain.name} feedback={feedback} isReported={isReported} />
          <RefusedNotice refused={sums.refused} />
          <UnconfirmedNotice unconfirmed={unconfirmed} />
          {(isReported || feedback.isParked) && <Advice domain={domain.name} advice={advice} />}
          {isReported && (
            <>
              <Filters path={path} active={query.days !== undefined}>
                <Select name="days" label="Period" value={days} options={PERIODS} />
                {sourceChoice.map(([name, value]) => (
                  <input key={name} type="hidden" name={name} value={value} />
                ))}
              </Filters>
              <Card
                title="Messages by day"
                id="by-day"
                actions={
                  sums.days.length > 0 && (
                    <a
                      class="button"
                      href={pathWith(EXPORT_DAYS, { ...asked, to: period.to })}
                      download
                    >
                      Export as CSV
                    </a>
                  )
                }
              >
                {totals.messages === 0 ? (
                  <p>No DMARC report counts messages of this period.</p>
                ) : (
                  <p>
                    <strong>{sums.shares_text}</strong>
                  </p>
                )}
                {totals.messages > 0 && (
                  <p>
                    {formatCount(totals.messages, 'message')}, of which {formatCount(totals.passed)}{' '}
                    passed DMARC ({formatPercent(totals.passed / totals.messages)}). Receivers{' '}
                    {STOPPED.map(({ name }) => `${name} ${formatCount(totals[name])}`).join(
                      ' and ',
                    )}{' '}
                    because of your policy.
                  </p>
                )}
                <p class="small muted">
                  {`Counted by ${formatCount(sums.reporter_count, 'reporter')} from ${dayInWords(period.from)} to ${dayInWords(period.to)} (UTC). `}
                  Only some receivers send reports.
                  {sums.folded.reports > 0 &&
                    ` ${formatCount(sums.folded.messages, 'message')} in the smallest rows of ${formatCount(sums.folded.reports, 'large report')} are summed up by sending service, or by network and signing domain.`}
                </p>
                {totals.messages > 0 && (
                  <DayChart
                    days={sums.days}
                    from={period.from}
                    to={period.to}
                    events={events}
                    hrefOf={({ date }) => reportsPath({ domain_id: id, type: 'dmarc', day: date })}
                  />
                )}
              </Card>
              <Sources
                path={path}
                days={query.days}
                choice={{ show: query.show, reporter: query.reporter }}
                cursors={{ starting_after, ending_before }}
                sources={listed.data}
                hasMore={listed.has_more}
                reporters={reporters}
                period={{ from: askedSources.from, to: period.to }}
                isShortened={isShortened}
                exportPath={pathWith(EXPORT_SOURCES, { ...askedSources, to: period.to })}
              />
            </>
          )}
          <TlsSummary tls={tls} />
        </>
      ),
    });
  },
});

const EXPORT_DAYS = '/v1/feedback/dmarc/export';
const EXPORT_SOURCES = '/v1/feedback/sources/export';

/** Their messages are missing from all figures. */
function RefusedNotice({ refused }: { refused: RefusedReport[] }) {
  if (refused.length === 0) return null;
  return (
    <Notice tone="warn">
      <p>The figures on this page are incomplete, because reports were refused:</p>
      <ul>
        {refused.map(({ id, text }) => (
          <li key={id}>
            {text} <a href={`${REPORTS}/${id}`}>Open report</a>
          </li>
        ))}
      </ul>
    </Notice>
  );
}

export const domainFeedbackPages = [show];
