/** The page of a webhook endpoint: state, deliveries, settings, secret. */

import * as v from 'valibot';
import { EVENT_TYPES } from '../../events/events.ts';
import { isoTime } from '../../lib/clock.ts';
import { StateMark } from '../../ui/components.tsx';
import {
  MAX_COUNTED_DELIVERIES,
  type MissedDeliveries,
  missedDeliveries,
  recentOutcomes,
} from '../../webhooks/delivery-figures.ts';
import { deliveryOperations, endpointOperations } from '../../webhooks/routes.ts';
import type { ListedDelivery, WebhookEndpoint } from '../../webhooks/schema.ts';
import { ActionButton, Confirm } from '../frame/action.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card, Facts } from '../frame/card.tsx';
import { Filters } from '../frame/filters.tsx';
import { type FormProblem, Notice, ProblemNotice, readForm, Select } from '../frame/form.tsx';
import { operationForm } from '../frame/operation-form.ts';
import { page } from '../frame/page-route.ts';
import { useReader } from '../frame/reader.tsx';
import { EmptyState } from '../frame/states.tsx';
import { DataTable, Pager } from '../frame/table.tsx';
import { Ago, Time } from '../frame/times.tsx';
import { versionOf } from '../frame/version.tsx';
import {
  bodyOf,
  ENDPOINT_LABELS,
  EndpointForm,
  type EndpointValues,
  readValues,
  valuesOf,
} from './endpoint-form.tsx';
import {
  DeliveryState,
  EndpointState,
  eventsText,
  PARENTS,
  PATH,
  SecretCard,
  SuccessRate,
} from './parts.tsx';

const Query = v.strictObject({
  starting_after: v.optional(v.string()),
  ending_before: v.optional(v.string()),
  status: v.optional(v.string()),
  event_type: v.optional(v.string()),
  done: v.optional(v.string()),
  /** How many deliveries a recovery resends. */
  count: v.optional(v.string()),
});
type Query = v.InferOutput<typeof Query>;

const DONE: Record<string, string> = {
  saved: 'Changes saved.',
  enabled: 'Endpoint enabled. Now recover the deliveries that it missed.',
  disabled: 'Endpoint disabled. Pending deliveries are held.',
};

const STATUSES: [ListedDelivery['status'], string][] = [
  ['pending', 'Pending'],
  ['succeeded', 'Succeeded'],
  ['failed', 'Failed'],
  ['held', 'Held'],
];

interface State {
  query?: Query;
  /** What was typed. */
  values?: EndpointValues;
  problem?: FormProblem | null;
  /** A problem with a button rather than with the form. */
  actionProblem?: FormProblem | null;
  /** The new secret after a rotation. */
  secret?: string;
}

