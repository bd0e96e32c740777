/** The set-up as three steps. Each is marked as done automatically; the page shows it without being loaded again. */

import type { DomainFeedback } from '../../domains/feedback/state.ts';
import { StateMark } from '../../ui/components.tsx';
import { DnsRecord } from '../domains/dns-record.tsx';
import { Card } from '../frame/card.tsx';
import { Fold, NotSetUp, Waiting } from '../frame/states.tsx';
import { Ago } from '../frame/times.tsx';

type FeedbackRecord = DomainFeedback['records'][number];

interface SetUpProps {
  domain: string;
  feedback: DomainFeedback;
  /** Whether any report counts, also an uploaded one. */
  isReported: boolean;
}

export function SetUp({ domain, feedback, isReported }: SetUpProps) {
  const { state, records, address, last_report_at } = feedback;
  const [dmarc] = records;
  const isPublished = dmarc?.published === true;
  const hasReport = last_report_at !== null;
  const isWorking = state === 'receiving';
  const isWaiting = isPublished && !hasReport;
  const steps = (
    <ol class="steps">
      <li>
        <Step
          title="Publish the address"
          isDone={isPublished}
          state={dmarc && dmarc.published !== null ? 'Not published yet' : 'Not checked yet'}
        />
        <p>
          Reports go to <code>{address}</code>.{' '}
          {records.length === 0
            ? 'The records to publish are being prepared. This takes a few minutes.'
            : 'Publish these records. They keep your existing addresses. DNS is checked every 10 minutes.'}
        </p>
        {records.map((record) => (
          <RecordToPublish key={record.name} record={record} domain={domain} />
        ))}
      </li>
      <li>
        <Step
          title="Wait for the first report"
          isDone={hasReport}
          isWaiting={isWaiting}
          state="Not started"
        />
        {!hasReport && <p>Most reporters send their first report after 24 to 48 hours.</p>}
      </li>
      <li>
        <Step
          title="Receive reports"
          isDone={isWorking}
          isWaiting={isWaiting}
          state={stateOfReports(state, hasReport)}
        />
        <p>
          {last_report_at === null ? (
            `No report that counts has arrived by email yet.${isReported ? ' This page shows the reports that you uploaded.' : ''}`
          ) : (
            <>
              The last report arrived <Ago at={last_report_at} />.
            </>
          )}
        </p>
      </li>
    </ol>
  );
  return (
    <div
      id="set-up-steps"
      data-refresh={isWorking ? undefined : 'yes'}
      data-status={announced(isPublished, hasReport)}
    >
      {isWorking ? (
        <Fold summary="Set up: receiving reports">{steps}</Fold>
      ) : (
        <Card title={state === 'stopped' ? 'Reports have stopped' : 'Set up'} id="set-up">
          {state === 'stopped' && (
            <p>
              Reports arrived for a week or longer, and none in the last 3 days. Check the records.
            </p>
          )}
          {steps}
        </Card>
      )}
    </div>
  );
}

function stateOfReports(state: DomainFeedback['state'], hasReport: boolean): string {
  if (state === 'stopped') return 'Reports stopped';
  return hasReport ? 'No report in the last 3 days' : 'Not started';
}

function announced(isPublished: boolean, hasReport: boolean): string {
  if (hasReport) return 'The first report has arrived.';
  return isPublished ? 'The address is published.' : '';
}

interface StepProps {
  title: string;
  isDone: boolean;
  isWaiting?: boolean;
  /** Until it is done. */
  state: string;
}

const Step = ({ title, isDone, isWaiting = false, state }: StepProps) => (
  <div class="step-head">
    <h3>{title}</h3>
    {isDone ? (
      <StateMark state="pass" word="Done" />
    ) : isWaiting ? (
      <Waiting>Waiting</Waiting>
    ) : (
      <NotSetUp>{state}</NotSetUp>
    )}
  </div>
);

/** A record that is published takes one line. */
function RecordToPublish({ record, domain }: { record: FeedbackRecord; domain: string }) {
  const { name, published } = record;
  if (published === true)
    return (
      <p class="small record-done">
        <StateMark state="pass" word="Published" /> <code>{name}</code>
      </p>
    );
  return (
    <div class="stack">
      <p class="small">
        {purposeOf(name)}
        {published === null && ' DNS did not answer yet, so it may be published already.'}
      </p>
      <DnsRecord record={record} domain={domain} />
    </div>
  );
}

function purposeOf(name: string): string {
  if (name.startsWith('_dmarc.'))
    return 'For DMARC reports. This record is all that you need to start.';
  if (name.startsWith('_smtp.'))
    return 'For TLS reports: they say whether other servers can send to you with encryption.';
  return 'Publish this record once, at the domain of the feedback addresses. It covers all your domains. Without it, reporters do not send reports there.';
}
