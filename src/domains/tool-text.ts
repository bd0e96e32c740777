/** The health of a domain for a model: the verdict, what to fix, and the records to publish. */

import { worstFirst } from '../analysis/domain/dangers.ts';
import type { DomainHealth } from '../analysis/domain/health.ts';
import { answerText, clean, kept, recordText } from '../http/tool-text.ts';
import { findingText, otherChecks } from './finding-text.ts';
import type { RecordToPublish } from './schema.ts';

/** Records stand once: with `records`, the findings have none of their own. Without a service, there are none to merge. */
export function healthText(
  head: string[],
  { name, status, score, summary, checks }: DomainHealth,
  records: RecordToPublish[] | null,
  rest: string,
): string {
  const fixes = worstFirst(checks);
  const listed = new Set(records?.map((record) => `${record.type} ${record.name}`));
  const findings = fixes.map((check, i) => {
    const { record, ...fix } = check.fix ?? { text: '' };
    const isListed = record !== undefined && listed.has(`${record.type} ${record.name}`);
    return `\n${i + 1}. ${findingText(isListed ? { ...check, fix } : check, checks)}`;
  });
  return answerText(
    [
      ...[...head, `${clean(name)}: ${status}${score === null ? '' : `, ${score}/100`}`].map(kept),
      kept(clean(summary)),
      kept(fixes.length > 0 ? `\n${fixes.length} to fix, worst first.` : ''),
      ...otherChecks(checks.filter(({ severity }) => severity === null)).map(kept),
      ...(records ?? []).map((record) => kept(`\n${publishText(record)}`)),
      ...findings,
    ],
    rest,
  );
}

export function publishText(record: RecordToPublish): string {
  const { action, replaces, purpose, required } = record;
  return [
    `${action === 'replace' ? 'Replace' : 'Publish'} (${required ? 'required' : 'recommended'}): ${recordText(record)}`,
    ...replaces.map((value) => `instead of: ${clean(value)}`),
    `Why: ${clean(purpose)}`,
  ].join('\n');
}
