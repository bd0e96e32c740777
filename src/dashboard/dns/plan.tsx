/** The page that shows what publishing the records of a domain changes, and publishes them once an admin confirms. */

import * as v from 'valibot';
import { isPossible } from '../../dns-changes/plans.ts';
import { dnsChangeOperations, dnsServerOperations } from '../../dns-changes/routes.ts';
import type { DnsChange, DnsPlan, DnsServer, PlannedChangeBody } from '../../dns-changes/schema.ts';
import { serversFor } from '../../dns-changes/stored-servers.ts';
import { domainOr404 } from '../../domains/queries.ts';
import { allows } from '../../http/actor.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import { sanitize } from '../../report/blocks.ts';
import { StateMark } from '../../ui/components.tsx';
import { HiddenFields } from '../frame/action.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import {
  type FormProblem,
  Notice,
  ProblemNotice,
  readForm,
  readFormList,
  submit,
} from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { useReader } from '../frame/reader.tsx';
import { EmptyState } from '../frame/states.tsx';
import { pathWith } from '../frame/table.tsx';
import { CHANGES, publishPath, RecordCopies, RecordDiff, SERVERS } from './parts.tsx';

const PATH = '/domains/:id/dns';

const Query = v.strictObject({
  server_id: v.optional(v.string()),
  test_id: v.optional(v.string()),
  checks: v.optional(v.string()),
});
type Query = v.InferOutput<typeof Query>;

const sourceOf = ({ test_id, checks }: Query) => ({
  ...(test_id ? { test_id } : {}),
  ...(checks ? { checks: checks.split(',') } : {}),
});

async function render(
  call: PageCall,
  id: string,
  query: Query,
  problem: FormProblem | null = null,
) {
  const domain = await domainOr404(call.app.db, id);
  const canPublish = allows(call.actor.role, 'admin') && call.actor.livemode;
  const servers = canPublish
    ? (await call.invoke(dnsServerOperations.list, { query: { limit: '100' } })).data
    : [];
  const candidates = serversFor(servers, domain.name);
  const server =
    servers.find((one) => one.id === query.server_id) ??
    candidates[0] ??
    (servers.length === 1 ? servers[0] : undefined);
  const source = sourceOf(query);
  const planned = await planWith(call, id, server, source);
  const { plan } = planned;
  const failure = problem ?? planned.problem;
  const readable = readableDomain(domain.name);
  return appPage(call, {
    title: `Publish records for ${readable}`,
    section: 'domains',
    path: publishPath(id, query),
    parents: allows(call.actor.role, 'member')
      ? [
          { href: '/domains', text: 'Domains' },
          { href: `/domains/${id}`, text: readable },
        ]
      : [],
    status: failure?.status,
    headers: failure?.headers,
    calls: [
      {
        route: dnsChangeOperations.plan,
        params: { id },
        body: { ...source, ...(server ? { server_id: server.id } : {}) },
      },
    ],
    children: (
      <>
        <ProblemNotice problem={failure} />
        <WhoCanPublish servers={servers} canPublish={canPublish} />
        {servers.length > 1 && (
          <ServerChoice id={id} query={query} servers={servers} server={server} />
        )}
        {query.checks && (
          <p>
            <a href={publishPath(id, { ...query, checks: undefined })}>
              Show all records {query.test_id ? 'of this test' : 'of this domain'}
            </a>
          </p>
        )}
        {plan && (
          <Plan
            id={id}
            plan={plan}
            query={query}
            server={planned.problem === null ? server : undefined}
          />
        )}
      </>
    ),
  });
}

/** If the name server does not answer, the plan compares with what resolvers find, and can’t be applied. */
async function planWith(
  call: PageCall,
  id: string,
  server: DnsServer | undefined,
  source: object,
): Promise<{ plan: DnsPlan | null; problem: FormProblem | null }> {
  const planAt = (server_id: string | null) =>
    submit({}, () =>
      call.invoke(dnsChangeOperations.plan, { params: { id }, body: { ...source, server_id } }),
    );
  const { result, problem } = await planAt(server?.id ?? null);
  if (problem === null || server === undefined) return { plan: result, problem };
  return { plan: (await planAt(null)).result, problem };
}

function WhoCanPublish({ servers, canPublish }: { servers: DnsServer[]; canPublish: boolean }) {
  const { testMode, role } = useReader();
  if (!canPublish)
    return (
      <Notice tone="info">
        {testMode && allows(role, 'admin')
          ? 'Records can’t be published in test mode. Switch to live mode first.'
          : 'Only admins can publish these records here. Copy them, or ask an admin.'}
      </Notice>
    );
  if (servers.length > 0) return null;
  return (
    <Notice tone="info">
      To publish these records with one button, <a href={`${SERVERS}/new`}>add your name server</a>.
      Or copy them.
    </Notice>
  );
}

