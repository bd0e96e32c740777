/** What receivers report in a period, as a part of other pages. */

import { figureRows, figuresNote, RECEIVERS_TITLE } from '../../report/feedback-figures.ts';
import { StateMark } from '../../report/html/components.tsx';
import type { FeedbackFigures } from '../../report/summary.ts';
import { Card } from '../frame/card.tsx';
import { DataTable } from '../frame/table.tsx';
import { FEEDBACK, feedbackPath } from './list.tsx';

interface Props {
  /** Nothing is shown without them. */
  figures: FeedbackFigures | null;
  /** The domain that they are about; null for several. */
  domainId: string | null;
}

export function ReceiverFigures({ figures, domainId }: Props) {
  if (figures === null) return null;
  return (
    <Card
      title={RECEIVERS_TITLE}
      id="receivers"
      actions={<a href={domainId === null ? FEEDBACK : feedbackPath(domainId)}>All feedback</a>}
    >
      <FigureTable figures={figures} />
    </Card>
  );
}

export function FigureTable({ figures }: { figures: FeedbackFigures }) {
  return (
    <>
      <DataTable
        label={RECEIVERS_TITLE}
        rows={figureRows(figures)}
        keyOf={({ name }) => name}
        columns={[
          {
            title: 'Metric',
            cell: ({ name, basis }) => (
              <>
                {name}
                <br />
                <span class="small muted">{basis}</span>
              </>
            ),
          },
          {
            title: 'Value',
            number: true,
            cell: ({ value, state }) =>
              state === null ? value : <StateMark state={state} word={value} />,
          },
        ]}
      />
      <p class="small muted">{figuresNote(figures)}</p>
    </>
  );
}
