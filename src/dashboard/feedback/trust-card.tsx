/** Whether the reports of a reporter count although their messages cannot be verified, and what that means. */

import type { FeedbackReport, FeedbackReporter } from '../../feedback/schema.ts';
import { formatCount } from '../../report/summary.ts';
import { ActionButton, Confirm } from '../frame/action.tsx';
import { Card } from '../frame/card.tsx';
import { For } from '../frame/reader.tsx';
import { REPORTS } from './list.tsx';

interface Props {
  report: FeedbackReport;
  reporter: FeedbackReporter;
}

/** For reports that came in a message without a valid signature. */
export function TrustCard({ report, reporter }: Props) {
  const { name, trusted, reports, counted } = reporter;
  const path = `${REPORTS}/${report.id}`;
  const fields = { reporter_id: reporter.id };
  return (
    <Card title={trusted ? 'A trusted reporter' : 'Is this report genuine?'} id="trust">
      {trusted ? (
        <p>
          Your team trusts <bdi>{name}</bdi>. Its reports count although the messages that carry
          them cannot be verified.
        </p>
      ) : (
        <p>
          Neither SPF nor DKIM shows that <bdi>{name}</bdi> sent this message. Anyone can write a
          report with that name, so this one is not counted.
        </p>
      )}
      <p class="small muted">
        {`Of ${formatCount(reports, 'report')} with this name, ${formatCount(counted)} ${counted === 1 ? 'counts' : 'count'}.`}
      </p>
      <For role="member">
        {trusted ? (
          <ActionButton action={`${path}/distrust`} fields={fields}>
            Stop trusting
          </ActionButton>
        ) : (
          <Confirm
            action={`${path}/trust`}
            fields={fields}
            label="Trust this reporter…"
            warning={
              <>
                All reports with the name <bdi>{name}</bdi> will count, including those that have
                arrived, and nobody checks who sent them. Trust it only if you know that it cannot
                sign its mail. Stopping later affects new reports only: delete wrong ones.
              </>
            }
            confirm="Trust and count its reports"
          />
        )}
      </For>
    </Card>
  );
}
