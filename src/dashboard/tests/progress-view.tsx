/** The page of a test without a result: the address to send to, a checklist, and what to do if nothing arrives. */

import type { ComponentChildren } from 'preact';
import type { AnalysisStep, StepOutcome } from '../../analysis/analyze.ts';
import { formatSize } from '../../lib/durations.ts';
import { presentPlacement } from '../../mailtests/placement.ts';
import type { ListedTest } from '../../mailtests/schema.ts';
import { oneLine } from '../../report/blocks.ts';
import type { TestRow } from '../../store/tables.generated.ts';
import { Copyable } from '../../ui/components.tsx';
import { Card } from '../frame/card.tsx';
import { Notice } from '../frame/form.tsx';
import { For } from '../frame/reader.tsx';
import { Ago, Time } from '../frame/times.tsx';
import { CreateSimilarTest } from './actions.tsx';
import type { Client, Progress } from './progress.ts';

type StepState = 'pass' | 'warn' | 'fail' | 'unknown' | 'waiting' | 'unset';

interface Step {
  state: StepState;
  /** For screen readers, which see no icon. */
  word: string;
  title: ComponentChildren;
  note?: ComponentChildren;
}

const WORDS: Record<StepState, string> = {
  pass: 'Done',
  warn: 'Warning',
  fail: 'Failed',
  unknown: 'Not known',
  waiting: 'In progress',
  unset: 'Not started',
};

interface Props {
  test: ListedTest;
  progress: Progress;
}

/** Where the SMTP listener can be reached from this machine. */
export interface SmtpServer {
  host: string;
  port: number;
}

/**
 * `server` is given if no other server can find the domain of the address. The parts with an ID are
 * replaced while the page is open; the others stay.
 */
export function ProgressPage({ test, progress, server }: Props & { server: SmtpServer | null }) {
  return (
    <>
      {test.status === 'failed' && <FailureNotice test={test} progress={progress} />}
      <div class="test-progress">
        {test.status === 'failed' && <NextStep test={test} progress={progress} />}
        {test.status === 'waiting' && <AddressCard test={test} server={server} />}
        <Card title="Progress" id="progress-card">
          <ol class="checklist" id="checklist" data-live>
            {stepsOf(test, progress).map(({ state, word, title, note }, index) => (
              <li key={`${index + 1}`} class={`step-${state}`}>
                <svg class={`icon state ${state}`} aria-hidden="true">
                  <use href={`#icon-${state}`} />
                </svg>
                <div>
                  <p>
                    <span class="visually-hidden">{word}: </span>
                    {title}
                  </p>
                  {note && <p class="small muted">{note}</p>}
                </div>
              </li>
            ))}
          </ol>
          <p id="connection-lost" class="small muted" hidden>
            The connection to this service was lost. This page reconnects automatically.
          </p>
          {test.status !== 'failed' && (
            <p class="small no-script">
              <a href={`/tests/${test.id}`}>Check again</a>
            </p>
          )}
        </Card>
        <div id="help" data-live>
          {progress.rejection ? (
            <RejectionHelp rejection={progress.rejection} />
          ) : (
            progress.isLate && <LateHelp address={test.address} />
          )}
        </div>
      </div>
    </>
  );
}

function AddressCard({ test, server }: { test: ListedTest; server: SmtpServer | null }) {
  const { address, seed_addresses, expires_at } = test;
  return (
    <Card title="Send one message to this address" id="address-card">
      <div class="test-address">
        <Copyable text={address} label="the test address" />
      </div>
      {server ? (
        <DirectDelivery domain={address.slice(address.indexOf('@') + 1)} server={server} />
      ) : (
        <p>
          Send it as you send to your recipients: from the same server or service, with the same
          content. Or <a href={`mailto:${address}`}>write it in your email program</a>.
        </p>
      )}
      {seed_addresses.length > 0 && (
        <div>
          <p>
            Send the same message to{' '}
            {seed_addresses.length === 1
              ? 'this seed mailbox'
              : `these ${seed_addresses.length} seed mailboxes`}
            , to see where it arrives:
          </p>
          <div class="box seed-addresses">
            <Copyable
              text={seed_addresses.map((seed) => seed.address).join(', ')}
              label="the seed addresses"
            />
          </div>
        </div>
      )}
      <p class="small muted">
        Accepts one message until <Time at={expires_at} /> (<Ago at={expires_at} />
        ).
      </p>
    </Card>
  );
}