async function render(call: PageCall, id: string, state: State) {
  const { query = {}, problem = null, actionProblem = null, secret } = state;
  const { db } = call.app;
  const params = { id };
  const endpoint = await call.invoke(endpointOperations.get, { params });
  const { starting_after, ending_before } = query;
  const status = STATUSES.find(([name]) => name === query.status)?.[0];
  const event_type = EVENT_TYPES.find((type) => type === query.event_type);
  const listQuery = { status, event_type, starting_after, ending_before };
  const deliveries = await call.invoke(deliveryOperations.list, { params, query: listQuery });
  const outcomes = await recentOutcomes(db, [id]);
  const missed = await missedDeliveries(db, id);
  const path = `${PATH}/${id}`;
  const failure = problem ?? actionProblem;
  return appPage(call, {
    title: new URL(endpoint.url).host,
    section: 'webhooks',
    path,
    parents: PARENTS,
    status: failure?.status,
    headers: secret === undefined ? failure?.headers : { 'cache-control': 'no-store' },
    actions: endpoint.status === 'active' && (
      <ActionButton action={`${path}/test`} primary>
        Send a test event
      </ActionButton>
    ),
    calls: [
      { route: endpointOperations.get, params },
      { route: deliveryOperations.list, params, query: listQuery },
    ],
    children: (
      <>
        <Done query={query} />
        <ProblemNotice problem={actionProblem} />
        {secret !== undefined && <SecretCard secret={secret} />}
        <Trouble endpoint={endpoint} missed={missed} />
        <Card>
          <p class="mono endpoint-url">
            <bdi>{endpoint.url}</bdi>
          </p>
          <Facts
            items={[
              ['State', <EndpointState key="state" endpoint={endpoint} />],
              ['Recent success rate', <SuccessRate key="rate" outcomes={outcomes.get(id)} />],
              ['Events', eventsText(endpoint.events)],
              ['Description', endpoint.description && <bdi>{endpoint.description}</bdi>],
              ['Mode', endpoint.livemode ? 'Live' : 'Test mode'],
              ['Created', <Ago key="created" at={endpoint.created_at} />],
            ]}
          />
        </Card>
        {endpoint.status === 'active' && missed.count > 0 && (
          <Recovery path={path} missed={missed} />
        )}
        <section aria-labelledby="deliveries-title">
          <div class="section-head">
            <h2 id="deliveries-title">Deliveries</h2>
            <Filters path={path} active={status !== undefined || event_type !== undefined}>
              <Select
                name="status"
                label="State"
                options={[['', 'All states'], ...STATUSES]}
                value={status}
              />
              <Select
                name="event_type"
                label="Event"
                options={[
                  ['', 'All events'],
                  ...EVENT_TYPES.map((type): [string, string] => [type, type]),
                ]}
                value={event_type}
              />
            </Filters>
          </div>
          <Deliveries
            deliveries={deliveries.data}
            isFiltered={status !== undefined || event_type !== undefined}
          />
          <Pager
            path={path}
            query={{ status, event_type }}
            cursors={{ starting_after, ending_before }}
            rows={deliveries.data}
            hasMore={deliveries.has_more}
          />
        </section>
        <Card title="Settings" id="settings">
          <EndpointForm
            action={path}
            values={state.values ?? valuesOf(endpoint)}
            version={versionOf(endpointOperations.get, endpoint)}
            problem={problem}
            submit="Save changes"
          />
        </Card>
        <Rotation path={path} endpoint={endpoint} />
        <div class="actions">
          {endpoint.status === 'active' ? (
            <ActionButton action={`${path}/state`} fields={{ enabled: 'false' }}>
              Disable endpoint
            </ActionButton>
          ) : (
            <ActionButton action={`${path}/state`} fields={{ enabled: 'true' }}>
              Enable endpoint
            </ActionButton>
          )}
          <Confirm
            action={`${path}/delete`}
            label="Delete endpoint…"
            warning="Its deliveries are deleted too, including pending ones. This cannot be undone."
            confirm="Delete endpoint"
          />
        </div>
      </>
    ),
  });
}

function Done({ query: { done, count } }: { query: Query }) {
  if (done === undefined) return null;
  if (done === 'recovered') return <Notice tone="pass">{recoveredText(Number(count))}</Notice>;
  return Object.hasOwn(DONE, done) ? <Notice tone="pass">{DONE[done]}</Notice> : null;
}

function recoveredText(count: number): string {
  if (count === 0) return 'Nothing to resend: no delivery failed or was held since then.';
  if (count === 1) return '1 delivery is being resent.';
  return Number.isInteger(count)
    ? `${count} deliveries are being resent.`
    : 'The missed deliveries are being resent.';
}

