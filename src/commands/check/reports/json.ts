/** `--report json=FILE`, and `--json` of several messages: every result with its evidence. */

import { printableJson } from '../../../lib/log.ts';
import { isChecked, type Outcome } from '../outcome.ts';
import type { ReportFormatter } from './report-writer.ts';

export function jsonReport(): ReportFormatter {
  let isFirst = true;
  return {
    begin: () => '{\n"object": "check_report",\n"messages": [\n',
    add(outcome) {
      const separator = isFirst ? '' : ',\n';
      isFirst = false;
      return separator + printableJson(messageObject(outcome));
    },
    end: (totals) => `\n],\n"totals": ${printableJson(totals)}\n}\n`,
  };
}

function messageObject(outcome: Outcome) {
  const { name: file } = outcome;
  if (!isChecked(outcome))
    return { file, outcome: 'not_checked', problem: outcome.problem, failures: [], test: null };
  const { comparison, failures, test } = outcome;
  return {
    file,
    outcome: failures.length > 0 ? 'failed' : 'checked',
    problem: null,
    failures,
    ...(comparison && {
      comparison: {
        new: comparison.isNew,
        score_before: comparison.scoreBefore,
        worse: comparison.worse,
        fixed: comparison.fixed,
        unknown: comparison.unknown,
      },
    }),
    test,
  };
}
