/**
 * `--report junit=FILE`: a suite per message and a test case per check, in the form that Jenkins and GitLab read. A required
 * change is a failure. A check that could not be completed is skipped, because it has neither passed nor failed.
 */

import type { CheckResult } from '../../../analysis/result.ts';
import {
  type CheckedMessage,
  findingsOf,
  isChecked,
  type Outcome,
  type ReportedFinding,
  titleOf,
} from '../outcome.ts';
import type { ReportFormatter } from './report-writer.ts';

export function junitReport(): ReportFormatter {
  return {
    begin: () => '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="deliverability">\n',
    add: suite,
    end: () => '</testsuites>\n',
  };
}

function suite(outcome: Outcome): string {
  const name = titleOf(outcome.name);
  if (!isChecked(outcome)) {
    const problem = element('error', { message: outcome.problem, type: 'not_checked' });
    return suiteElement(name, [testCase(name, 'Message', problem)], { errors: 1 });
  }
  const findings = new Map(findingsOf(outcome).map((finding) => [finding.check.id, finding]));
  const bodies = outcome.result.checks.map((check) => ({
    check,
    body: checkBody(check, findings.get(check.id)),
  }));
  const cases = [
    limitCase(name, outcome),
    ...bodies.map(({ check, body }) => testCase(`${name}: ${check.category}`, check.label, body)),
  ];
  const count = (tag: string) => cases.filter((text) => text.includes(`<${tag} `)).length;
  return suiteElement(name, cases, { failures: count('failure'), skipped: count('skipped') });
}

/** The limits and the baseline of this run. */
function limitCase(name: string, { failures }: CheckedMessage): string {
  const body =
    failures.length === 0
      ? ''
      : element('failure', { message: failures[0]!, type: 'limit' }, failures.join('\n'));
  return testCase(name, 'Limits', body);
}

function checkBody(
  { status, title, detail, reference }: CheckResult,
  finding: ReportedFinding | undefined,
): string {
  if (status === 'error' || status === 'skipped')
    return element('skipped', {
      message: status === 'error' ? `Unknown: ${title} ${detail}` : `${title} ${detail}`,
    });
  if (!finding) return '';
  const lines = [title, detail, finding.fix, `${reference.name}: ${reference.url}`];
  const text = lines.filter(Boolean).join('\n');
  if (finding.isRequired && !finding.isKnown)
    return element('failure', { message: title, type: 'required' }, text);
  const note = finding.isRequired ? 'Required, known from the baseline' : 'Recommended';
  return element('system-out', {}, `${note}: ${text}`);
}

function suiteElement(
  name: string,
  cases: string[],
  { failures = 0, errors = 0, skipped = 0 }: Record<string, number>,
): string {
  const tests = String(cases.length);
  const counts = { failures: `${failures}`, errors: `${errors}`, skipped: `${skipped}` };
  return `${element('testsuite', { name, tests, ...counts, time: '0' }, null, `\n${cases.join('')}`)}\n`;
}

const testCase = (classname: string, name: string, body: string): string =>
  `${element('testcase', { classname, name, time: '0' }, null, body)}\n`;

function element(
  tag: string,
  attributes: Record<string, string>,
  text: string | null = null,
  inner = text === null ? '' : xml(text),
): string {
  const list = Object.entries(attributes).map(([name, value]) => ` ${name}="${xml(value)}"`);
  return inner === '' ? `<${tag}${list.join('')} />` : `<${tag}${list.join('')}>${inner}</${tag}>`;
}

/** XML 1.0 §2.2 forbids most control characters, even escaped. Bidirectional ones could reorder what people read. */
const FORBIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]/g;
const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\r': '&#13;',
  '\t': '&#9;',
};

/** Also right in attributes, where a line break would become a space. */
export const xml = (text: string): string =>
  text
    .toWellFormed()
    .replace(FORBIDDEN, '·')
    .replace(/[&<>"'\r\t]/g, (char) => ENTITIES[char]!);
