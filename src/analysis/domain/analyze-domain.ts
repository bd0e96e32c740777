/** Checks a domain without a message: the checks of a report that need none, and some more. */

import { withReadableNames } from '../../lib/readable-domain.ts';
import type { AskDns } from '../../net/dns/reply.ts';
import type { Resolver } from '../../net/dns/resolver.ts';
import type { WebClient } from '../../net/http/web.ts';
import type { ProbeMailTls } from '../../net/smtp/probe.ts';
import type { Setup } from '../check.ts';
import { type Context, DEADLINE_MS, type Finding } from '../check.ts';
import { dkimSelectorChecks } from '../checks/dkim-selector.ts';
import { mx } from '../checks/mx.ts';
import { explainsFailures, nameServersCheck } from '../checks/name-servers.ts';
import {
  boundedResolver,
  boundedWeb,
  createContext,
  type Deadline,
  startDeadline,
} from '../context.ts';
import { type FoundKeys, lookUpKeys, type Selectors } from '../dkim/selectors.ts';
import { brokenName } from '../dns/broken-name.ts';
import { explainBroken } from '../dns/missing-domain.ts';
import { parseMessage } from '../mime/parse-message.ts';
import {
  causesOf,
  dependentFinding,
  type RunCheckOptions,
  runChecks,
  trimEvidence,
  trimFix,
  trimText,
} from '../run-checks.ts';
import { domainChecks, type GradedCheck } from './checks.ts';
import type { Severity } from './dangers.ts';
import { type DomainCheck, type DomainHealth, healthOf } from './health.ts';
import { asParked, findParked } from './parked.ts';

export interface DomainOptions extends Selectors {
  resolver: Resolver;
  web: WebClient;
  setup: Setup;
  /** Milliseconds since the Unix epoch. */
  now: number;
  /** Without it, no connections to mail servers are made. */
  probeMailTls?: ProbeMailTls;
  /** Without it, name servers are not asked one by one, and failed lookups are not explained. */
  askDns?: AskDns | null;
  /** Whether receivers report passing mail of the domain. Then it is not parked, whatever its DNS declares. */
  sendsMail?: boolean;
  deadlineMs?: number;
  /** Called when a check throws, which is a bug; the user sees an unknown result. */
  onFault?(checkId: string, error: unknown): void;
}

/**
 * The health of a domain; `name` as returned by `readDomainName`. Always ends within the deadline.
 * Rejects only because of a bug.
 */
export async function analyzeDomain(name: string, options: DomainOptions): Promise<DomainHealth> {
  const deadline = startDeadline(options.deadlineMs ?? DEADLINE_MS);
  try {
    const context = await createDomainContext(name, options, deadline);
    const runOptions: RunCheckOptions = {
      context,
      deadline,
      subject: 'domain',
      onFault: options.onFault,
    };
    const keys = await lookUpKeys(context, name, options);
    const graded = domainChecks(name, dkimSelectorChecks(name, keys), {
      probe: options.probeMailTls ?? null,
      asksServers: Boolean(options.askDns),
    });
    const rawFindings = await runChecks(
      graded.map(({ check }) => check),
      runOptions,
    );
    const broken = await brokenName(name, context.resolver);
    const findings = broken
      ? rawFindings.map((finding, i) =>
          graded[i]!.check.id === mx.id ? explainBroken(broken) : finding,
        )
      : options.sendsMail
        ? rawFindings
        : await adaptToParked(name, keys, graded, rawFindings, context);
    const dead = findings.some(
      (finding, i) => graded[i]!.check.id === nameServersCheck.id && explainsFailures(finding),
    );
    const cause = broken ? mx.id : dead ? nameServersCheck.id : null;
    const connected = applyDependencies(graded, findings, cause);
    const checks = await Promise.all(
      graded.map((gradedCheck, index) =>
        toDomainCheck(gradedCheck, connected[index]!, context, name),
      ),
    );
    return healthOf(name, checks);
  } finally {
    deadline.stop();
  }
}

async function adaptToParked(
  name: string,
  keys: FoundKeys,
  graded: GradedCheck[],
  findings: Finding[],
  context: Context,
): Promise<Finding[]> {
  const parked = await findParked(name, keys, context);
  const checks = graded.map(({ check }) => check);
  return parked ? asParked(name, parked, checks, findings, context) : findings;
}

/** The context of a message with nothing but a sender, so that the checks examine its domain. */
async function createDomainContext(
  name: string,
  { resolver, web, setup, now, askDns }: DomainOptions,
  deadline: Deadline,
): Promise<Context> {
  const sender = `postmaster@${name}`;
  const raw = Buffer.from(`From: ${sender}\r\n\r\n`);
  const envelope = { mail_from: sender, client_ip: null, helo: null, tls: null };
  return createContext(
    { raw, envelope, receivedAt: now, kind: 'transactional' },
    await parseMessage(raw),
    {
      resolver: boundedResolver(resolver, deadline),
      web: boundedWeb(web, deadline),
      askDns,
      setup,
    },
  );
}

/**
 * Checks that depend on a failed check are skipped, as in a report. `cause`: the check that names the only cause, such as
 * a broken name; all others depend on it.
 */
function applyDependencies(
  graded: GradedCheck[],
  findings: Finding[],
  cause: string | null,
): Finding[] {
  const checks = graded.map(({ check }) =>
    cause !== null && check.id !== cause ? { ...check, dependsOn: [cause] } : check,
  );
  const causes = causesOf(checks, findings);
  return checks.map((check, index) => {
    const finding = findings[index]!;
    const failedChecks = causes[index]!;
    return failedChecks.length > 0
      ? dependentFinding(check, finding, failedChecks, checks)
      : finding;
  });
}

async function toDomainCheck(
  { check, severityOf }: GradedCheck,
  finding: Finding,
  context: Context,
  domain: string,
): Promise<DomainCheck> {
  return {
    id: check.id,
    label: trimText(check.label),
    category: check.category,
    title: trimText(withReadableNames(finding.title)),
    detail: trimText(withReadableNames(finding.detail)),
    evidence: trimEvidence(finding.evidence ?? {}),
    ...agreed(finding.status, await severityOf(finding, context, domain), check.points),
    reference: finding.reference ?? check.reference,
    fix: finding.fix
      ? trimFix({ ...finding.fix, text: withReadableNames(finding.fix.text) })
      : null,
  };
}

type Verdict = Pick<DomainCheck, 'status' | 'severity' | 'points'>;

/** Status, severity and points say the same: what is to be fixed is a warning or a failure, and costs points. */
function agreed(status: DomainCheck['status'], severity: Severity, points: number): Verdict {
  if (severity === null)
    return { status, severity: status === 'warn' || status === 'fail' ? 'warning' : null, points };
  const toFix = severity === 'critical' ? 'fail' : 'warn';
  return { status: status === 'info' ? toFix : status, severity, points: points || 1 };
}
