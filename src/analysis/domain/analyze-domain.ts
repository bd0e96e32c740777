/** Looks at a domain without a message: the checks of a report that need none, and some of its own. */

import { errorMessage } from '../../lib/errors.ts';
import type { Resolver } from '../../net/resolver.ts';
import type { ProbeMailTls } from '../../net/smtp-probe.ts';
import type { Web } from '../../net/web.ts';
import { boundedResolver, boundedWeb, type Deadline, LATE, startDeadline } from '../bounds.ts';
import { type Check, type Context, DEADLINE_MS, type Finding, skipped, unknown } from '../check.ts';
import { createContext } from '../context.ts';
import { parseMessage } from '../parse-message.ts';
import type { Setup } from '../setup.ts';
import { trimEvidence, trimText } from '../trim.ts';
import { dkimSelectorChecks } from './dkim-selector.ts';
import { domainChecks, type GradedCheck } from './domain-checks.ts';
import { type DomainCheck, type DomainHealth, healthOf } from './domain-health.ts';
import { lookUpKeys } from './selector-keys.ts';

export interface DomainOptions {
  resolver: Resolver;
  web: Web;
  setup: Setup;
  /** The DKIM selectors that are known; where there is none, common ones are tried. */
  selectors: string[];
  /** Milliseconds since 1970. */
  now: number;
  /** Without it no mail server is connected to. */
  probeMailTls?: ProbeMailTls;
  deadlineMs?: number;
  /** Told of a check that threw: a bug, shown to the user as "could not be found out". */
  onFault?(checkId: string, error: unknown): void;
}

/**
 * The health of a domain, given as `readDomainName` reads it. Ends within the deadline whatever the
 * resolver does; rejects only for what is a bug.
 */
export async function analyzeDomain(name: string, options: DomainOptions): Promise<DomainHealth> {
  const deadline = startDeadline(options.deadlineMs ?? DEADLINE_MS);
  try {
    const context = await contextOf(name, options, deadline);
    const looks = { context, deadline, domain: name, onFault: options.onFault };
    const keys = await lookUpKeys(context, name, options.selectors);
    const graded = domainChecks(name, dkimSelectorChecks(name, keys), options.probeMailTls ?? null);
    const found = await Promise.all(graded.map(({ check }) => runCheck(check, looks)));
    const followed = applyDependencies(graded, found);
    const checks = await Promise.all(
      graded.map((each, index) => toDomainCheck(each, followed[index]!, looks)),
    );
    return healthOf(name, checks);
  } finally {
    deadline.stop();
  }
}

interface Looks {
  context: Context;
  deadline: Deadline;
  domain: string;
  onFault?: DomainOptions['onFault'];
}

/** A message that is empty but for its sender: what the checks ask is then about the domain. */
async function contextOf(
  name: string,
  { resolver, web, setup, now }: DomainOptions,
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
      setup,
    },
  );
}

async function runCheck(check: Check, { context, deadline, onFault }: Looks): Promise<Finding> {
  try {
    const first = await Promise.race([check.run(context), deadline.passed]);
    if (first !== LATE) return first;
    return unknown(
      `${check.label} could not be checked in time.`,
      'What it asked was not answered before the analysis had to end.',
    );
  } catch (error) {
    onFault?.(check.id, error);
    return unknown(
      `${check.label} could not be checked.`,
      `This is a fault of the tester, not of your domain (${errorMessage(error).slice(0, 80)}).`,
    );
  }
}

/** What depends on a failed check follows from it, so that one cause is one finding. */
function applyDependencies(graded: GradedCheck[], findings: Finding[]): Finding[] {
  const failed = new Set(
    graded.flatMap(({ check }, index) => (findings[index]!.status === 'fail' ? [check.id] : [])),
  );
  return graded.map(({ check }, index) => {
    const finding = findings[index]!;
    const depends = [...(check.dependsOn ?? []), ...(finding.dependsOn ?? [])];
    const roots = depends.filter((id) => failed.has(id));
    if (roots.length === 0) return finding;
    const text = `follows from ${roots.join(' and ')}`;
    return skipped(`${check.label}: ${text}.`, text);
  });
}

async function toDomainCheck(
  { check, grave }: GradedCheck,
  finding: Finding,
  { context, domain }: Looks,
): Promise<DomainCheck> {
  return {
    id: check.id,
    label: trimText(check.label),
    category: check.category,
    status: finding.status,
    severity: await grave(finding, context, domain),
    title: trimText(finding.title),
    detail: trimText(finding.detail),
    evidence: trimEvidence(finding.evidence ?? {}),
    points: check.points,
    reference: finding.reference ?? check.reference,
    fix: finding.fix ?? null,
  };
}
