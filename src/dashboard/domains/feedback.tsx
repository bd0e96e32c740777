/** What receivers report about a domain, in short: the state, and the figures of the last 30 days. */

import type { Domain } from '../../domains/schema.ts';
import type { FeedbackFigures } from '../../report/summary.ts';
import { ReportedTable } from '../feedback/figures.tsx';
import { feedbackPath } from '../feedback/list.tsx';
import { FeedbackStateMark } from '../feedback/words.tsx';
import { Card } from '../frame/card.tsx';
import { Ago } from '../frame/times.tsx';

const WITHOUT_REPORTS = {
  none: 'Receivers report who sends mail from the domain, and whether it passes DMARC.',
  uploaded: 'These figures come from uploaded reports. None has arrived by itself.',
};

interface Props {
  domain: Domain;
  /** Null if nothing was reported. */
  figures: FeedbackFigures | null;
}

export function Feedback({ domain, figures }: Props) {
  const { id, feedback } = domain;
  const { state, last_report_at } = feedback;
  return (
    <Card
      title="Feedback"
      id="feedback"
      actions={
        <a href={feedbackPath(id)}>{state === 'not_published' ? 'Set up' : 'All feedback'}</a>
      }
    >
      <p>
        <FeedbackStateMark state={state} />{' '}
        <span class="muted">
          {last_report_at ? (
            <>
              The last report arrived <Ago at={last_report_at} />.
            </>
          ) : (
            WITHOUT_REPORTS[figures ? 'uploaded' : 'none']
          )}
        </span>
      </p>
      {figures && <ReportedTable figures={figures} />}
    </Card>
  );
}