function ServerChoice({
  id,
  query,
  servers,
  server,
}: {
  id: string;
  query: Query;
  servers: DnsServer[];
  server: DnsServer | undefined;
}) {
  return (
    <nav class="tabs screen-only" aria-label="Name server">
      {servers.map((one) => (
        <a
          key={one.id}
          href={publishPath(id, { ...query, server_id: one.id })}
          aria-current={one.id === server?.id ? 'true' : undefined}
        >
          {one.name}
        </a>
      ))}
    </nav>
  );
}

interface PlanProps {
  id: string;
  plan: DnsPlan;
  query: Query;
  /** Undefined if the plan can only be copied. */
  server: DnsServer | undefined;
}

function Plan({ id, plan, query, server }: PlanProps) {
  const open = plan.changes.filter(({ action, problem }) => action !== 'none' || problem !== null);
  const published = plan.changes.filter((change) => !open.includes(change));
  const isApplicable = open.some(isPossible) && server !== undefined;
  if (plan.changes.length === 0)
    return (
      <EmptyState title="Nothing to publish">
        No finding proposes a record for this domain.
      </EmptyState>
    );
  const cards = (
    <>
      {open.length > 0 && (
        <Card title={server ? `Changes at ${server.name}` : 'Records to publish'} id="plan">
          {open.map((change) => (
            <Planned
              key={keyOf(change)}
              change={change}
              isChoice={isApplicable && isPossible(change)}
            />
          ))}
          {isApplicable && (
            <p class="small muted">
              Other records at these names stay as they are. You can undo each change.
            </p>
          )}
          {isApplicable && (
            <div class="actions">
              <button type="submit" class="button primary">
                Publish these records
              </button>
            </div>
          )}
        </Card>
      )}
      {published.length > 0 && (
        <Card title="Already published" id="published">
          {published.map((change) => (
            <Planned key={keyOf(change)} change={change} isChoice={false} />
          ))}
        </Card>
      )}
    </>
  );
  if (!isApplicable) return cards;
  const fields = { token: plan.token, ...query, server_id: server.id };
  return (
    <form method="post" action={`/domains/${id}/dns`}>
      <HiddenFields fields={definedOnly(fields)} />
      {cards}
    </form>
  );
}

const definedOnly = (fields: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined),
  );

const keyOf = ({ name, type }: Pick<PlannedChangeBody, 'name' | 'type'>): string =>
  `${type} ${name}`;

function Planned({ change, isChoice }: { change: PlannedChangeBody; isChoice: boolean }) {
  const { proposed, purpose, problem, caution, copies, action } = change;
  return (
    <section class="planned">
      <RecordDiff {...change} />
      <p>{sanitize(purpose)}</p>
      {problem !== null && (
        <>
          <p>
            <StateMark state="warn" word="Can’t be published here:" /> {sanitize(problem)}
          </p>
          {proposed.map((value) => (
            <p key={value}>
              Proposed: <code class="proposed">{sanitize(value)}</code>
            </p>
          ))}
        </>
      )}
      {action === 'none' && problem === null && (
        <p>
          <StateMark state="pass" word="Published" />
        </p>
      )}
      {caution !== null && <p class="small">{sanitize(caution)}</p>}
      {isChoice && (
        <label class="check">
          <input
            type="checkbox"
            name="record"
            value={keyOf(change)}
            checked={!change.needs_choice}
          />
          Publish {change.type} at {sanitize(change.name)}
        </label>
      )}
      {copies && <RecordCopies copies={copies} />}
    </section>
  );
}

const show = page({
  path: PATH,
  operation: 'showDnsPlan',
  limited: true,
  role: 'viewer',
  summary: 'Show what publishing the records of a domain changes',
  query: Query,
  handle: (call) => render(call, call.params.id!, call.query),
});

const NOTHING_SELECTED: FormProblem = {
  status: 422,
  notice: 'Select at least one record.',
  fields: {},
  headers: {},
};

const apply = form({
  path: PATH,
  operation: 'submitDnsPlan',
  role: 'admin',
  summary: 'Publish the records of a plan with the button',
  async handle(call) {
    const id = call.params.id!;
    const field = readForm(call.raw);
    const given = (name: string) => field(name) || undefined;
    const query = {
      server_id: given('server_id'),
      test_id: given('test_id'),
      checks: given('checks'),
    };
    const records = readFormList(call.raw)('record').map((key) => {
      const [type = '', name = ''] = key.split(' ');
      return { type, name };
    });
    if (records.length === 0) return render(call, id, query, NOTHING_SELECTED);
    const { result, problem } = await submit({}, () =>
      call.invoke(dnsChangeOperations.apply, {
        params: { id },
        body: {
          server_id: field('server_id'),
          token: field('token'),
          records,
          ...sourceOf(query),
        },
      }),
    );
    // The new plan shows what has changed.
    if (problem) return render(call, id, query, problem);
    const count = (...wanted: DnsChange['status'][]) =>
      String(result.data.filter(({ status }) => wanted.includes(status)).length);
    return seeOther(
      pathWith(CHANGES, {
        domain_id: id,
        applied: count('applied'),
        failed: count('failed'),
        unconfirmed: count('applying', 'unknown'),
      }),
    );
  },
});

export const dnsPlanPages = [show, apply];
