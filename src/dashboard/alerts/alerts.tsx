/** The page of alerts: incidents, open ones first, and the rules that open them. */

import * as v from 'valibot';
import { channelName } from '../../alerts/channels/index.ts';
import { isAnyMissing } from '../../alerts/recommended.ts';
import { alertOperations } from '../../alerts/routes.ts';
import type { Alert } from '../../alerts/schema.ts';
import { allows } from '../../http/actor.ts';
import { StateMark } from '../../ui/components.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Filters } from '../frame/filters.tsx';
import { Notice, Select } from '../frame/form.tsx';
import { page } from '../frame/page-route.ts';
import { For, useReader } from '../frame/reader.tsx';
import { EmptyState, NotSetUp } from '../frame/states.tsx';
import { DataTable, Pager } from '../frame/table.tsx';
import { IncidentTable } from './incident-table.tsx';
import { conditionText, LastTriggered, RuleState } from './parts.tsx';
import { RECOMMENDED_PATH, RecommendedRules, readRecommended } from './recommended.tsx';

export const PATH = '/alerts';

const Query = v.strictObject({
  starting_after: v.optional(v.string()),
  ending_before: v.optional(v.string()),
  status: v.optional(v.string()),
  alert_id: v.optional(v.string()),
  done: v.optional(v.string()),
});
type Query = v.InferOutput<typeof Query>;

const DONE: Record<string, string> = {
  created: 'Rule created.',
  deleted: 'Rule deleted.',
  recommended: 'Recommended rules created.',
};

/** The largest page of the API holds all rules. */
const ALL_RULES = { limit: '100' };

type StatusFilter = 'open' | 'resolved' | 'all';
const STATUSES: [StatusFilter, string][] = [
  ['open', 'Open'],
  ['resolved', 'Resolved'],
  ['all', 'Open and resolved'],
];

async function render(call: PageCall, query: Query) {
  const { starting_after, ending_before } = query;
  const status = STATUSES.find(([name]) => name === query.status)?.[0] ?? 'open';
  const { data: rules } = await call.invoke(alertOperations.list, { query: ALL_RULES });
  // A rule that was deleted has no place in the filter.
  const alert_id = rules.find(({ id }) => id === query.alert_id)?.id;
  const filters = { status: status === 'all' ? undefined : status, alert_id };
  const incidentQuery = { ...filters, starting_after, ending_before };
  const incidents = await call.invoke(alertOperations.listAllIncidents, { query: incidentQuery });
  const ruleOf = (id: string) => rules.find((rule) => rule.id === id)?.name ?? 'Deleted rule';
  const isFiltered = status !== 'open' || alert_id !== undefined;
  const hasRules = rules.length > 0;
  // Incidents outlive their rules.
  const isUnused =
    !hasRules &&
    (await call.invoke(alertOperations.listAllIncidents, { query: { limit: '1' } })).data.length ===
      0;
  const recommended =
    call.actor.tags === null && (await isAnyMissing(call.app.db))
      ? await readRecommended(call)
      : [];
  return appPage(call, {
    title: 'Alerts',
    section: 'alerts',
    path: PATH,
    actions: hasRules && <NewRuleButton />,
    calls: [
      { route: alertOperations.listAllIncidents, query: incidentQuery },
      { route: alertOperations.list, query: ALL_RULES },
    ],
    children: (
      <>
        {query.done && Object.hasOwn(DONE, query.done) && (
          <Notice tone="pass">{DONE[query.done]}</Notice>
        )}
        {isUnused ? (
          <NoRules />
        ) : (
          <>
            <section aria-labelledby="incidents-title">
              <div class="section-head">
                <h2 id="incidents-title">{status === 'open' ? 'Open incidents' : 'Incidents'}</h2>
                <Filters path={PATH} active={isFiltered}>
                  <Select name="status" label="State" options={STATUSES} value={status} />
                  {hasRules && (
                    <Select
                      name="alert_id"
                      label="Rule"
                      options={[
                        ['', 'All rules'],
                        ...rules.map(({ id, name }): [string, string] => [id, name]),
                      ]}
                      value={alert_id}
                    />
                  )}
                </Filters>
              </div>
              {incidents.data.length > 0 ? (
                <IncidentTable
                  label="Incidents"
                  incidents={incidents.data}
                  ruleOf={ruleOf}
                  withState={status !== 'open'}
                />
              ) : (
                <NoIncidents rules={rules} status={status} />
              )}
              <Pager
                path={PATH}
                query={{ status: status === 'open' ? undefined : status, alert_id }}
                cursors={{ starting_after, ending_before }}
                rows={incidents.data}
                hasMore={incidents.has_more}
              />
            </section>
            <section aria-labelledby="rules-title">
              <h2 id="rules-title">Rules</h2>
              {hasRules ? <RuleTable rules={rules.toSorted(byUrgency)} /> : <NoRules />}
            </section>
          </>
        )}
        {recommended.length > 0 ? (
          <section aria-labelledby="recommended-title">
            <h2 id="recommended-title">Recommended rules</h2>
            <RecommendedRules rules={recommended} />
          </section>
        ) : (
          <For role="member" team>
            <p class="small">
              <a href={RECOMMENDED_PATH}>
                See how often the recommended rules would have alerted you
              </a>
            </p>
          </For>
        )}
      </>
    ),
  });
}

