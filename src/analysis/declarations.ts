/**
 * What the checks declare about themselves, without their code: the service and the render threads
 * need not load what only an analysis runs. The source is the file of each check.
 */

import type { CheckDeclaration } from './check.ts';
import { DECLARATIONS } from './declarations.generated.ts';

/** null for a check that this version does not have. */
export function declarationOf(check: string): CheckDeclaration | null {
  return Object.hasOwn(DECLARATIONS, check) ? DECLARATIONS[check]! : null;
}

/** The problem that the check found, in a few words; the id in words where none is declared. */
export function issueTitle(check: string): string {
  return declarationOf(check)?.issueTitle ?? check.replaceAll('_', ' ');
}
