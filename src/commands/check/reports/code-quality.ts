/** `--report code-quality=FILE`: the findings as GitLab shows them in a merge request. */

import { sha256 } from '../../../lib/crypto.ts';
import { printable, printableJson } from '../../../lib/log.ts';
import { findingsOf, isChecked, type Outcome } from '../outcome.ts';
import { repositoryPath } from './paths.ts';
import type { ReportFormatter } from './report-writer.ts';

/** GitLab compares the report with that of the target branch itself, so known findings are in it too. */
export function codeQualityReport(folder: string): ReportFormatter {
  let isFirst = true;
  return {
    begin: () => '[\n',
    add: (outcome) =>
      issuesOf(outcome, repositoryPath(outcome.path, folder) ?? outcome.name)
        .map((issue) => {
          const separator = isFirst ? '' : ',\n';
          isFirst = false;
          return separator + printableJson(issue);
        })
        .join(''),
    end: () => '\n]\n',
  };
}

function issuesOf(outcome: Outcome, path: string): object[] {
  if (!isChecked(outcome)) return [issue(path, 'not_checked', 'blocker', outcome.problem)];
  return findingsOf(outcome).map(({ check, isRequired, fix }) =>
    issue(path, check.id, isRequired ? 'major' : 'minor', `${check.title} ${fix}`.trim()),
  );
}

const issue = (path: string, check_name: string, severity: string, description: string) => ({
  description: printable(description.toWellFormed()),
  check_name,
  fingerprint: sha256(Buffer.from(`${path}\n${check_name}`)),
  severity,
  location: { path, lines: { begin: 1 } },
});
