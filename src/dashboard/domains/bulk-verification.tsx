/** Verifies many domains at once: with one record for all of them, or at a name server that has their zones. */

import * as v from 'valibot';
import { isPossible } from '../../dns-changes/plans.ts';
import { dnsChangeOperations, dnsServerOperations } from '../../dns-changes/routes.ts';
import type { DnsServer, VerificationPlan } from '../../dns-changes/schema.ts';
import { lookupOperations } from '../../domains/lookup-routes.ts';
import { MAX_BATCH } from '../../domains/lookup-schema.ts';
import type { ListedDomain } from '../../domains/schema.ts';
import { teamToken, verificationRecord } from '../../domains/verification.ts';
import { allows } from '../../http/actor.ts';
import { isoTime } from '../../lib/clock.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { readableDomain } from '../../lib/readable-domain.ts';
import { sanitize } from '../../report/blocks.ts';
import { StateMark } from '../../ui/components.tsx';
import { SERVERS } from '../dns/parts.tsx';
import { ActionButton } from '../frame/action.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { type FormProblem, Notice, ProblemNotice, readForm, submit } from '../frame/form.tsx';
import { operationForm } from '../frame/operation-form.ts';
import { page } from '../frame/page-route.ts';
import { useReader } from '../frame/reader.tsx';
import { EmptyState, Waiting } from '../frame/states.tsx';
import { DataTable, pathWith } from '../frame/table.tsx';
import { allDomains } from './all-domains.ts';
import { DnsRecord } from './dns-record.tsx';
import { DOMAINS } from './list.tsx';

const PATH = `${DOMAINS}/verify`;

const Query = v.strictObject({
  done: v.optional(v.string()),
  server_id: v.optional(v.string()),
});
type Query = v.InferOutput<typeof Query>;

async function unverifiedDomains(call: PageCall): Promise<ListedDomain[]> {
  const [pending, failed] = await Promise.all([
    allDomains(call, { status: 'pending' }),
    allDomains(call, { status: 'failed' }),
  ]);
  return [...pending, ...failed].slice(0, MAX_BATCH).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function render(call: PageCall, query: Query, problem: FormProblem | null = null) {
  const domains = await unverifiedDomains(call);
  const token = await teamToken(call.app);
  const canPublish = allows(call.actor.role, 'admin') && call.actor.livemode;
  const servers = canPublish
    ? (await call.invoke(dnsServerOperations.list, { query: { limit: '100' } })).data
    : [];
  const server = servers.find(({ id }) => id === query.server_id);
  const planned = server
    ? await submit({}, () =>
        call.invoke(dnsChangeOperations.planVerification, { params: { id: server.id } }),
      )
    : null;
  const failure = problem ?? planned?.problem ?? null;
  const now = isoTime(call.app.clock.now());
  return appPage(call, {
    title: 'Verify domains',
    section: 'domains',
    path: pathWith(PATH, { server_id: query.server_id }),
    parents: [{ href: DOMAINS, text: 'Domains' }],
    status: failure?.status,
    headers: failure?.headers,
    calls: [{ route: lookupOperations.verifyAll }],
    children: (
      <>
        <ProblemNotice problem={failure} />
        {domains.length === 0 ? (
          <EmptyState title="All domains are verified">
            Domains that you add later can use the record below, too.
          </EmptyState>
        ) : (
          <p>
            Domains are verified by a TXT record. Publish the one below for all of them
            {canPublish && ', or let a name server do it'}. Then select “Verify all”.
          </p>
        )}
        <TeamRecord token={token} />
        {domains.length > 0 && canPublish && <Servers servers={servers} current={server} />}
        {server && planned?.result && <Plan server={server} plan={planned.result} />}
        {domains.length > 0 && <Unverified domains={domains} now={now} />}
      </>
    ),
  });
}

function Unverified({ domains, now }: { domains: ListedDomain[]; now: string }) {
  const isDue = ({ next_check_at }: ListedDomain) => next_check_at !== null && next_check_at <= now;
  const due = domains.filter(isDue).length;
  const text = `${formatCount(domains.length, 'domain')} not verified`;
  return (
    <section
      class="card panel"
      id="unverified"
      aria-labelledby="unverified-title"
      data-refresh={due > 0 ? '' : undefined}
      data-status={due > 0 ? undefined : text}
    >
      <div class="panel-head">
        <h2 id="unverified-title">{text}</h2>
        {!useReader().testMode && (
          <div class="actions screen-only">
            <ActionButton action={PATH} primary disabled={due > 0}>
              Verify all
            </ActionButton>
          </div>
        )}
      </div>
      <DataTable
        label="Domains that are not verified"
        rows={domains}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `${DOMAINS}/${id}#verification`}
        columns={[
          { title: 'Domain', cell: ({ name }) => <bdi>{readableDomain(name)}</bdi> },
          {
            title: 'Last lookup',
            cell: (domain) =>
              isDue(domain) ? (
                <Waiting>Looking up</Waiting>
              ) : (
                <span class="small muted">
                  {sanitize(domain.last_check_detail ?? 'Not looked up yet.')}
                </span>
              ),
          },
        ]}
      />
    </section>
  );
}