/** What is wrong with the endpoint, and how to recover. */
function Trouble({ endpoint, missed }: { endpoint: WebhookEndpoint; missed: MissedDeliveries }) {
  const { status, failing_since, auto_disabled_at } = endpoint;
  const path = `${PATH}/${endpoint.id}`;
  if (status === 'auto_disabled')
    return (
      <div class="notice fail">
        <svg class="icon" aria-hidden="true">
          <use href="#icon-fail" />
        </svg>
        <div class="stack">
          <p>
            <strong>This endpoint was disabled automatically</strong>
            {auto_disabled_at && (
              <>
                {' '}
                (<Ago at={auto_disabled_at} />)
              </>
            )}
            : every attempt failed for five days. No events are lost: new ones are held until you
            recover them.
          </p>
          <ol class="steps">
            <li>Open a failed delivery below to see the response. Fix your program or the URL.</li>
            <li>
              Enable it again.{' '}
              <ActionButton action={`${path}/state`} fields={{ enabled: 'true' }}>
                Enable endpoint
              </ActionButton>
            </li>
            <li>Recover what it missed: {missedText(missed)}.</li>
          </ol>
        </div>
      </div>
    );
  if (status === 'active' && failing_since !== null)
    return (
      <Notice tone="warn">
        Every attempt has failed since <Time at={failing_since} />. After five days without a
        success, the endpoint is disabled automatically.
      </Notice>
    );
  return null;
}

const missedText = ({ count }: MissedDeliveries): string => {
  if (count === 1) return '1 delivery';
  return count > MAX_COUNTED_DELIVERIES
    ? `more than ${MAX_COUNTED_DELIVERIES} deliveries`
    : `${count} deliveries`;
};

function Deliveries({
  deliveries,
  isFiltered,
}: {
  deliveries: ListedDelivery[];
  isFiltered: boolean;
}) {
  if (deliveries.length === 0)
    return isFiltered ? (
      <p class="card quiet muted">No deliveries match the filters.</p>
    ) : (
      <EmptyState title="No deliveries yet">
        Deliveries appear here as events occur. A test event appears immediately.
      </EmptyState>
    );
  return (
    <DataTable
      label="Deliveries"
      rows={deliveries}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `${PATH}/deliveries/${id}`}
      columns={[
        {
          title: 'Event',
          cell: ({ event_type, event_id }) => (
            <>
              {event_type}
              <code class="row-note wide-note">{event_id}</code>
            </>
          ),
        },
        { title: 'State', cell: (delivery) => <DeliveryState delivery={delivery} /> },
        { title: 'Created', cell: ({ created_at }) => <Ago at={created_at} /> },
        {
          title: 'Next attempt',
          cell: ({ next_attempt_at }) => (next_attempt_at ? <Ago at={next_attempt_at} /> : '–'),
          wide: true,
        },
      ]}
    />
  );
}

const ALL_MISSED = 'all';
const PERIODS: [seconds: string, text: string][] = [
  ['3600', 'The last hour'],
  ['86400', 'The last 24 hours'],
  ['604800', 'The last 7 days'],
];

function Recovery({ path, missed }: { path: string; missed: MissedDeliveries }) {
  return (
    <Card title="Recover missed deliveries" id="recover">
      <p>
        <StateMark state="warn" word={missedText(missed)} /> failed or{' '}
        {missed.count === 1 ? 'was' : 'were'} held
        {missed.oldestAt && (
          <>
            , the oldest <Ago at={missed.oldestAt} />
          </>
        )}
        . Recovery resends each of them immediately. Your program may get an event twice.
      </p>
      <form method="post" action={`${path}/recover`} class="fields">
        <Select
          name="since"
          label="Resend deliveries from"
          options={[[ALL_MISSED, 'All time'], ...PERIODS]}
        />
        <button type="submit" class="button primary">
          Resend missed deliveries
        </button>
      </form>
    </Card>
  );
}

const OVERLAPS: [seconds: string, text: string][] = [
  ['86400', 'For 24 hours'],
  ['3600', 'For 1 hour'],
  ['604800', 'For 7 days'],
  ['0', 'No longer: it may have leaked'],
];

