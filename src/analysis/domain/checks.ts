/** The list of the checks that a domain is looked at by, in their order, with how grave each is. */

import type { ProbeMailTls } from '../../net/smtp/probe.ts';
import type { Check, Context, Finding } from '../check.ts';
import { bimi } from '../checks/bimi.ts';
import { caa } from '../checks/caa.ts';
import { dmarcPolicy } from '../checks/dmarc-policy.ts';
import { dmarcRecord } from '../checks/dmarc-record.ts';
import { dnssec } from '../checks/dnssec.ts';
import { domainBlocklists } from '../checks/domain-blocklists.ts';
import { mtaSts } from '../checks/mta-sts.ts';
import { mx } from '../checks/mx.ts';
import { mxTls } from '../checks/mx-tls.ts';
import { spfRecord } from '../checks/spf-record.ts';
import { tlsRpt } from '../checks/tls-rpt.ts';
import { spfProblems } from '../spf/problems.ts';
import { walkSpf } from '../spf/tree.ts';
import type { Severity } from './health.ts';

export interface GradedCheck {
  check: Check;
  grave: Grave;
}

/** `dkim`: a check for each selector. */
export function domainChecks(
  name: string,
  dkim: Check[],
  probe: ProbeMailTls | null,
): GradedCheck[] {
  return [
    { check: spfRecord, grave: bySpf },
    ...dkim.map((check) => ({ check, grave: atMostWarning })),
    { check: dmarcPolicy, grave: byStatus },
    { check: dmarcRecord, grave: byStatus },
    { check: mx, grave: byStatus },
    { check: mxTls(probe), grave: atMostWarning },
    { check: mtaSts, grave: ifBroken },
    { check: tlsRpt, grave: ifBadTlsRpt },
    { check: bimi, grave: ifBroken },
    { check: dnssec, grave: never },
    { check: caa, grave: ifBroken },
    { check: aboutDomain(domainBlocklists, name), grave: byStatus },
  ];
}

/** The same check, with what it says of the sender of a message said of the domain. */
function aboutDomain(check: Check, name: string): Check {
  const reword = (text: string) =>
    text
      .replace(/^The sender domains are /, `${name} is `)
      .replace('whether a sender domain is ', `whether ${name} is `);
  return {
    ...check,
    async run(context) {
      const finding = await check.run(context);
      return { ...finding, title: reword(finding.title), detail: reword(finding.detail) };
    },
  };
}

// How grave a finding is for the health of a domain.

type Grave = (finding: Finding, context: Context, domain: string) => Severity | Promise<Severity>;

/** What fails is critical. */
const byStatus: Grave = ({ status }) =>
  status === 'fail' ? 'critical' : status === 'warn' ? 'warning' : null;

/** What fails is a warning only. */
const atMostWarning: Grave = ({ status }) =>
  status === 'fail' || status === 'warn' ? 'warning' : null;

/** A check that only informs: its absence is nothing, what is there and broken is a warning. */
const ifBroken: Grave = ({ status, evidence }) => {
  const problems = evidence?.problems;
  return status === 'info' && Array.isArray(problems) && problems.length > 0 ? 'warning' : null;
};

/** Its finding names no problems: a record that is there and comes with a better one is broken. */
const ifBadTlsRpt: Grave = ({ status, evidence, fix }) => {
  const records = Array.isArray(evidence?.records) ? evidence.records : [];
  const meant = records.some((text) => /^[\s"']*v\s*=\s*tlsrpt/i.test(String(text)));
  return status === 'info' && meant && fix ? 'warning' : null;
};

const never: Grave = () => null;

/**
 * A record that needs too many lookups still lets most receivers verify most mail: where nothing
 * else makes it fail, it is a warning.
 */
const bySpf: Grave = async (finding, { resolver }, domain) => {
  if (finding.status !== 'fail') return finding.status === 'warn' ? 'warning' : null;
  const tree = await walkSpf(domain, resolver);
  if (tree.root.state === 'missing') return 'critical';
  const others = spfProblems({ ...tree, lookups: 0 });
  return others.some(({ level }) => level === 'fail') ? 'critical' : 'warning';
};
