/** What receivers report and publish: in summaries about a period, and in the report of a test about its sender. */

import { type Block, type Section, small, state } from '../blocks.ts';
import {
  type FigureRow,
  figureRows,
  figuresNote,
  RECEIVERS_TITLE,
  reportedSourceBasis,
  reportedSourceSentence,
} from '../feedback-figures.ts';
import { PUBLISHED_TITLE, publishedNote, publishedRows } from '../receiver-figures.ts';
import type { Report } from '../report.ts';
import type { Summary } from '../summary.ts';
import { type Medium, section, table } from './figures.ts';

const ID = 'receivers';

/** No section without reports, and none if nothing was published. */
export const figuresSections = ({ feedback, receivers }: Summary, medium: Medium): Section[] => [
  ...(feedback === null
    ? []
    : [
        section(ID, RECEIVERS_TITLE, [
          rowsBlock(figureRows(feedback), medium),
          small(figuresNote(feedback)),
        ]),
      ]),
  ...(receivers === null
    ? []
    : [
        section('published', PUBLISHED_TITLE, [
          rowsBlock(publishedRows(receivers), medium),
          small(publishedNote(receivers)),
        ]),
      ]),
];

const rowsBlock = (rows: FigureRow[], medium: Medium): Block =>
  medium === 'mail'
    ? {
        kind: 'rows',
        items: rows.map(({ name, basis, value, state: of }) => ({
          title: name,
          below: basis,
          value,
          state: of,
        })),
      }
    : table(
        [
          { title: 'Metric', share: 72 },
          { title: 'Value', share: 28, isNumber: true },
        ],
        rows.map(({ name, basis, value, state: of }) => ({
          cells: [
            { text: [name], below: [basis] },
            { text: [of === null ? value : state(of, value)] },
          ],
        })),
      );

/** No section if the sender is not known or nothing was reported about it. */
export function sourceSections({ reportedSource }: Report): Section[] {
  if (!reportedSource) return [];
  const { url } = reportedSource;
  return [
    {
      ...section(ID, RECEIVERS_TITLE, [
        small(reportedSourceBasis(reportedSource)),
        small({ kind: 'link', text: 'Details of this source', url }),
      ]),
      note: [reportedSourceSentence(reportedSource)],
    },
  ];
}