function Rotation({ path, endpoint }: { path: string; endpoint: WebhookEndpoint }) {
  const { now } = useReader();
  const { previous_secret_expires_at: until } = endpoint;
  return (
    <Card title="Signing secret" id="signing-secret">
      <p>
        Each event is signed with the secret of this endpoint. It was shown when it was created and
        cannot be shown again.
      </p>
      {until !== null && Date.parse(until) > now && (
        <p>
          The previous secret also signs until <Time at={until} />.
        </p>
      )}
      <Confirm
        action={`${path}/rotate`}
        label="Rotate secret…"
        warning="The new secret is shown once. Choose how long events are also signed with the current secret."
        confirm="Rotate secret"
      >
        <Select name="overlap" label="Keep the current secret" options={OVERLAPS} />
      </Confirm>
    </Card>
  );
}

const show = page({
  path: `${PATH}/:id`,
  operation: 'showWebhook',
  role: 'admin',
  summary: 'Show a webhook endpoint',
  query: Query,
  handle: (call) => render(call, call.params.id!, { query: call.query }),
});

const update = operationForm({
  path: `${PATH}/:id`,
  operation: 'submitWebhookChanges',
  summary: 'Change a webhook endpoint with the form',
  route: endpointOperations.update,
  read: readValues,
  body: bodyOf,
  labels: ENDPOINT_LABELS,
  next: ({ id }) => `${PATH}/${id}?done=saved`,
  onProblem: (call, problem, values) => render(call, call.params.id!, { values, problem }),
});

const changeState = operationForm({
  path: `${PATH}/:id/state`,
  operation: 'submitWebhookState',
  summary: 'Enable or disable a webhook endpoint with the button',
  route: endpointOperations.update,
  body: (_, { raw }) => ({ enabled: readForm(raw)('enabled') === 'true' }),
  next: ({ id, enabled }) => `${PATH}/${id}?done=${enabled ? 'enabled' : 'disabled'}`,
});

const withActionProblem = (
  call: PageCall & { params: Record<string, string> },
  problem: FormProblem,
) => render(call, call.params.id!, { actionProblem: problem });

const rotate = operationForm({
  path: `${PATH}/:id/rotate`,
  operation: 'submitWebhookRotation',
  summary: 'Rotate the secret of a webhook endpoint with the button',
  route: endpointOperations.rotateSecret,
  body: (_, { raw }) => ({ overlap: Number(readForm(raw)('overlap')) }),
  // The secret is in this response only, so there is no redirect.
  next: ({ id, secret }, call) => render(call, id, { secret }),
  onProblem: withActionProblem,
});

const sendSample = operationForm({
  path: `${PATH}/:id/test`,
  operation: 'submitWebhookTest',
  summary: 'Send a sample event with the button',
  route: deliveryOperations.sendSample,
  next: ({ id }) => `${PATH}/deliveries/${id}?done=tested`,
  onProblem: withActionProblem,
});

const recover = operationForm({
  path: `${PATH}/:id/recover`,
  operation: 'submitWebhookRecovery',
  summary: 'Resend missed deliveries with the button',
  route: deliveryOperations.recover,
  body: (_, { app, raw }) => ({ since: sinceOf(readForm(raw)('since'), app.clock.now()) }),
  next: ({ recovered }, { params }) => `${PATH}/${params.id}?done=recovered&count=${recovered}`,
  onProblem: withActionProblem,
});

/** Deliveries are deleted long before they are as old as the epoch. */
const sinceOf = (period: string, now: number): string =>
  PERIODS.some(([seconds]) => seconds === period)
    ? isoTime(now - Number(period) * 1000)
    : isoTime(0);

const remove = operationForm({
  path: `${PATH}/:id/delete`,
  operation: 'submitWebhookDeletion',
  summary: 'Delete a webhook endpoint with the button',
  route: endpointOperations.remove,
  next: () => `${PATH}?done=deleted`,
});

export const endpointPages = [show, update, changeState, rotate, sendSample, recover, remove];
