/**
 * What the checks declare about themselves, generated from their files. The service and the render
 * threads use it without loading the code of the checks.
 */

import type { CheckDeclaration } from './check.ts';
import { DECLARATIONS } from './declarations.generated.ts';

/** Returns null for a check that this version does not have. */
export function declarationOf(check: string): CheckDeclaration | null {
  return Object.hasOwn(DECLARATIONS, check) ? DECLARATIONS[check]! : null;
}

/** The problem that the check finds, in a few words; its id with spaces if it declares none. */
export function issueTitle(check: string): string {
  return declarationOf(check)?.issueTitle ?? check.replaceAll('_', ' ');
}
