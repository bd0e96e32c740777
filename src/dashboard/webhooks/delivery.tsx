/** The page of a delivery: the event, and each attempt with its response. */

import { printable, printableJson } from '../../lib/log.ts';
import { Chevron, Copyable, ScrollArea, StateMark } from '../../ui/components.tsx';
import { deliveryOperations, endpointOperations } from '../../webhooks/routes.ts';
import type { WebhookDelivery } from '../../webhooks/schema.ts';
import { ActionButton } from '../frame/action.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card, Facts } from '../frame/card.tsx';
import { type FormProblem, Notice, PageQuery, ProblemNotice } from '../frame/form.tsx';
import { operationForm } from '../frame/operation-form.ts';
import { page } from '../frame/page-route.ts';
import { asErrorSentence, Waiting } from '../frame/states.tsx';
import { Ago, durationText, Time } from '../frame/times.tsx';
import { DeliveryState, PARENTS, PATH } from './parts.tsx';

const DELIVERIES = `${PATH}/deliveries`;

const DONE: Record<string, string> = {
  tested: 'Test event sent.',
  resent: 'Event resent.',
};

/** How long the page waits for the outcome after the event was sent. */
const WAIT_S = '5';

interface State {
  done?: string;
  problem?: FormProblem | null;
}

async function render(call: PageCall, id: string, { done, problem = null }: State) {
  const params = { id };
  const isJustSent = done !== undefined && Object.hasOwn(DONE, done);
  const delivery = await call.invoke(deliveryOperations.get, {
    params,
    query: { wait: isJustSent ? WAIT_S : undefined },
  });
  const endpoint = await call.invoke(endpointOperations.get, {
    params: { id: delivery.endpoint_id },
  });
  const { url, status: endpointStatus } = endpoint;
  const { host } = new URL(url);
  const hasEvent = delivery.payload !== null;
  return appPage(call, {
    title: `Delivery of ${delivery.event_type}`,
    section: 'webhooks',
    path: `${DELIVERIES}/${id}`,
    parents: [...PARENTS, { href: `${PATH}/${delivery.endpoint_id}`, text: host }],
    status: problem?.status,
    headers: problem?.headers,
    actions: hasEvent && endpointStatus === 'active' && (
      <ActionButton action={`${DELIVERIES}/${id}/resend`} primary>
        Resend
      </ActionButton>
    ),
    calls: [{ route: deliveryOperations.get, params }],
    children: (
      <>
        {isJustSent && !problem && <Outcome delivery={delivery} text={DONE[done]!} />}
        <ProblemNotice problem={problem} />
        <Card>
          <p class="mono endpoint-url">
            POST <bdi>{url}</bdi>
          </p>
          <Facts
            items={[
              ['State', <DeliveryState key="state" delivery={delivery} />],
              [
                'Next attempt',
                delivery.next_attempt_at && <Ago key="next" at={delivery.next_attempt_at} />,
              ],
              ['Event', <Copyable key="event" text={delivery.event_id} label="the event ID" />],
              ['Created', <Time key="created" at={delivery.created_at} />],
            ]}
          />
          {endpointStatus !== 'active' && (
            <p class="muted">
              The endpoint is disabled. Enable it on <a href={`${PATH}/${endpoint.id}`}>its page</a>{' '}
              to resend this delivery.
            </p>
          )}
        </Card>
        <Attempts delivery={delivery} />
        <Payload payload={delivery.payload} />
      </>
    ),
  });
}

/** The result of what the reader has just sent. */
function Outcome({ delivery, text }: { delivery: WebhookDelivery; text: string }) {
  const last = delivery.attempts.at(-1);
  if (delivery.status === 'succeeded')
    return (
      <Notice tone="pass">
        {text} The endpoint responded with {last?.response_status}.
      </Notice>
    );
  if (last?.error) return <Notice tone="fail">{`${text} ${asErrorSentence(last.error)}`}</Notice>;
  return (
    <Notice tone="info">
      {text} The endpoint has not responded yet.{' '}
      <a href={`${DELIVERIES}/${delivery.id}`}>Refresh</a>
    </Notice>
  );
}

function Attempts({ delivery }: { delivery: WebhookDelivery }) {
  const { attempts, next_attempt_at, status } = delivery;
  const newestFirst = attempts.toReversed();
  return (
    <Card title="Attempts" id="attempts">
      <ol class="timeline">
        {status === 'pending' && (
          <li>
            <Waiting>{next_attempt_at ? 'Next attempt' : 'In progress'}</Waiting>{' '}
            {next_attempt_at && (
              <span class="when">
                <Ago at={next_attempt_at} />
              </span>
            )}
          </li>
        )}
        {newestFirst.map((attempt, index) => (
          <AttemptItem
            key={attempt.number}
            attempt={attempt}
            isOpen={index === 0}
            isRunning={index === 0 && status === 'pending' && next_attempt_at === null}
          />
        ))}
      </ol>
      {attempts.length === 0 && status !== 'pending' && (
        <p class="muted">No attempt was made, because the endpoint was disabled.</p>
      )}
    </Card>
  );
}

