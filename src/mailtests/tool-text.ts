/** The result of a message for a model: the verdict, then the findings, what costs most first, each with its fix. */

import { checksToFix } from '../analysis/summary.ts';
import { findingText, otherChecks } from '../domains/finding-text.ts';
import { answerText, clean, kept, quoted } from '../http/tool-text.ts';
import type { Test } from './schema.ts';

/** What a result says, on a service or not. */
export type ToolResult = Pick<
  Test,
  | 'summary'
  | 'score'
  | 'grade'
  | 'cap'
  | 'from_address'
  | 'subject'
  | 'auth_results'
  | 'judged_kind'
  | 'providers'
  | 'checks'
  | 'coverage'
>;
type Check = Test['checks'][number];

/** `head`: what is known beside the result. `rest`: where the model finds what is left out. */
export function resultText(head: string[], result: ToolResult, rest: string): string {
  const fixes = checksToFix(result.checks as never) as unknown as Check[];
  return answerText(
    [
      ...head.map(kept),
      ...verdict(result).map(kept),
      ...(fixes.length > 0
        ? ['', `${fixes.length} to fix, in order of points lost.`].map(kept)
        : []),
      // Stands before the findings in the budget, because what was not checked is never fine.
      ...otherChecks(result.checks).map(kept),
      ...fixes.map((check, i) => `\n${i + 1}. ${findingText(check, result.checks)}`),
    ],
    rest,
  );
}

function verdict(result: ToolResult): string[] {
  const { summary, score, grade, cap, coverage, auth_results: auth, judged_kind: kind } = result;
  const methods = (['spf', 'dkim', 'dmarc'] as const).map(
    (name) => `${name.toUpperCase()} ${auth[name] ?? 'unknown'}`,
  );
  return [
    clean(summary ?? ''),
    score === null
      ? 'Score: unknown, too little could be checked.'
      : `Score: ${score}/100 (${grade})`,
    cap
      ? `At most ${cap.limit} until this is fixed: ${clean(cap.reason)} (${clean(cap.reference)})`
      : '',
    `Subject: ${result.subject === null ? 'none' : quoted(result.subject)}`,
    `From: ${result.from_address === null ? 'no address' : quoted(result.from_address)}`,
    `Authentication: ${methods.join(', ')}`,
    `Providers: ${result.providers.map(({ name, status, ready }) => `${name} ${(status ?? (ready ? 'ready' : 'not_ready')).replace('_', ' ')}`).join(', ')}`,
    kind ? `Judged as ${kind.kind} mail (${kind.confidence ?? 'unknown'})` : '',
    coverage !== null && coverage < 1
      ? `Only ${Math.floor(coverage * 100)}% of the points could be checked.`
      : '',
  ].filter(Boolean);
}