function TeamRecord({ token }: { token: string }) {
  return (
    <Card title="One record for all domains" id="team-record">
      <p>
        Publish this TXT record below each domain. The value is the same for all your domains, and
        does not expire. It proves nothing about domains that your team has not added.
      </p>
      <DnsRecord record={verificationRecord({ name: '<domain>', token })} domain="<domain>" />
      <p class="small muted">
        Everyone who looks up these records can see that one team manages the domains. To avoid
        that, publish the record on the page of each domain.
      </p>
    </Card>
  );
}

function Servers({ servers, current }: { servers: DnsServer[]; current: DnsServer | undefined }) {
  const others = servers.filter(({ id }) => id !== current?.id);
  if (current && others.length === 0) return null;
  return (
    <Card title="Publish at a name server" id="servers">
      <p>
        {servers.length > 0 ? (
          'A name server can publish the records of all domains in its zones. You see them before anything is published.'
        ) : (
          <>
            <a href={`${SERVERS}/new`}>Add your name server</a> to publish the records of all
            domains in its zones with one button.
          </>
        )}
      </p>
      <div class="actions">
        {others.map(({ id, name }) => (
          <a key={id} class="button" href={`${pathWith(PATH, { server_id: id })}#plan`}>
            Show the records for {name}
          </a>
        ))}
      </div>
    </Card>
  );
}

function Plan({ server, plan }: { server: DnsServer; plan: VerificationPlan }) {
  const { changes, token, more } = plan;
  const count = changes.filter(isPossible).length;
  if (changes.length === 0)
    return (
      <Notice tone="info">
        {server.name} has none of the zones of these domains. Publish the records elsewhere.
      </Notice>
    );
  return (
    <Card title={`Records at ${server.name}`} id="plan">
      <DataTable
        label="Verification records"
        rows={changes}
        keyOf={({ name }) => name}
        columns={[
          { title: 'TXT record', cell: ({ name }) => <code>{sanitize(name)}</code> },
          { title: 'Value', cell: ({ proposed }) => <code>{sanitize(proposed.join(', '))}</code> },
          {
            title: 'Change',
            cell: (change) =>
              change.problem !== null ? (
                <StateMark state="warn" word={sanitize(change.problem)} />
              ) : isPossible(change) ? (
                'Add'
              ) : (
                <StateMark state="pass" word="Published" />
              ),
          },
        ]}
      />
      {count > 0 && (
        <ActionButton action={`${PATH}/publish`} fields={{ token, server_id: server.id }} primary>
          {`Publish ${formatCount(count, 'record')}`}
        </ActionButton>
      )}
      <p class="small muted">
        Other records at these names stay as they are. You can undo each change.
        {more > 0 && ` ${formatCount(more, 'further domain')} can follow once these are published.`}
      </p>
    </Card>
  );
}

const show = page({
  path: PATH,
  operation: 'showDomainVerifications',
  role: 'member',
  summary: 'Show how to verify many domains',
  query: Query,
  handle: (call) => render(call, call.query),
});

const verifyAll = operationForm({
  path: PATH,
  operation: 'submitDomainVerifications',
  summary: 'Look up the verification records of all domains with the button',
  route: lookupOperations.verifyAll,
  next: () => `${PATH}#unverified`,
  onProblem: (call, problem) => render(call, {}, problem),
});

const publish = operationForm({
  path: `${PATH}/publish`,
  operation: 'submitVerificationRecords',
  summary: 'Publish verification records at a name server with the button',
  route: dnsChangeOperations.applyVerification,
  read: (raw) => ({ server_id: readForm(raw)('server_id'), token: readForm(raw)('token') }),
  params: ({ server_id }) => ({ id: server_id }),
  body: ({ token }) => ({ token }),
  next: () => `${PATH}#unverified`,
  // The new plan shows what has changed.
  onProblem: (call, problem, { server_id }) => render(call, { server_id }, problem),
});

export const domainProofPages = [show, verifyAll, publish];
