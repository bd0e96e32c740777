/** The list of DNS changes, and the page of one, with its difference and the button that undoes it. */

import * as v from 'valibot';
import { isUndoable } from '../../dns-changes/changes.ts';
import { dnsChangeOperations } from '../../dns-changes/routes.ts';
import type { DnsChange } from '../../dns-changes/schema.ts';
import { findDomainNames } from '../../domains/queries.ts';
import { sanitize } from '../../report/blocks.ts';
import { Confirm } from '../frame/action.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card, Facts } from '../frame/card.tsx';
import { type FormProblem, Notice, PageQuery, ProblemNotice } from '../frame/form.tsx';
import { operationForm } from '../frame/operation-form.ts';
import { page } from '../frame/page-route.ts';
import { useReader } from '../frame/reader.tsx';
import { EmptyState } from '../frame/states.tsx';
import { DataTable, Pager } from '../frame/table.tsx';
import { Ago, Time } from '../frame/times.tsx';
import { CHANGES, ChangeState, PARENTS, RecordDiff, SERVERS } from './parts.tsx';

export const ChangeTable = ({ changes }: { changes: DnsChange[] }) => (
  <DataTable
    label="DNS changes"
    rows={changes}
    keyOf={({ id }) => id}
    hrefOf={({ id }) => `${CHANGES}/${id}`}
    columns={[
      {
        title: 'Records',
        cell: ({ name, type, undoes }) => (
          <>
            <bdi>{sanitize(name)}</bdi> {type}
            {undoes !== null && <span class="row-note">Undoes an earlier change</span>}
          </>
        ),
      },
      { title: 'State', cell: (change) => <ChangeState change={change} /> },
      { title: 'Time', cell: ({ created_at }) => <Ago at={created_at} />, wide: true },
    ]}
  />
);

const ListQuery = v.strictObject({
  starting_after: v.optional(v.string()),
  ending_before: v.optional(v.string()),
  domain_id: v.optional(v.string()),
  server_id: v.optional(v.string()),
  /** After a plan was applied: how many changes were made, failed, and were not confirmed. */
  applied: v.optional(v.string()),
  failed: v.optional(v.string()),
  unconfirmed: v.optional(v.string()),
});

const list = page({
  path: CHANGES,
  operation: 'showDnsChanges',
  role: 'admin',
  summary: 'Show the DNS changes',
  query: ListQuery,
  async handle(call) {
    const { starting_after, ending_before, domain_id, server_id, applied, failed, unconfirmed } =
      call.query;
    const cursors = { starting_after, ending_before };
    const filters = { domain_id, server_id };
    const query = { ...filters, ...cursors };
    const changes = await call.invoke(dnsChangeOperations.list, { query });
    const names = await findDomainNames(call.app.db, domain_id ? [domain_id] : []);
    const domain = names.get(domain_id ?? '');
    return appPage(call, {
      title: domain ? `DNS changes for ${domain}` : 'DNS changes',
      section: 'dns',
      path: CHANGES,
      parents: PARENTS,
      calls: [{ route: dnsChangeOperations.list, query }],
      children: (
        <>
          {applied !== undefined && (
            <Result
              applied={Number(applied)}
              failed={Number(failed ?? 0)}
              unconfirmed={Number(unconfirmed ?? 0)}
              domainId={domain === undefined ? null : domain_id!}
            />
          )}
          {changes.data.length === 0 ? (
            <EmptyState title="No DNS changes yet">
              Open a domain, and select “Publish this record” in a finding.
            </EmptyState>
          ) : (
            <ChangeTable changes={changes.data} />
          )}
          <Pager
            path={CHANGES}
            query={filters}
            cursors={cursors}
            rows={changes.data}
            hasMore={changes.has_more}
          />
        </>
      ),
    });
  },
});

