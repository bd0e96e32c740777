/** The checks of a domain in their order, each with a rule for its severity. */

import type { ProbeMailTls } from '../../net/smtp/probe.ts';
import type { Check, Context, Finding } from '../check.ts';
import { bimi } from '../checks/bimi.ts';
import { caa } from '../checks/caa.ts';
import { dane } from '../checks/dane.ts';
import { dmarcPolicy } from '../checks/dmarc-policy.ts';
import { dmarcRecord } from '../checks/dmarc-record.ts';
import { dnssec } from '../checks/dnssec.ts';
import { domainBlocklists } from '../checks/domain-blocklists.ts';
import { mtaSts } from '../checks/mta-sts.ts';
import { mx } from '../checks/mx.ts';
import { mxTls } from '../checks/mx-tls.ts';
import { nameServers, nameServersCheck } from '../checks/name-servers.ts';
import { spfRecord } from '../checks/spf-record.ts';
import { resemblesTlsRpt, tlsRpt } from '../checks/tls-rpt.ts';
import { examineSpf } from '../spf/examine.ts';
import type { Severity } from './dangers.ts';
import { withMovedHost } from './left-behind.ts';

export interface GradedCheck {
  check: Check;
  /** The severity of a finding for the health of the domain. */
  severityOf: SeverityRule;
}

interface Options {
  probe: ProbeMailTls | null;
  /** Whether name servers can be asked one by one. */
  asksServers: boolean;
}

/** `dkim`: one check for each selector. */
export function domainChecks(
  name: string,
  dkim: Check[],
  { probe, asksServers }: Options,
): GradedCheck[] {
  const probeOnce = probe && memoizedProbe(probe);
  return [
    { check: withMovedHost(spfRecord, name), severityOf: bySpf },
    ...dkim.map((check) => ({ check, severityOf: atMostWarning })),
    { check: dmarcPolicy, severityOf: byStatus },
    { check: dmarcRecord, severityOf: byStatus },
    { check: mx, severityOf: byStatus },
    { check: mxTls(probeOnce), severityOf: atMostWarning },
    { check: mtaSts, severityOf: byMtaSts },
    { check: tlsRpt, severityOf: ifBadTlsRpt },
    { check: bimi, severityOf: ifBroken },
    { check: dane(probeOnce), severityOf: ifBroken },
    ...(asksServers ? [{ check: nameServers(name), severityOf: byStatus }] : []),
    { check: { ...dnssec, dependsOn: [nameServersCheck.id] }, severityOf: never },
    { check: caa, severityOf: ifBroken },
    { check: aboutDomain(domainBlocklists, name), severityOf: byStatus },
  ];
}

/** Two checks need the same connections. */
function memoizedProbe(probe: ProbeMailTls): ProbeMailTls {
  const results = new Map<string, ReturnType<ProbeMailTls>>();
  return (host) => {
    const result = results.get(host) ?? probe(host);
    results.set(host, result);
    return result;
  };
}

/** The same check, with texts about the domain instead of the sender of a message. */
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

type SeverityRule = (
  finding: Finding,
  context: Context,
  domain: string,
) => Severity | Promise<Severity>;

/** Failures are critical. */
const byStatus: SeverityRule = ({ status }) =>
  status === 'fail' ? 'critical' : status === 'warn' ? 'warning' : null;

/** Failures are warnings. */
const atMostWarning: SeverityRule = ({ status }) =>
  status === 'fail' || status === 'warn' ? 'warning' : null;

/**
 * For optional records: a broken record is a warning, an absent one is not. In a message, these findings stay information
 * without points: its score is about mail that the sender sends, and MTA-STS, TLS-RPT and DANE protect mail that the domain
 * receives.
 */
const ifBroken: SeverityRule = ({ status, evidence }) => {
  const problems = evidence?.problems;
  return status === 'info' && Array.isArray(problems) && problems.length > 0 ? 'warning' : null;
};

/** With an enforced policy that lists no server of the domain, large senders such as Gmail deliver nothing to it. */
const byMtaSts: SeverityRule = (finding, context, domain) => {
  const { policy, lists_none } = finding.evidence ?? {};
  const isEnforced =
    typeof policy === 'object' && policy !== null && 'mode' in policy && policy.mode === 'enforce';
  return isEnforced && lists_none === true ? 'critical' : ifBroken(finding, context, domain);
};

/** The finding has no list of problems, so a fix means that the record is broken. */
const ifBadTlsRpt: SeverityRule = ({ status, evidence, fix }) => {
  const records = Array.isArray(evidence?.records) ? evidence.records : [];
  const hasRecord = records.some((text) => resemblesTlsRpt(String(text)));
  return status === 'info' && hasRecord && fix ? 'warning' : null;
};

const never: SeverityRule = () => null;

/**
 * With too many lookups, most mailbox providers can still verify most mail. So if nothing else is
 * wrong, it is a warning.
 */
const bySpf: SeverityRule = async (finding, { resolver }, domain) => {
  if (finding.status !== 'fail') return finding.status === 'warn' ? 'warning' : null;
  const { problems } = await examineSpf(domain, resolver);
  return problems.some(({ level, isLimit }) => level === 'fail' && !isLimit) ||
    problems.length === 0
    ? 'critical'
    : 'warning';
};