function NewRuleButton() {
  const { role, testMode } = useReader();
  // Rules have no test mode.
  if (testMode || !allows(role, 'admin')) return null;
  return (
    <a class="button primary" href={`${PATH}/new`}>
      Create rule
    </a>
  );
}

/** Nothing watched is not the same as nothing wrong. */
function NoIncidents({ rules, status }: { rules: Alert[]; status: StatusFilter }) {
  if (status !== 'open')
    return (
      <p class="card quiet muted">
        {status === 'resolved' ? 'No resolved incidents match.' : 'No incidents match.'}
      </p>
    );
  const enabled = rules.filter(({ enabled }) => enabled).length;
  if (enabled === 0)
    return (
      <p class="card quiet">
        <NotSetUp>Not set up</NotSetUp>{' '}
        {rules.length === 0 ? 'No rules exist.' : 'All rules are disabled.'}
      </p>
    );
  return (
    <p class="card quiet">
      <StateMark state="pass" word="No open incidents" />{' '}
      <span class="muted">
        {enabled === 1 ? '1 rule is active.' : `${enabled} rules are active.`}
      </span>
    </p>
  );
}

function NoRules() {
  return (
    <EmptyState title="No alert rules yet" action={<NewRuleButton />}>
      A rule notifies you when a test scores too low, when SPF, DKIM or DMARC fails, or when a
      blocklist lists you.
      <NeedsAdmin />
    </EmptyState>
  );
}

function NeedsAdmin() {
  const { role, testMode } = useReader();
  if (testMode) return <> Switch to live mode to create one.</>;
  return role === 'member' ? <> Ask an admin to create one.</> : null;
}

/** Triggered rules first, then those that cannot notify anyone, then the others; disabled ones last. */
const urgencyOf = ({ enabled, state, unconfigured_channels }: Alert): number => {
  if (!enabled) return 3;
  if (state === 'triggered') return 0;
  return unconfigured_channels.length > 0 ? 1 : 2;
};
const byUrgency = (a: Alert, b: Alert): number => urgencyOf(a) - urgencyOf(b);

function RuleTable({ rules }: { rules: Alert[] }) {
  return (
    <DataTable
      label="Rules"
      rows={rules}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `${PATH}/${id}`}
      columns={[
        {
          title: 'Name',
          cell: (rule) => (
            <>
              <bdi>{rule.name}</bdi>
              <span class="row-note">{conditionText(rule)}</span>
            </>
          ),
        },
        { title: 'State', cell: (alert) => <RuleState alert={alert} /> },
        { title: 'Channels', cell: (alert) => <Channels alert={alert} />, wide: true },
        {
          title: 'Last triggered',
          cell: ({ last_triggered_at }) => <LastTriggered at={last_triggered_at} />,
          wide: true,
        },
      ]}
    />
  );
}

/** Names the channels that work as text, and marks those that are not configured. */
export function Channels({
  alert: { channels, unconfigured_channels: missing },
}: {
  alert: Pick<Alert, 'channels' | 'unconfigured_channels'>;
}) {
  const working = channels.filter((channel) => !missing.includes(channel));
  return (
    <span class="channel-marks">
      {working.length > 0 && (
        <span>{working.map((channel) => channelName(channel)).join(', ')}</span>
      )}
      {missing.map((channel) => (
        <NotSetUp key={channel}>{`${channelName(channel)} not configured`}</NotSetUp>
      ))}
    </span>
  );
}

const show = page({
  path: PATH,
  operation: 'showAlerts',
  limited: true,
  role: 'member',
  summary: 'Show incidents and alert rules',
  query: Query,
  handle: (call) => render(call, call.query),
});

export const alertPages = [show];