function DirectDelivery({
  domain,
  server: { host, port },
}: {
  domain: string;
  server: SmtpServer;
}) {
  return (
    <p>
      Other servers cannot find <bdi>{domain}</bdi>, because the name is reserved for tests. Have
      your program send to{' '}
      <code>
        {host}:{port}
      </code>
      , without a password.
      <For role="member">
        {' '}
        Or <a href="/tests/new">upload or paste the message</a>.
      </For>
    </p>
  );
}

// The checklist.

function stepsOf(test: ListedTest, progress: Progress): Step[] {
  const { status, failure_reason, seed_addresses } = test;
  const isOver = status === 'failed';
  const analysis: StepState = progress.message && !isOver ? 'waiting' : 'unset';
  const steps = [
    connectionStep(progress, isOver),
    messageStep(progress, isOver),
    ...ANALYSIS_STEPS.map(([step, name]) => analysisStep(name, progress.steps[step], analysis)),
  ];
  const last: Step =
    isOver && failure_reason !== 'not_received'
      ? stepOf('fail', 'The analysis failed')
      : progress.retryAt !== null
        ? stepOf('waiting', 'Report', RETRY_NOTE)
        : stepOf('unset', 'Report');
  const placement = stepOf(
    'unset',
    'Placement',
    `Results from ${seed_addresses.length === 1 ? 'the seed mailbox' : `${seed_addresses.length} seed mailboxes`} appear in the report as they come in.`,
  );
  return [...steps, last, ...(seed_addresses.length > 0 && !isOver ? [placement] : [])];
}

const RETRY_NOTE =
  'Some DNS servers did not respond. The service analyzes the message again in a few minutes.';

const ANALYSIS_STEPS: [step: AnalysisStep, name: string][] = [
  ['spf', 'SPF'],
  ['dkim', 'DKIM'],
  ['dmarc', 'DMARC'],
  ['content', 'Content'],
];

const stepOf = (state: StepState, title: ComponentChildren, note?: ComponentChildren): Step => ({
  state,
  word: WORDS[state],
  title,
  note,
});

function connectionStep({ client, rejection, message }: Progress, isOver: boolean): Step {
  if (client?.client_ip)
    return stepOf('pass', <>Connected from {client.client_ip}</>, <ClientNote {...client} />);
  if (message) return stepOf('pass', 'Message uploaded');
  if (rejection) return stepOf('pass', 'Connected');
  return isOver
    ? stepOf('fail', 'No server connected')
    : stepOf('waiting', 'Waiting for a connection');
}

function ClientNote({ helo, tls }: Client) {
  const encryption = tls && (tls.used ? `encrypted (${tls.version ?? 'TLS'})` : 'not encrypted');
  return (
    <>
      {helo && <bdi>{oneLine(helo, 80)}</bdi>}
      {helo && encryption && ', '}
      {encryption}
    </>
  );
}

function messageStep({ client, rejection, message }: Progress, isOver: boolean): Step {
  if (message) {
    const { size, subject } = message;
    return stepOf(
      'pass',
      `Message received (${formatSize(size)})`,
      subject ? <bdi>{oneLine(subject, 120)}</bdi> : isOver ? undefined : 'Subject not known yet',
    );
  }
  if (rejection)
    return stepOf(
      'fail',
      'Message rejected',
      <bdi>{oneLine(`${rejection.code} ${rejection.enhanced} ${rejection.text}`, 300)}</bdi>,
    );
  if (isOver) return stepOf('fail', 'No message received');
  return client ? stepOf('waiting', 'Receiving the message') : stepOf('unset', 'Message');
}

function analysisStep(name: string, outcome: StepOutcome | undefined, otherwise: StepState): Step {
  if (outcome === undefined)
    return stepOf(otherwise, otherwise === 'waiting' ? `Checking ${name}` : name);
  switch (outcome) {
    case 'pass':
      return stepOf('pass', `${name} passes`);
    case 'warn':
      return stepOf('warn', `${name} needs attention`);
    case 'fail':
      return stepOf('fail', `${name} fails`);
    case 'error':
      return stepOf('unknown', `${name} could not be checked`);
    default:
      return stepOf('pass', `${name} checked`);
  }
}

/** What a screen reader announces when it differs from the last announcement. */
export function statusText(
  { status, failure_reason, score, grade }: ListedTest,
  progress: Progress,
): string {
  if (status === 'completed')
    return score === null
      ? 'The report is ready.'
      : `The report is ready. Score ${score}, grade ${grade}.`;
  if (status === 'failed')
    return failure_reason === 'not_received'
      ? 'No message arrived in time.'
      : 'The message could not be analyzed.';
  if (progress.message) return 'Message received. The analysis is running.';
  if (progress.rejection) return `Message rejected: ${progress.rejection.text}`;
  if (progress.client) return `Connected from ${progress.client.client_ip}.`;
  return progress.isLate ? 'No server has connected yet. See the usual reasons below.' : '';
}

