/** `--report baseline=FILE`: what `--baseline` needs, with a line per message for short diffs. */

import { printableJson } from '../../../lib/log.ts';
import { type Baseline, baselineEntry } from '../baseline.ts';
import { isChecked } from '../outcome.ts';
import type { ReportFormatter } from './report-writer.ts';

/** A message that was not checked keeps its former entry, so that nothing gets forgotten. */
export function baselineReport(ruleset: string, former: Baseline | null): ReportFormatter {
  let isFirst = true;
  return {
    begin: () =>
      `{\n"object": "check_baseline",\n"version": 1,\n"ruleset": ${printableJson(ruleset)},\n"messages": [\n`,
    add(outcome) {
      const entry = isChecked(outcome)
        ? baselineEntry(outcome.name, outcome.result, former)
        : former?.messages.get(outcome.name);
      if (!entry) return '';
      const separator = isFirst ? '' : ',\n';
      isFirst = false;
      return separator + printableJson(entry);
    },
    end: () => '\n]\n}\n',
  };
}
