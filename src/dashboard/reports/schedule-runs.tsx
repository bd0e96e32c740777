/** The reports that a schedule has sent: their state, their recipients, and what became of the one just sent. */

import { isoTime } from '../../lib/clock.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import { dateIn } from '../../lib/format/times.ts';
import type { ReportCopy, ReportRun, RunStatus } from '../../schedules/schema.ts';
import { StateMark } from '../../ui/components.tsx';
import { Notice } from '../frame/form.tsx';
import { Fold, NotSetUp, Waiting } from '../frame/states.tsx';
import { Ago, Time } from '../frame/times.tsx';

/** The state of a report in one word. */
export function RunMark({ status }: { status: RunStatus }) {
  if (status === 'sending') return <Waiting>Sending</Waiting>;
  if (status === 'not_configured') return <NotSetUp>Email not configured</NotSetUp>;
  if (status === 'sent') return <StateMark state="pass" word="Sent" />;
  if (status === 'partial') return <StateMark state="warn" word="Partly sent" />;
  return <StateMark state="fail" word="Failed" />;
}

interface Outcome {
  tone: 'pass' | 'warn' | 'fail' | 'info';
  text: string;
}

/** What became of a report, as a sentence. */
export function outcomeOf({
  status,
  copies,
  error,
}: Pick<ReportRun, 'status' | 'copies' | 'error'>): Outcome {
  const wanted = copies.filter((copy) => copy.status !== 'unsubscribed').length;
  const sent = copies.filter((copy) => copy.status === 'sent').length;
  const recipients = formatCount(wanted, 'recipient');
  if (wanted === 0 && error === null)
    return { tone: 'warn', text: 'Nothing was sent, because all recipients have unsubscribed.' };
  switch (status) {
    case 'sending':
      return { tone: 'info', text: `The report is being sent to ${recipients}.` };
    case 'sent':
      return { tone: 'pass', text: `Report sent to ${recipients}.` };
    case 'partial':
      return {
        tone: 'warn',
        text: `Report sent to ${sent} of ${recipients}. See below what failed.`,
      };
    case 'failed':
      return { tone: 'fail', text: 'The report was not sent. See below why.' };
    case 'not_configured':
      return {
        tone: 'warn',
        text: 'The report was not sent, because outgoing email is not configured.',
      };
  }
}

/** Parts of the page refresh themselves while a report is being sent. */
const refreshing = (runs: ReportRun[]) =>
  runs.some(({ status }) => status === 'sending') ? 'yes' : undefined;

/** What became of the report that the button has started. */
export function SentNotice({ runs, started }: { runs: ReportRun[]; started: string | undefined }) {
  const run = runs.find(({ id }) => id === started);
  if (!run) return null;
  const { tone, text } = outcomeOf(run);
  return (
    <div id="sent-notice" data-refresh={refreshing([run])} data-status={text}>
      <Notice tone={tone}>{text}</Notice>
    </div>
  );
}

/** The reports of a page, newest first. */
export function Runs({ runs, timezone }: { runs: ReportRun[]; timezone: string }) {
  if (runs.length === 0)
    return (
      <p>
        <Waiting>No report sent yet</Waiting>
      </p>
    );
  return (
    <ul id="report-runs" class="runs" data-refresh={refreshing(runs)}>
      {runs.map((run) => (
        <Run key={run.id} run={run} timezone={timezone} />
      ))}
    </ul>
  );
}

function Run({ run, timezone }: { run: ReportRun; timezone: string }) {
  const { status, trigger, tag, period_from, period_to, created_at, error, copies } = run;
  return (
    <li>
      <div class="report-run-head">
        <RunMark status={status} />
        <span>
          <Time at={created_at} />
        </span>
        {tag && <bdi>{tag}</bdi>}
        <span class="small muted">
          Covers {dateIn(period_from, timezone)} to {dateIn(lastDay(period_to), timezone)}
          {trigger === 'manual' && ', sent manually'}
        </span>
      </div>
      {error && <p class="small">{error}</p>}
      {copies.length > 0 && (
        <Fold
          summary={formatCount(copies.length, 'recipient')}
          open={status === 'partial' || status === 'failed'}
        >
          <ul class="copies">
            {copies.map((copy) => (
              <Copy key={copy.recipient} copy={copy} />
            ))}
          </ul>
        </Fold>
      )}
    </li>
  );
}

/** Periods end at midnight, which is the day after their last one. */
const lastDay = (to: string): string => isoTime(Date.parse(to) - 1);

const COPY_MARKS: Record<ReportCopy['status'], preact.JSX.Element> = {
  queued: <Waiting>Queued</Waiting>,
  sent: <StateMark state="pass" word="Sent" />,
  failed: <StateMark state="fail" word="Failed" />,
  unsubscribed: <StateMark state="unknown" word="Unsubscribed" />,
  not_configured: <NotSetUp>Not sent</NotSetUp>,
};

function Copy({ copy: { recipient, status, error, sent_at } }: { copy: ReportCopy }) {
  return (
    <li>
      <bdi>{recipient}</bdi>
      {COPY_MARKS[status]}
      {sent_at && (
        <span class="small muted">
          <Ago at={sent_at} />
        </span>
      )}
      {error && (
        <p class="small muted">
          <bdi>{error}</bdi>
        </p>
      )}
    </li>
  );
}