/** The placement so far, for screen readers; empty if placement is not tested. */
export function placementText(row: Pick<TestRow, 'placement' | 'received_at'>): string {
  const seeds = presentPlacement(row);
  if (seeds.length === 0) return '';
  const known = seeds.filter(({ placement }) => !['pending', 'unknown'].includes(placement));
  return `Placement is known for ${known.length} of ${seeds.length} seed mailboxes.`;
}

// What to do.

function LateHelp({ address }: { address: string }) {
  return (
    <Card title="No server has connected yet" id="late">
      <p>These are the usual reasons:</p>
      <ol class="usual-reasons">
        <li>
          <h3>The connection is blocked</h3>
          <p>
            Many hosting providers and home networks block outgoing port 25. Ask your provider to
            open it, or send through your usual mail service. If no sender can connect, check the MX
            record of <bdi>{address.slice(address.indexOf('@') + 1)}</bdi> and the firewall of this
            service.
          </p>
        </li>
        <li>
          <h3>The message is still queued</h3>
          <p>
            Your mail server may be waiting to retry. Check its log and its queue, for example with{' '}
            <code>mailq</code>, and flush the queue.
          </p>
        </li>
        <li>
          <h3>The address is wrong, or the message was rejected before it reached this service</h3>
          <p>
            Copy the address again. Look for a bounce message in the mailbox of the sender. This
            service hasn't rejected any message to this address.
          </p>
        </li>
      </ol>
    </Card>
  );
}

function RejectionHelp({ rejection }: { rejection: NonNullable<Progress['rejection']> }) {
  const { code, enhanced, text } = rejection;
  const isTemporary = code < 500;
  return (
    <Card title="This service rejected the message" id="rejected">
      <div class="box">
        <code>
          {code} {enhanced} <bdi>{oneLine(text, 300)}</bdi>
        </code>
      </div>
      <p>
        {isTemporary
          ? 'The rejection is temporary. Mail servers retry within minutes, and this page then continues.'
          : adviceFor(enhanced)}
      </p>
    </Card>
  );
}

function adviceFor(enhanced: string): string {
  switch (enhanced) {
    case '5.3.4':
      return 'The message is larger than this service accepts. Remove attachments and send it again.';
    case '5.2.1':
      return 'The address has expired or was used before. Get a new test address and send the message there.';
    case '5.6.0':
      return 'The message has line endings that mail servers reject. Fix the program that creates the message, then send it again.';
    default:
      return 'Fix the problem that the reply names, then send the message again to the same address.';
  }
}

function FailureNotice({ test, progress }: Props) {
  const { failure_reason, expires_at } = test;
  return (
    <Notice tone="fail">
      {failure_reason === 'not_received' ? (
        <>
          No message arrived before the address expired (<Time at={expires_at} />
          ).{' '}
          {progress.rejection
            ? 'The service rejected the message, as shown below.'
            : progress.client
              ? 'A server connected but sent no complete message.'
              : 'No server connected.'}
        </>
      ) : failure_reason === 'unreadable' ? (
        'The message could not be analyzed: it needs more time or memory than the service allows.'
      ) : (
        'The message could not be analyzed, because DNS servers did not respond or the service failed. The message itself may be fine.'
      )}
    </Notice>
  );
}

function NextStep({ test: { id, failure_reason }, progress }: Props) {
  return (
    <Card title="What to do next" id="next">
      <p>{nextStep(failure_reason, progress)}</p>
      <For role="member">
        <div class="actions">
          <CreateSimilarTest id={id} primary>
            Get a new test address
          </CreateSimilarTest>
        </div>
      </For>
    </Card>
  );
}

function nextStep(reason: ListedTest['failure_reason'], { client }: Progress): string {
  if (reason === 'unreadable')
    return 'Remove unusual parts such as very deep nesting or very large tables, then send the message to a new address.';
  if (reason === 'analysis_error')
    return 'Send the message again to a new address. If it fails again, ask your administrator to check the DNS servers of this service.';
  return client
    ? 'Check the log of your mail server, then send the message to a new address.'
    : 'Check that your server can reach this service on port 25, and check its queue and log. Then send the message to a new address.';
}
