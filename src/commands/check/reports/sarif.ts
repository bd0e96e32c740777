/** `--report sarif=FILE`: SARIF 2.1.0, for GitHub code scanning and editors. */

import type { CheckResult } from '../../../analysis/result.ts';
import { sha256 } from '../../../lib/crypto.ts';
import { printable, printableJson } from '../../../lib/log.ts';
import { VERSION } from '../../../version.ts';
import {
  type CheckedMessage,
  findingsOf,
  isChecked,
  type Outcome,
  type ReportedFinding,
  unknownChecks,
} from '../outcome.ts';
import { uriOf } from './paths.ts';
import type { ReportFormatter } from './report-writer.ts';

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json';

export function sarifReport(folder: string): ReportFormatter {
  /** The rules in the order of their first result. */
  const rules = new Map<string, { index: number; rule: object }>();
  const notifications: object[] = [];
  let isFirst = true;

  const ruleIndex = (check: CheckResult): number => {
    const known = rules.get(check.id);
    if (known) return known.index;
    const index = rules.size;
    rules.set(check.id, { index, rule: ruleOf(check) });
    return index;
  };

  const resultOf = (message: CheckedMessage, finding: ReportedFinding) => {
    const { check, fix, isRequired } = finding;
    const uri = uriOf(message.path, folder);
    return {
      ruleId: check.id,
      ruleIndex: ruleIndex(check),
      level: isRequired ? 'error' : 'warning',
      message: { text: clean([check.title, check.detail, fix].filter(Boolean).join(' ')) },
      locations: [location(uri)],
      partialFingerprints: { 'messageAndCheck/v1': sha256(Buffer.from(`${uri}\n${check.id}`)) },
      ...(message.comparison && { baselineState: baselineState(message, finding) }),
    };
  };

  return {
    begin: () =>
      `{"$schema": ${JSON.stringify(SCHEMA)}, "version": "2.1.0", "runs": [{\n"results": [\n`,
    add(outcome) {
      notifications.push(...notificationsOf(outcome, folder));
      if (!isChecked(outcome)) return '';
      return findingsOf(outcome)
        .map((finding) => {
          const separator = isFirst ? '' : ',\n';
          isFirst = false;
          return separator + printableJson(resultOf(outcome, finding));
        })
        .join('');
    },
    end({ unchecked }) {
      const driver = {
        name: 'deliverability',
        semanticVersion: VERSION,
        rules: [...rules.values()].map(({ rule }) => rule),
      };
      const invocation = {
        executionSuccessful: unchecked === 0,
        toolExecutionNotifications: notifications,
      };
      return `\n],\n"tool": ${printableJson({ driver })},\n"invocations": [${printableJson(invocation)}]\n}]}\n`;
    },
  };
}

const ruleOf = ({ id, label, category, reference }: CheckResult) => ({
  id,
  name: label,
  shortDescription: { text: label },
  fullDescription: { text: `${label}. Reference: ${reference.name}.` },
  helpUri: reference.url,
  properties: { tags: ['email', category] },
});

function baselineState({ comparison }: CheckedMessage, { check }: ReportedFinding) {
  const change = comparison?.worse.find(({ id }) => id === check.id);
  if (!change) return 'unchanged';
  return change.was === 'warn' ? 'updated' : 'new';
}

/** What could not be checked, so that a report without results is not mistaken for a good message. */
function notificationsOf(outcome: Outcome, folder: string): object[] {
  const locations = [location(uriOf(outcome.path, folder))];
  if (!isChecked(outcome))
    return [{ level: 'error', message: { text: clean(outcome.problem) }, locations }];
  return unknownChecks(outcome).map(({ label, title, detail }) => ({
    level: 'note',
    message: { text: clean(`${label} is unknown. ${title} ${detail}`) },
    locations,
  }));
}

/** Findings are about the message, so they are at its first line. */
const location = (uri: string) => ({
  physicalLocation: { artifactLocation: { uri }, region: { startLine: 1 } },
});

const clean = (text: string): string => printable(text.toWellFormed());
