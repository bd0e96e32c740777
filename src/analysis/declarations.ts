/**
 * What the checks declare about themselves, without their code: neither the service nor the threads
 * that make reports load what only an analysis runs. A check's own file is the source.
 */

import type { CheckDeclaration } from './check.ts';
import { DECLARATIONS } from './declarations.generated.ts';

/** null for a check that this version does not have. */
export function declarationOf(check: string): CheckDeclaration | null {
  return Object.hasOwn(DECLARATIONS, check) ? DECLARATIONS[check]! : null;
}

/** What is wrong where the check fails or warns; its id in words where it declares nothing. */
export function issueTitle(check: string): string {
  return declarationOf(check)?.issueTitle ?? check.replaceAll('_', ' ');
}
