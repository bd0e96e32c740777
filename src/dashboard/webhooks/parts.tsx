/** What the pages about webhooks share: states, event types, and the secret that is shown once. */

import { EVENT_SUMMARIES } from '../../events/event-types.generated.ts';
import { Copyable, StateMark } from '../../ui/components.tsx';
import type { Outcomes } from '../../webhooks/delivery-figures.ts';
import type { ListedDelivery, WebhookEndpoint } from '../../webhooks/schema.ts';
import { Card } from '../frame/card.tsx';
import { NotSetUp, Waiting } from '../frame/states.tsx';

export const PATH = '/webhooks';
export const PARENTS = [{ href: PATH, text: 'Webhooks' }];

/** Each event type with its meaning in a line. */
export const EVENTS: [type: string, meaning: string][] = Object.entries(EVENT_SUMMARIES);

type StateOf = Pick<WebhookEndpoint, 'status' | 'failing_since'>;

export function EndpointState({ endpoint: { status, failing_since } }: { endpoint: StateOf }) {
  if (status === 'auto_disabled') return <StateMark state="fail" word="Auto-disabled" />;
  if (status === 'disabled') return <StateMark state="unknown" word="Disabled" />;
  if (failing_since !== null) return <StateMark state="warn" word="Failing" />;
  return <StateMark state="pass" word="Active" />;
}

export function DeliveryState({ delivery }: { delivery: Pick<ListedDelivery, 'status'> }) {
  const { status } = delivery;
  if (status === 'pending') return <Waiting>Pending</Waiting>;
  if (status === 'held') return <StateMark state="warn" word="Held" />;
  if (status === 'failed') return <StateMark state="fail" word="Failed" />;
  return <StateMark state="pass" word="Succeeded" />;
}

/** Of the newest deliveries that have ended. */
export function SuccessRate({ outcomes }: { outcomes: Outcomes | undefined }) {
  if (!outcomes) return <NotSetUp>No deliveries yet</NotSetUp>;
  const { finished, succeeded } = outcomes;
  if (finished === 0) return <Waiting>Pending</Waiting>;
  const percent = Math.floor((100 * succeeded) / finished);
  const state = percent === 100 ? 'pass' : percent >= 50 ? 'warn' : 'fail';
  return <StateMark state={state} word={`${percent}% of ${finished}`} />;
}

/** For a table: "test.completed and 2 more". */
export function eventsSummary(events: readonly string[]): string {
  const [first, ...others] = events;
  if (first === undefined || first === '*') return 'All events';
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

export const eventsText = (events: readonly string[]): string =>
  events.includes('*') ? 'All events' : events.join(', ');

/** The signing secret, in the only page that contains it. */
export function SecretCard({
  secret,
  children,
}: {
  secret: string;
  children?: preact.ComponentChildren;
}) {
  return (
    <Card title="Copy the signing secret now" id="secret">
      <p>
        It is shown only once. Store it where only your program can read it, and{' '}
        <a href="/docs#events">verify the signature</a> of each event with it.
      </p>
      <div class="box">
        <Copyable text={secret} label="the signing secret" />
      </div>
      {children}
    </Card>
  );
}
