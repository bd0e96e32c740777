/** How grave a finding is for the health of a domain. */

import { spfProblems } from '../authentication/spf-problems.ts';
import { walkSpf } from '../authentication/spf-tree.ts';
import type { Context, Finding } from '../check.ts';
import type { Severity } from './domain-health.ts';

export type Grave = (
  finding: Finding,
  context: Context,
  domain: string,
) => Severity | Promise<Severity>;

/** What fails is critical. */
export const byStatus: Grave = ({ status }) =>
  status === 'fail' ? 'critical' : status === 'warn' ? 'warning' : null;

/** What fails is a warning only. */
export const atMostWarning: Grave = ({ status }) =>
  status === 'fail' || status === 'warn' ? 'warning' : null;

/** A check that only informs: its absence is nothing, what is there and broken is a warning. */
export const ifBroken: Grave = ({ status, evidence }) => {
  const problems = evidence?.problems;
  return status === 'info' && Array.isArray(problems) && problems.length > 0 ? 'warning' : null;
};

/** Its finding names no problems: a record that is there and comes with a better one is broken. */
export const ifBadTlsRpt: Grave = ({ status, evidence, fix }) => {
  const records = Array.isArray(evidence?.records) ? evidence.records : [];
  const meant = records.some((text) => /^[\s"']*v\s*=\s*tlsrpt/i.test(String(text)));
  return status === 'info' && meant && fix ? 'warning' : null;
};

export const never: Grave = () => null;

/**
 * A record that needs too many lookups still lets most receivers verify most mail: where nothing
 * else makes it fail, it is a warning.
 */
export const bySpf: Grave = async (finding, { resolver }, domain) => {
  if (finding.status !== 'fail') return finding.status === 'warn' ? 'warning' : null;
  const tree = await walkSpf(domain, resolver);
  if (tree.root.state === 'missing') return 'critical';
  const others = spfProblems({ ...tree, lookups: 0 });
  return others.some(({ level }) => level === 'fail') ? 'critical' : 'warning';
};