function Result({
  applied,
  failed,
  unconfirmed,
  domainId,
}: {
  applied: number;
  failed: number;
  unconfirmed: number;
  domainId: string | null;
}) {
  const done = applied === 1 ? '1 change published.' : `${applied} changes published.`;
  if (failed > 0)
    return (
      <Notice tone="fail">
        {failed === 1 ? '1 change failed.' : `${failed} changes failed.`} Open a failed change for
        the reason. {applied > 0 && done}
      </Notice>
    );
  if (unconfirmed > 0)
    return (
      <Notice tone="warn">
        The name server did not confirm every change. Open a change for the reason.{' '}
        {applied > 0 && done}
      </Notice>
    );
  return (
    <Notice tone="pass">
      {done} The domain is being checked again.{' '}
      {domainId !== null && <a href={`/domains/${domainId}`}>Open the domain</a>}
    </Notice>
  );
}

// One change.

const DONE: Record<string, string> = { undone: 'The old records are published again.' };

async function render(
  call: PageCall,
  id: string,
  { done = '', problem = null }: { done?: string; problem?: FormProblem | null } = {},
) {
  const params = { id };
  const change = await call.invoke(dnsChangeOperations.get, { params });
  const { domain_id } = change;
  const names = await findDomainNames(call.app.db, domain_id ? [domain_id] : []);
  const domain = names.get(domain_id ?? '');
  return appPage(call, {
    title: 'DNS change',
    section: 'dns',
    path: `${CHANGES}/${id}`,
    parents: [...PARENTS, { href: CHANGES, text: 'Changes' }],
    status: problem?.status,
    headers: problem?.headers,
    calls: [
      { route: dnsChangeOperations.get, params },
      { route: dnsChangeOperations.undo, params },
    ],
    children: (
      <>
        {Object.hasOwn(DONE, done) && change.status === 'applied' && (
          <Notice tone="pass">{DONE[done]}</Notice>
        )}
        <ProblemNotice problem={problem} />
        {change.error !== null && (
          <Notice tone={change.status === 'failed' ? 'fail' : 'warn'}>
            <bdi>{sanitize(change.error)}</bdi>
          </Notice>
        )}
        <Card>
          <RecordDiff {...change} />
          <p>{sanitize(change.reason)}</p>
          <Facts
            items={[
              ['State', <ChangeState key="state" change={change} />],
              [
                'Domain',
                domain && (
                  <a key="domain" href={`/domains/${domain_id}`}>
                    {domain}
                  </a>
                ),
              ],
              [
                'Name server',
                <a key="server" href={`${SERVERS}/${change.server_id}`}>
                  {change.zone}
                </a>,
              ],
              ['Requested', <Time key="requested" at={change.created_at} />],
              ['Completed', change.finished_at && <Time key="at" at={change.finished_at} />],
              [
                'Undoes',
                change.undoes && <a href={`${CHANGES}/${change.undoes}`}>an earlier change</a>,
              ],
            ]}
          />
          <CacheNote change={change} />
          {isUndoable(change) && (
            <Confirm
              action={`${CHANGES}/${id}/undo`}
              label="Undo…"
              warning="This publishes the old records again. If the records have changed since, nothing is changed."
              confirm="Undo this change"
            />
          )}
        </Card>
      </>
    ),
  });
}

function CacheNote({ change }: { change: DnsChange }) {
  const { now } = useReader();
  const { cached_until, status, before } = change;
  if (status !== 'applied') return null;
  if (before.values.length === 0)
    return (
      <p class="small muted">
        Resolvers that looked up these records before the change may not see them for up to an hour.
      </p>
    );
  if (cached_until === null || Date.parse(cached_until) <= now) return null;
  return (
    <p class="small muted">
      Resolvers may return the old records until <Time at={cached_until} />.
    </p>
  );
}

const show = page({
  path: `${CHANGES}/:id`,
  operation: 'showDnsChange',
  role: 'admin',
  summary: 'Show a DNS change',
  query: PageQuery,
  handle: (call) => render(call, call.params.id!, call.query),
});

const undo = operationForm({
  path: `${CHANGES}/:id/undo`,
  operation: 'submitDnsChangeUndo',
  summary: 'Undo a DNS change with the button',
  route: dnsChangeOperations.undo,
  next: ({ id }) => `${CHANGES}/${id}?done=undone`,
  onProblem: (call, problem) => render(call, call.params.id!, { problem }),
});

export const dnsChangePages = [list, show, undo];