type Attempt = WebhookDelivery['attempts'][number];

const TRIGGERS: Record<Attempt['trigger'], string> = {
  event: 'First attempt',
  test: 'Test event',
  resend: 'Resent manually',
  recover: 'Recovery',
  retry: 'Retry',
};

function AttemptItem({
  attempt,
  isOpen,
  isRunning,
}: {
  attempt: Attempt;
  isOpen: boolean;
  isRunning: boolean;
}) {
  const { number, trigger, started_at, duration_ms, response_status, error } = attempt;
  // An attempt without a duration is in progress or was interrupted.
  const state = error !== null ? 'fail' : duration_ms === null ? 'unknown' : 'pass';
  return (
    <li class={state}>
      <details class="attempt" open={isOpen}>
        <summary>
          <Chevron />
          {isRunning ? (
            <Waiting>In progress</Waiting>
          ) : (
            <StateMark state={state} word={outcomeOf(attempt)} />
          )}
          <span>
            {TRIGGERS[trigger]}
            {trigger === 'retry' && ` (attempt ${number})`}
          </span>
          <span class="when">
            <Time at={started_at} />
            {duration_ms !== null && ` · ${inWords(duration_ms)}`}
          </span>
        </summary>
        <div class="stack">
          {error !== null && (
            <p>
              <bdi>{asErrorSentence(error)}</bdi>
            </p>
          )}
          {response_status === null && error === null && (
            <p class="muted">{isRunning ? 'No response yet.' : 'The attempt was interrupted.'}</p>
          )}
          <Headers title="Response headers" headers={attempt.response_headers} number={number} />
          <ResponseBody body={attempt.response_body} number={number} />
          <details>
            <summary class="small">
              <Chevron /> Request headers
            </summary>
            <Headers title="Request headers" headers={attempt.request_headers} number={number} />
          </details>
        </div>
      </details>
    </li>
  );
}

/** "182 ms", "15 s". */
const inWords = (ms: number): string => (ms < 1000 ? `${ms} ms` : durationText(ms));

function outcomeOf({ response_status, error, duration_ms }: Attempt): string {
  if (response_status !== null) return String(response_status);
  if (error !== null) return 'No response';
  return duration_ms === null ? 'Interrupted' : 'Sent';
}

function Headers({
  title,
  headers,
  number,
}: {
  title: string;
  headers: Record<string, string> | null;
  number: number;
}) {
  if (headers === null || Object.keys(headers).length === 0) return null;
  return (
    <>
      <h3 class="small">{title}</h3>
      <ScrollArea label={`${title} of attempt ${number}`} class="box response-body">
        <pre>
          {Object.entries(headers).map(([name, value]) => (
            <span key={name}>
              {name}: <bdi>{printable(value)}</bdi>
              {'\n'}
            </span>
          ))}
        </pre>
      </ScrollArea>
    </>
  );
}

/** As the receiver wrote it, except that characters which control or reorder text are replaced. */
const printableLines = (text: string): string => text.replace(/[^\r\n\t]+/g, printable);

function ResponseBody({ body, number }: { body: string | null; number: number }) {
  if (body === null) return null;
  return (
    <>
      <h3 class="small">Response body</h3>
      {body === '' ? (
        <p class="small muted">Empty.</p>
      ) : (
        <ScrollArea label={`Response body of attempt ${number}`} class="box response-body">
          <pre>{printableLines(body)}</pre>
        </ScrollArea>
      )}
      {body.length >= MAX_BODY_LENGTH && <p class="small muted">Only the first 4 KB are kept.</p>}
    </>
  );
}

const MAX_BODY_LENGTH = 4096;

/** The event as the endpoint gets it, but indented. */
function Payload({ payload }: { payload: string | null }) {
  return (
    <Card title="Event" id="event">
      {payload === null ? (
        <p class="muted">This event is no longer stored, so it cannot be resent.</p>
      ) : (
        <>
          <ScrollArea label="Event" class="box payload">
            <pre>{indented(payload)}</pre>
          </ScrollArea>
          <details>
            <summary class="small">
              <Chevron /> Exact request body
            </summary>
            <div class="box command">
              <Copyable text={payload} label="the request body" />
            </div>
          </details>
        </>
      )}
    </Card>
  );
}

/** Characters that change the text direction are escaped, as JSON allows. */
const indented = (json: string): string => printableJson(JSON.parse(json), 2);

const show = page({
  path: `${DELIVERIES}/:id`,
  operation: 'showWebhookDelivery',
  role: 'admin',
  summary: 'Show a webhook delivery',
  query: PageQuery,
  handle: (call) => render(call, call.params.id!, { done: call.query.done }),
});

const resend = operationForm({
  path: `${DELIVERIES}/:id/resend`,
  operation: 'submitWebhookResend',
  summary: 'Resend a delivery with the button',
  route: deliveryOperations.resend,
  next: ({ id }) => `${DELIVERIES}/${id}?done=resent`,
  onProblem: (call, problem) => render(call, call.params.id!, { problem }),
});

export const deliveryPages = [show, resend];
