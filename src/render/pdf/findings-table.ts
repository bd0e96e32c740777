/** What to put right as a table, a row each: for where there is no room for reasons and remedies. */

import { toFix } from '../../analysis/summary.ts';
import type { Report } from '../report.ts';
import { capSentence, formatPoints, STATUS_WORDS } from '../report-words.ts';
import { notice, paragraph, SMALL, section } from './blocks.ts';
import { COLOR, stateOf } from './look.ts';
import type { Sheet } from './sheet.ts';
import { shown } from './shown-text.ts';
import { mark } from './states.ts';
import { table } from './table.ts';

export function findingsTable(sheet: Sheet, { checks, cap, score }: Report): void {
  const findings = toFix(checks);
  section(sheet, 'Fix these first', () => {
    if (cap && score !== null)
      notice(sheet, shown(capSentence(cap), 600), COLOR.fail, COLOR.failTint);
    if (findings.length === 0)
      paragraph(
        sheet,
        score === null
          ? 'In what could be checked there is nothing to fix.'
          : mark('pass', 'There is nothing to fix.'),
      );
    else
      table(
        sheet,
        [
          { title: 'Gain', share: 9, align: 'right' },
          { title: 'What is wrong', share: 50 },
          { title: 'Check', share: 21, style: SMALL },
          { title: 'State', share: 20 },
        ],
        findings.map(({ gain, title, label, status }) => [
          score === null ? '–' : `+${formatPoints(gain)}`,
          shown(title, 300),
          shown(label, 80),
          mark(stateOf(status), STATUS_WORDS[status]),
        ]),
      );
  });
}
