/** The pages of alert rules: create, show, change, test, delete. */

import { CHANNEL_IDS, CHANNELS, type ChannelId, channelName } from '../../alerts/channels/index.ts';
import { shownName } from '../../alerts/channels/settings.ts';
import { alertOperations } from '../../alerts/routes.ts';
import type { Alert, AlertIncident, AlertTest } from '../../alerts/schema.ts';
import { findDomain } from '../../domains/queries.ts';
import { allows } from '../../http/actor.ts';
import { ActionButton, Confirm } from '../frame/action.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card, Facts } from '../frame/card.tsx';
import { type FormProblem, Notice, PageQuery, ProblemNotice } from '../frame/form.tsx';
import { operationForm } from '../frame/operation-form.ts';
import { page } from '../frame/page-route.ts';
import { asErrorSentence } from '../frame/states.tsx';
import { DataTable } from '../frame/table.tsx';
import { Ago } from '../frame/times.tsx';
import { versionOf } from '../frame/version.tsx';
import { Channels, PATH } from './alerts.tsx';
import { IncidentTable } from './incident-table.tsx';
import { conditionText, LastTriggered, NotificationMark, RuleState } from './parts.tsx';
import { MissingRules, readRecommended } from './recommended.tsx';
import {
  bodyOf,
  LiveOnlyNote,
  NEW_RULE,
  RULE_LABELS,
  RuleForm,
  type RuleValues,
  readValues,
  ruleFormContext,
  valuesOf,
} from './rule-form.tsx';

const PARENTS = [{ href: PATH, text: 'Alerts' }];

// A new rule.

const EXAMPLE = {
  name: 'Low scores',
  condition: 'score_below',
  threshold: 70,
  channels: ['email'],
};

async function renderNew(call: PageCall, values: RuleValues, problem: FormProblem | null = null) {
  const context = await ruleFormContext(call);
  return appPage(call, {
    suggestTags: true,
    title: 'New alert rule',
    section: 'alerts',
    path: `${PATH}/new`,
    parents: PARENTS,
    status: problem?.status,
    headers: problem?.headers,
    calls: [{ route: alertOperations.create, body: EXAMPLE }],
    children: (
      <>
        {problem === null && <MissingRules rules={await readRecommended(call)} />}
        <Card title="Custom rule">
          <RuleForm
            {...context}
            action={PATH}
            values={values}
            problem={problem}
            submit="Create rule"
          />
        </Card>
      </>
    ),
  });
}

const showNew = page({
  path: `${PATH}/new`,
  operation: 'showNewAlert',
  role: 'admin',
  summary: 'Show the form for a new alert rule',
  handle: (call) => renderNew(call, NEW_RULE),
});

const create = operationForm({
  path: PATH,
  operation: 'submitAlert',
  summary: 'Create an alert rule with the form',
  route: alertOperations.create,
  read: readValues,
  body: (values, { app }) => bodyOf(app, values),
  labels: RULE_LABELS,
  next: ({ id }) => `${PATH}/${id}?done=created`,
  onProblem: (call, problem, values) => renderNew(call, values, problem),
});

// One rule.

const DONE: Record<string, string> = {
  created: 'Rule created. Send a test to check its channels.',
  saved: 'Changes saved.',
  tested: 'Sample notifications queued. See the results below.',
};

/** How many incidents the page of a rule shows. */
const SHOWN_INCIDENTS = 5;

interface PageState {
  done?: string;
  /** What was typed. */
  values?: RuleValues;
  problem?: FormProblem | null;
  /** A problem with a button rather than with the form. */
  actionProblem?: FormProblem | null;
}

