/** What receivers report: in summaries about a period, and in the report of a test about its sender. */

import { type Block, type Section, small, state } from '../blocks.ts';
import {
  figureRows,
  figuresNote,
  RECEIVERS_TITLE,
  reportedSourceBasis,
  reportedSourceSentence,
} from '../feedback-figures.ts';
import type { Report } from '../report.ts';
import type { Summary } from '../summary.ts';
import { type Medium, section, table } from './figures.ts';

const ID = 'receivers';

/** No section without reports. */
export function figuresSections({ feedback }: Summary, medium: Medium): Section[] {
  if (feedback === null) return [];
  const rows = figureRows(feedback);
  const block: Block =
    medium === 'mail'
      ? {
          kind: 'rows',
          items: rows.map(({ name, basis, value, state: of }) => ({
            ...{ title: name, below: basis, value, state: of },
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
  return [section(ID, RECEIVERS_TITLE, [block, small(figuresNote(feedback))])];
}

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
