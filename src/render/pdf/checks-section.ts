/** Everything that is no finding, complete: what passed, what is good to know, what was not checked. */

import type { CheckStatus } from '../../analysis/check.ts';
import type { CheckResult } from '../../analysis/result.ts';
import type { Report } from '../report.ts';
import { followsFromAnother, formatPoints, STATUS_WORDS } from '../report-words.ts';
import { BODY, SMALL, section } from './blocks.ts';
import { MARKS, stateOf } from './look.ts';
import type { Sheet } from './sheet.ts';
import { shown } from './shown-text.ts';
import { type Cell, table } from './table.ts';

export function checksSections(sheet: Sheet, { checks }: Report): void {
  const of = (...statuses: CheckStatus[]) =>
    checks.filter(({ status }) => statuses.includes(status));
  list(sheet, 'Passed', of('pass'));
  list(sheet, 'For your information', of('info'));
  list(sheet, 'Not checked', of('error', 'skipped'));
}

function list(sheet: Sheet, title: string, checks: CheckResult[]): void {
  if (checks.length === 0) return;
  section(sheet, title, () =>
    table(
      sheet,
      [
        { title: 'Check', share: 27 },
        { title: 'What was found', share: 61 },
        { title: 'Points', share: 12, align: 'right', style: SMALL },
      ],
      checks.map(row),
    ),
  );
}

function row(check: CheckResult): Cell[] {
  const { icon, color } = MARKS[stateOf(check.status)];
  const { status, label, title, detail, points, earned } = check;
  const name = shown(label, 80);
  const open = status === 'error' || status === 'skipped';
  return [
    open
      ? {
          parts: [
            { text: name, style: BODY },
            { text: STATUS_WORDS[status], style: SMALL },
          ],
        }
      : [{ text: `${icon} `, face: 'bold', color }, { text: name }],
    {
      parts: [
        { text: shown(title, 300), style: BODY },
        {
          text: followsFromAnother(check) ? 'It is decided by that check.' : shown(detail, 600),
          style: SMALL,
        },
      ],
    },
    earned === null ? '–' : `${formatPoints(earned)} of ${formatPoints(points)}`,
  ];
}