async function renderRule(call: PageCall, id: string, state: PageState) {
  const { done, problem = null, actionProblem = null } = state;
  const { app, actor } = call;
  const params = { id };
  const alert = await call.invoke(alertOperations.get, { params });
  const query = { limit: String(SHOWN_INCIDENTS) };
  const incidents = await call.invoke(alertOperations.listIncidentsOfAlert, { params, query });
  const lastTest = await call.invoke(alertOperations.lastTest, { params });
  const domain = alert.domain_id === null ? null : await findDomain(app.db, alert.domain_id);
  const canChange = allows(actor.role, 'admin') && actor.livemode;
  const context = canChange ? await ruleFormContext(call, alert) : null;
  const path = `${PATH}/${id}`;
  const failure = problem ?? actionProblem;
  return appPage(call, {
    suggestTags: true,
    title: alert.name,
    section: 'alerts',
    path,
    parents: PARENTS,
    status: failure?.status,
    headers: failure?.headers,
    calls: [
      { route: alertOperations.get, params },
      { route: alertOperations.listIncidentsOfAlert, params, query },
    ],
    children: (
      <>
        {done !== undefined && Object.hasOwn(DONE, done) && (
          <Notice tone="pass">{DONE[done]}</Notice>
        )}
        <ProblemNotice problem={actionProblem} />
        <Card>
          <RuleFacts alert={alert} domain={domain?.name ?? null} />
          <LiveOnlyNote />
        </Card>
        <Incidents alert={alert} incidents={incidents.data} hasMore={incidents.has_more} />
        <TestCard alert={alert} test={lastTest} canSend={canChange} />
        {context && (
          <Card title="Edit rule" id="edit">
            <RuleForm
              {...context}
              action={path}
              values={state.values ?? valuesOf(alert, domain?.name ?? null)}
              version={versionOf(alertOperations.get, alert)}
              problem={problem}
              submit="Save changes"
            />
          </Card>
        )}
        {canChange && (
          <Confirm
            action={`${path}/delete`}
            label="Delete rule…"
            warning="Its open incidents are resolved and stay listed. This cannot be undone."
            confirm="Delete rule"
          />
        )}
      </>
    ),
  });
}

function RuleFacts({ alert, domain }: { alert: Alert; domain: string | null }) {
  const { domain_id } = alert;
  return (
    <Facts
      items={[
        ['State', <RuleState key="state" alert={alert} />],
        ['Alerts when', conditionText(alert)],
        [
          'Domain',
          domain_id === null ? (
            alert.tags ? (
              `With the tags ${alert.tags.join(', ')}`
            ) : (
              'All domains'
            )
          ) : (
            <a href={`/domains/${domain_id}`}>
              <bdi>{domain ?? domain_id}</bdi>
            </a>
          ),
        ],
        ['Channels', <Channels key="channels" alert={alert} />],
        ...CHANNEL_IDS.flatMap((id) => settingFacts(alert, id)),
        ['Reminders', remindersText(alert)],
        ['Last triggered', <LastTriggered key="last" at={alert.last_triggered_at} />],
        ['Created', <Ago key="created" at={alert.created_at} />],
      ]}
    />
  );
}

function remindersText({ reminder_hours: hours }: Alert): string {
  if (hours === null) return 'None';
  return hours === 1
    ? 'Every hour while an incident is open'
    : `Every ${hours} hours while an incident is open`;
}

/** Nothing about the recipients of a rule without emails. */
function settingFacts(
  alert: Alert,
  id: ChannelId,
): [label: string, value: preact.ComponentChildren][] {
  return CHANNELS[id].fields.map((field) => {
    const { label, kind, isSecret } = field;
    const shown = (alert as Record<string, unknown>)[shownName(field)] ?? null;
    if (kind === 'addresses') {
      const addresses = (shown as string[] | null)?.join(', ') ?? 'The owner and all admins';
      return [label, alert.channels.includes(id) ? addresses : null];
    }
    if (shown === null || shown === false) return [label, null];
    // Only the form has room for it.
    if (kind === 'lines' && !isSecret) return [label, null];
    if (!isSecret) return [label, <bdi key={label}>{String(shown)}</bdi>];
    const text = shown === true ? 'Set' : <bdi>{String(shown)}</bdi>;
    return [label, <span key={label}>{text} (secret)</span>];
  });
}

