/** How each reporter counts the mail of a domain, and what it did because of the policy. */

import * as v from 'valibot';
import { feedbackOperations } from '../../feedback/routes.ts';
import type { DmarcReporters } from '../../feedback/schemas/dmarc.ts';
import { STOPPED } from '../../figures/dmarc.ts';
import { formatCount, formatPercent } from '../../lib/format/numbers.ts';
import { appPage } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { Notice, readForm } from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { EmptyState } from '../frame/states.tsx';
import { type Column, DataTable } from '../frame/table.tsx';
import { Ago } from '../frame/times.tsx';
import { domainPart, periodInWords, reportsPath } from './domain-part.tsx';
import { FEEDBACK, feedbackPath } from './list.tsx';
import { PERIOD_QUERY, PeriodFilters } from './period.tsx';
import { DomainTabs } from './tabs.tsx';
import { UnconfirmedCard } from './unconfirmed.tsx';

const show = page({
  path: `${FEEDBACK}/domains/:id/reporters`,
  operation: 'showReporters',
  role: 'viewer',
  summary: 'Show how each reporter counts the mail of a domain',
  query: v.strictObject({ ...PERIOD_QUERY, done: v.optional(v.string()) }),
  async handle(call) {
    const { id, asked, path, frame, period } = await domainPart(call, {
      name: 'reporters',
      title: 'Reporters of',
    });
    const [{ reporters }, unconfirmed] = await Promise.all([
      call.invoke(feedbackOperations.dmarcReporters, { query: asked }),
      call.invoke(feedbackOperations.unconfirmed, { query: { domain_id: id } }),
    ]);
    return appPage(call, {
      ...frame,
      calls: [
        { route: feedbackOperations.dmarcReporters, query: asked },
        { route: feedbackOperations.unconfirmed, query: { domain_id: id } },
      ],
      children: (
        <>
          <DomainTabs id={id} current="reporters" />
          {call.query.done === 'confirmed' && (
            <Notice tone="pass">
              The reporter is confirmed. Its reports count within a minute.
            </Notice>
          )}
          <PeriodFilters path={path} period={period} />
          {reporters.length === 0 ? (
            <EmptyState title="No DMARC reports in this period">
              Each receiver that reports has a line here, with what it did with your mail.
            </EmptyState>
          ) : (
            <Card title="How each reporter counts your mail" id="reporters">
              <DataTable
                label="Reporters"
                rows={reporters}
                keyOf={({ id: reporter }) => reporter}
                hrefOf={({ id: reporter }) =>
                  reportsPath({ domain_id: id, type: 'dmarc', reporter })
                }
                columns={COLUMNS}
              />
              <p class="small muted">
                {`From ${periodInWords(asked)}. Reports that are only partly in the period are counted in full. `}
                {reporters.some((one) => STOPPED.some(({ name }) => one[name] === null)) &&
                  'A dash means that rows of older reports have expired, so the number is unknown. '}
                Each reporter counts only mail to its own users.
              </p>
            </Card>
          )}
          <UnconfirmedCard unconfirmed={unconfirmed} />
        </>
      ),
    });
  },
});

type Reporter = v.InferOutput<typeof DmarcReporters>['reporters'][number];

const known = (count: number | null): string => (count === null ? '–' : formatCount(count));

const COLUMNS: Column<Reporter>[] = [
  { title: 'Reporter', cell: ({ name }) => <bdi>{name}</bdi> },
  { title: 'Messages', number: true, cell: ({ messages }) => formatCount(messages) },
  {
    title: 'Pass DMARC',
    number: true,
    cell: ({ passed, messages }) => (messages === 0 ? '–' : formatPercent(passed / messages)),
  },
  { title: 'Failed', number: true, wide: true, cell: ({ failed }) => formatCount(failed) },
  ...STOPPED.map(
    ({ name, title }): Column<Reporter> => ({
      title,
      number: true,
      wide: true,
      cell: (reporter) => known(reporter[name]),
    }),
  ),
  { title: 'Reports', number: true, wide: true, cell: ({ reports }) => formatCount(reports) },
  { title: 'Newest report', wide: true, cell: ({ last_at }) => <Ago at={last_at} /> },
];

const confirm = form({
  path: `${FEEDBACK}/domains/:id/reporters/confirm`,
  operation: 'submitDomainReporterConfirmation',
  role: 'member',
  summary: 'Confirm a reporter of a domain with the form',
  async handle(call) {
    await call.invoke(feedbackOperations.updateReporter, {
      params: { id: readForm(call.raw)('reporter_id') },
      body: { confirmed: true },
    });
    return seeOther(`${feedbackPath(call.params.id!)}/reporters?done=confirmed`);
  },
});

export const reporterPages = [show, confirm];
