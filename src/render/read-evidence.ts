/** Reads what a check noted as evidence: results of older rules are shown too, so nothing is taken for granted. */

import type { Json } from '../analysis/check.ts';
import type { CheckResult } from '../analysis/result.ts';

export type Evidence = CheckResult['evidence'];

/** The evidence of a check by its id; empty where the check is not in the result. */
export function evidenceOf(checks: CheckResult[], id: string): Evidence {
  return checks.find((check) => check.id === id)?.evidence ?? {};
}

export function textIn(evidence: Evidence, key: string): string | null {
  const value = evidence[key];
  return typeof value === 'string' && value !== '' ? value : null;
}

export function numberIn(evidence: Evidence, key: string): number | null {
  const value = evidence[key];
  return typeof value === 'number' ? value : null;
}

export function booleanIn(evidence: Evidence, key: string): boolean | null {
  const value = evidence[key];
  return typeof value === 'boolean' ? value : null;
}

export function objectIn(evidence: Evidence, key: string): Evidence {
  const value = evidence[key];
  return isObject(value) ? value : {};
}

/** The objects of a list; what else is in it (a count of what was cut) is left out. */
export function objectsIn(evidence: Evidence, key: string): Evidence[] {
  const value = evidence[key];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function textsIn(evidence: Evidence, key: string): string[] {
  const value = evidence[key];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

export function isObject(value: Json | undefined): value is Evidence {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