function Incidents({
  alert,
  incidents,
  hasMore,
}: {
  alert: Alert;
  incidents: AlertIncident[];
  hasMore: boolean;
}) {
  return (
    <section aria-labelledby="incidents-title">
      <div class="section-head">
        <h2 id="incidents-title">Incidents</h2>
        {hasMore && (
          <a href={`${PATH}?status=all&alert_id=${alert.id}`}>All incidents of this rule</a>
        )}
      </div>
      {incidents.length > 0 ? (
        <IncidentTable label="Incidents" incidents={incidents} withState />
      ) : (
        <p class="card quiet muted">This rule has not opened an incident yet.</p>
      )}
    </section>
  );
}

function TestCard({ alert, test, canSend }: { alert: Alert; test: AlertTest; canSend: boolean }) {
  const { notifications } = test;
  if (!canSend && notifications.length === 0) return null;
  const isQueued = notifications.some(({ status }) => status === 'queued');
  return (
    <Card
      title="Test the channels"
      id="test"
      actions={
        canSend && <ActionButton action={`${PATH}/${alert.id}/test`}>Send a test</ActionButton>
      }
    >
      {notifications.length === 0 ? (
        <p class="muted">
          No test sent yet. A test sends a sample notification to each channel and opens no
          incident.
        </p>
      ) : (
        <DataTable
          label="Result of the last test"
          rows={notifications}
          keyOf={({ channel, recipient }) => `${channel} ${recipient}`}
          columns={[
            {
              title: 'Channel',
              cell: ({ channel, recipient }) => (
                <>
                  <span class="nowrap">{channelName(channel)}</span>
                  {recipient && (
                    <span class="row-note">
                      <bdi>{recipient}</bdi>
                    </span>
                  )}
                </>
              ),
            },
            {
              title: 'Result',
              cell: (notification) => (
                <>
                  <NotificationMark {...notification} />
                  {notification.error && (
                    <span class="row-note">
                      <bdi>{asErrorSentence(notification.error)}</bdi>
                    </span>
                  )}
                </>
              ),
            },
            {
              title: 'Sent',
              cell: ({ sent_at }) => (sent_at ? <Ago at={sent_at} /> : '–'),
              wide: true,
            },
          ]}
        />
      )}
      {isQueued && (
        <p class="small muted">
          Queued samples are sent within seconds. <a href={`${PATH}/${alert.id}#test`}>Refresh</a>
        </p>
      )}
    </Card>
  );
}

const show = page({
  path: `${PATH}/:id`,
  operation: 'showAlert',
  limited: true,
  role: 'member',
  summary: 'Show an alert rule',
  query: PageQuery,
  handle: (call) => renderRule(call, call.params.id!, call.query),
});

const update = operationForm({
  path: `${PATH}/:id`,
  operation: 'submitAlertChanges',
  summary: 'Change an alert rule with the form',
  route: alertOperations.update,
  read: readValues,
  body: (values, { app }) => bodyOf(app, values),
  labels: RULE_LABELS,
  next: ({ id }) => `${PATH}/${id}?done=saved`,
  onProblem: (call, problem, values) => renderRule(call, call.params.id!, { values, problem }),
});

const sendTest = operationForm({
  path: `${PATH}/:id/test`,
  operation: 'submitAlertTest',
  summary: 'Send a sample notification with the button',
  route: alertOperations.test,
  next: (_, { params }) => `${PATH}/${params.id}?done=tested#test`,
  onProblem: (call, actionProblem) => renderRule(call, call.params.id!, { actionProblem }),
});

const remove = operationForm({
  path: `${PATH}/:id/delete`,
  operation: 'submitAlertDeletion',
  summary: 'Delete an alert rule with the button',
  route: alertOperations.remove,
  next: () => `${PATH}?done=deleted`,
});

/** The form for a new rule comes first, because its path matches that of a rule too. */
export const alertRulePages = [showNew, create, show, update, sendTest, remove];
