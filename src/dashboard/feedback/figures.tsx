/** What receivers report, and what Google and Microsoft publish, in a period, as parts of other pages. */

import {
  type FigureRow,
  figureRows,
  figuresNote,
  RECEIVERS_TITLE,
} from '../../report/feedback-figures.ts';
import { PUBLISHED_TITLE, publishedNote, publishedRows } from '../../report/receiver-figures.ts';
import type { FeedbackFigures, ReceiverFigures } from '../../report/summary.ts';
import { StateMark } from '../../ui/components.tsx';
import { Card } from '../frame/card.tsx';
import { For } from '../frame/reader.tsx';
import { DataTable } from '../frame/table.tsx';
import { FEEDBACK, feedbackPath } from './list.tsx';

interface Props<Figures> {
  /** Nothing is shown without them. */
  figures: Figures | null;
  /** The domain that they are about; null for several. */
  domainId: string | null;
}

export function ReportedFigures({ figures, domainId }: Props<FeedbackFigures>) {
  if (figures === null) return null;
  return (
    <Card
      title={RECEIVERS_TITLE}
      id="receivers"
      actions={<a href={domainId === null ? FEEDBACK : feedbackPath(domainId)}>All feedback</a>}
    >
      <ReportedTable figures={figures} />
    </Card>
  );
}

/** The figures without a card around them. */
export const ReportedTable = ({ figures }: { figures: FeedbackFigures }) => (
  <>
    <FigureTable label={RECEIVERS_TITLE} rows={figureRows(figures)} />
    <p class="small muted">{figuresNote(figures)}</p>
  </>
);

export function PublishedFigures({ figures, domainId }: Props<ReceiverFigures>) {
  if (figures === null) return null;
  return (
    <Card
      title={PUBLISHED_TITLE}
      id="published"
      actions={
        domainId === null ? (
          <For role="viewer" team>
            <a href="/receivers">All receivers</a>
          </For>
        ) : (
          <a href={`/domains/${domainId}#gmail`}>All days</a>
        )
      }
    >
      <FigureTable label={PUBLISHED_TITLE} rows={publishedRows(figures)} />
      <p class="small muted">{publishedNote(figures)}</p>
    </Card>
  );
}

const FigureTable = ({ label, rows }: { label: string; rows: FigureRow[] }) => (
  <DataTable
    label={label}
    rows={rows}
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
);
