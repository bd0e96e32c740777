/** Changes the files of a domain, and presents them. */

import { parseStsPolicy } from '../analysis/checks/mta-sts.ts';
import type { App } from '../app.ts';
import { AUDITED_DOMAIN } from '../domains/change-domain.ts';
import { tlsPolicies } from '../feedback/tls/policies.ts';
import { isoTime } from '../lib/clock.ts';
import { DAY_MS } from '../lib/durations.ts';
import { AppError } from '../lib/errors.ts';
import { parseMx, recordsOf } from '../net/dns/resolver.ts';
import { afterCommit, type Db, type Tx } from '../store/open.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import { type Author, audit } from '../team/audit.ts';
import { readLogo, unusable } from './bimi.ts';
import { filesOf, hostedFilesOf, hostedRecords, policyOf } from './files.ts';
import { adviceOn, type Policy, policyId, policyText, REPORT_DAYS, unlistedIn } from './policy.ts';
import type { HostedFiles, HostedFilesPatch } from './schema.ts';
import { forgetHosts } from './serve.ts';

/**
 * The hosts of the MX records, or without any the domain itself (RFC 5321 §5.1); null if the lookup failed. Empty for a domain
 * that accepts no mail.
 */
export async function mailServersOf({ resolver }: App, domain: string): Promise<string[] | null> {
  const answer = await resolver(domain, 'MX');
  if (answer.status === 'nodata') return [domain];
  const hosts = recordsOf(answer)?.map((text) => parseMx(text).exchange) ?? null;
  return hosts && [...new Set(hosts)].filter((host) => host !== '.').toSorted();
}

/** Throws `validation_failed`, `conflict`, and `unavailable` if `mailServers` aren’t known but needed. */
export async function changeFiles(
  tx: Tx,
  author: Author & { app: App },
  { id, name, status }: DomainRow,
  { mta_sts, bimi }: HostedFilesPatch,
  mailServers: string[] | null,
): Promise<void> {
  if (status !== 'verified') throw new AppError('conflict', 'Verify the domain first.');
  const current = await hostedFilesOf(tx, id);
  const now = author.app.clock.now();
  const next = { ...current };
  if (mta_sts !== undefined) {
    const policy = nextPolicy(policyOf(current), mta_sts, mailServers, now);
    next.policy = policy && JSON.stringify(policy);
  }
  if (bimi) {
    const { certificate = current.certificate } = bimi;
    // A new certificate brings its own logo.
    const logo = bimi.logo ?? (bimi.certificate ? null : current.logo);
    Object.assign(next, readLogo({ logo, certificate }, name, now));
  } else if (bimi === null) Object.assign(next, { logo: null, certificate: null });
  const [from, to] = [current, next].map((row) => ({
    policy: policyOf(row),
    urls: filesOf(name, row).map(({ url }) => url),
  }));
  if (JSON.stringify(from) === JSON.stringify(to)) return;
  const { domain_id, ...values } = next;
  await tx
    .insertInto('hosted_files')
    .values(next)
    .onConflict((conflict) => conflict.column('domain_id').doUpdateSet(values))
    .execute();
  await audit(tx, author, AUDITED_DOMAIN, 'domain.files_changed', domain_id, { from, to });
  afterCommit(tx, () => forgetHosts(author.app));
}

/** Throws for a policy with which senders would not deliver. */
function nextPolicy(
  before: Policy | null,
  change: HostedFilesPatch['mta_sts'],
  mailServers: string[] | null,
  now: number,
): Policy | null {
  const until = before?.enforced_until ?? '';
  if (!change) {
    // RFC 8461 §2.
    if (before?.mode !== 'enforce' && (before?.mode !== 'testing' || until <= isoTime(now)))
      return null;
    throw new AppError(
      'conflict',
      'Senders remember a policy that they enforce. Set its mode to none first, and publish the new id.',
    );
  }
  const { mx = mailServers, ...rest } = change;
  const enforced = before?.mode === 'enforce' ? isoTime(now + before.max_age * 1000) : '';
  const policy: Policy = {
    ...rest,
    mx: [...new Set(mx)],
    changed_at: isoTime(now),
    enforced_until: enforced > until ? enforced : until,
  };
  if (before && policyText(policy) === policyText(before)) return before;
  const isEnforced = policy.mode === 'enforce';
  if (mx === null || (isEnforced && mailServers === null))
    throw new AppError(
      'unavailable',
      'The MX records of the domain could not be looked up. Try again in a minute.',
      [],
      { 'retry-after': '60' },
    );
  const unlisted = isEnforced ? unlistedIn(policy, mailServers!) : [];
  const { problems } = parseStsPolicy(policyText(policy));
  if (unlisted.length > 0)
    problems.push(`In enforce mode, senders would not deliver to ${unlisted.join(', ')}.`);
  if (problems.length > 0) throw unusable('mta_sts', problems);
  return policy;
}

export async function presentFiles(
  app: App,
  db: Db | Tx,
  { id, name }: DomainRow,
  mail_servers: string[] | null,
): Promise<HostedFiles> {
  const row = await hostedFilesOf(db, id);
  const policy = policyOf(row);
  const now = app.clock.now();
  const reports = await reportsOf(db, id, policy, now);
  return {
    object: 'hosted_files',
    domain_id: id,
    mta_sts: policy && { ...policy, id: policyId(policy) },
    mail_servers,
    advice: adviceOn(policy, mail_servers, reports, isoTime(now)),
    records: hostedRecords(app, name, row),
  };
}

async function reportsOf(db: Db | Tx, id: string, policy: Policy | null, now: number) {
  const dayAt = (ms: number) => isoTime(ms).slice(0, 10);
  // The day of the change was partly under the former policy.
  const changed = policy ? Date.parse(policy.changed_at) + DAY_MS : 0;
  const from = dayAt(Math.max(now - REPORT_DAYS * DAY_MS, changed));
  const sums = await tlsPolicies(db, { domain: { id }, from, to: dayAt(now) });
  const reports = { days: new Set<string>(), succeeded: 0, failed: 0 };
  for (const { policy_type, days, succeeded, failed } of sums) {
    if (policy_type !== 'sts') continue;
    for (const day of days) reports.days.add(day);
    reports.succeeded += succeeded;
    reports.failed += failed;
  }
  return { ...reports, days: reports.days.size };
}
