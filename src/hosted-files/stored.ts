/** The stored files of domains: reading, changing and presenting them. */

import type { App } from '../app.ts';
import { AUDITED_DOMAIN } from '../domains/change-domain.ts';
import { tlsPolicies } from '../feedback/tls/policies.ts';
import { isoTime } from '../lib/clock.ts';
import { DAY_MS } from '../lib/durations.ts';
import { AppError, invalidParams } from '../lib/errors.ts';
import { parseMx, recordsOf } from '../net/dns/resolver.ts';
import { afterCommit, type Db, type Tx } from '../store/open.ts';
import type { DomainRow, HostedFileRow } from '../store/tables.generated.ts';
import { type Author, audit } from '../team/audit.ts';
import { bimiUrl, certificatePath, expiryOf, logoPath, readLogo } from './bimi.ts';
import { forgetHosts } from './hosts.ts';
import {
  adviceOn,
  type Policy,
  policyId,
  policyProblems,
  policyUrl,
  REPORT_DAYS,
  unlistedIn,
} from './policy.ts';
import { hostedRecords } from './records.ts';
import type { HostedFiles, HostedFilesPatch } from './schema.ts';

const NONE: Omit<HostedFileRow, 'domain_id'> = {
  policy: null,
  policy_changed_at: null,
  enforced_until: null,
  logo: null,
  certificate: null,
  former_logo: null,
  former_certificate: null,
};

/** Of a domain without files, too. */
export async function hostedFilesOf(db: Db | Tx, domain_id: string): Promise<HostedFileRow> {
  const row = await db
    .selectFrom('hosted_files')
    .selectAll()
    .where('domain_id', '=', domain_id)
    .executeTakeFirst();
  return row ?? { domain_id, ...NONE };
}

export const policyOf = ({ policy }: Pick<HostedFileRow, 'policy'>): Policy | null =>
  policy === null ? null : JSON.parse(policy);

/**
 * The hosts of the MX records, or without any the domain itself (RFC 5321 §5.1); null if the lookup failed. Empty for a domain
 * that accepts no mail.
 */
export async function mailServersOf(
  { resolver }: Pick<App, 'resolver'>,
  domain: string,
): Promise<string[] | null> {
  const answer = await resolver(domain, 'MX');
  const records = recordsOf(answer);
  if (records === null) return null;
  if (answer.status === 'nodata') return [domain];
  const hosts = records.map((text) => parseMx(text).exchange).filter((host) => host !== '.');
  return [...new Set(hosts)].toSorted();
}

/** `mailServers` as of now. Throws `validation_failed`, `conflict`, and `unavailable` if they aren’t known. */
export async function changeFiles(
  tx: Tx,
  author: Author & { app: App },
  domain: DomainRow,
  { mta_sts, bimi }: HostedFilesPatch,
  mailServers: string[] | null,
): Promise<HostedFileRow> {
  const { id, name } = domain;
  if (domain.status !== 'verified') throw new AppError('conflict', 'Verify the domain first.');
  const current = await hostedFilesOf(tx, id);
  const now = author.app.clock.now();
  const next = { ...current };
  const details: Record<string, unknown> = {};
  if (mta_sts !== undefined) {
    const before = policyOf(current);
    const after = mta_sts && { mx: knownServers(mailServers), ...mta_sts };
    requireSafe(before, after, mailServers);
    next.policy =
      after && JSON.stringify({ mode: after.mode, mx: after.mx, max_age: after.max_age });
    if (next.policy !== current.policy) {
      next.policy_changed_at = isoTime(now);
      if (before?.mode === 'enforce') {
        const until = isoTime(now + before.max_age * 1000);
        next.enforced_until = [until, current.enforced_until ?? ''].toSorted().at(-1)!;
      }
      details.mta_sts = { from: before, to: after };
    }
  }
  if (bimi === null)
    Object.assign(next, {
      logo: null,
      certificate: null,
      former_logo: null,
      former_certificate: null,
    });
  else if (bimi) {
    const { certificate = current.certificate } = bimi;
    // A new certificate brings its own logo.
    const logo = bimi.logo ?? (bimi.certificate ? null : current.logo);
    Object.assign(next, readLogo({ logo, certificate }, { domain: name, now }));
  }
  for (const field of ['logo', 'certificate'] as const)
    if (next[field] !== current[field]) {
      if (bimi) next[`former_${field}`] = current[field];
      const urlOf = field === 'logo' ? logoPath : certificatePath;
      const shown = (text: string | null) => text && urlOf(text);
      details[field] = { from: shown(current[field]), to: shown(next[field]) };
    }
  if (Object.keys(details).length === 0) return current;
  const { domain_id: _, ...values } = next;
  await tx
    .insertInto('hosted_files')
    .values(next)
    .onConflict((conflict) => conflict.column('domain_id').doUpdateSet(values))
    .execute();
  await audit(tx, author, AUDITED_DOMAIN, 'domain.files_changed', id, details);
  afterCommit(tx, () => forgetHosts(author.app));
  return next;
}

function knownServers(mailServers: string[] | null): string[] {
  if (mailServers) return mailServers;
  throw new AppError(
    'unavailable',
    'The MX records of the domain could not be looked up. Try again in a minute.',
    [],
    { 'retry-after': '60' },
  );
}

/** RFC 8461 §2: senders that remember an enforced policy don’t deliver without it. */
function requireSafe(
  before: Policy | null,
  after: Policy | null,
  mailServers: string[] | null,
): void {
  const refuse = (message: string) =>
    invalidParams([{ param: 'mta_sts', code: 'invalid', message }]);
  if (after === null) {
    if (before?.mode !== 'enforce') return;
    throw new AppError(
      'conflict',
      'Senders remember the policy and enforce it. Set its mode to none first, publish the new id, and remove the policy when no sender remembers it.',
    );
  }
  const problems = policyProblems(after);
  if (problems.length > 0) throw refuse(`is not valid: ${problems.join(' ').replace(/\.$/, '')}`);
  if (after.mode !== 'enforce') return;
  const unlisted = unlistedIn(after, knownServers(mailServers));
  if (unlisted.length > 0)
    throw refuse(
      `must list ${unlisted.join(', ')}: in enforce mode, senders do not deliver to an MX host that is missing`,
    );
}

export async function presentFiles(
  app: App,
  db: Db | Tx,
  domain: Pick<DomainRow, 'id' | 'name'>,
  row: HostedFileRow,
  mailServers: string[] | null,
): Promise<HostedFiles> {
  const { id, name } = domain;
  const { logo, certificate } = row;
  const policy = policyOf(row);
  const urlOf = (path: string) => bimiUrl(name, path);
  return {
    object: 'hosted_files',
    domain_id: id,
    mta_sts: policy && {
      ...policy,
      id: policyId(policy),
      url: policyUrl(name),
      changed_at: row.policy_changed_at!,
    },
    bimi:
      logo === null
        ? null
        : {
            logo_url: urlOf(logoPath(logo)),
            certificate_url: certificate && urlOf(certificatePath(certificate)),
            certificate_expires_at: certificate && expiryOf(certificate),
          },
    mail_servers: mailServers,
    unlisted: policy && policy.mode !== 'none' ? unlistedIn(policy, mailServers ?? []) : [],
    advice: adviceOn({
      policy,
      mailServers,
      reports: await reportsOf(app, db, domain, row),
      enforcedUntil: row.enforced_until,
      now: app.clock.now(),
    }),
    records: hostedRecords(app.config, name, row),
  };
}

/** What TLS reports say about MTA-STS since the last change of the policy. */
async function reportsOf(
  { clock }: App,
  db: Db | Tx,
  domain: Pick<DomainRow, 'id' | 'name'>,
  { policy_changed_at }: HostedFileRow,
) {
  const dayAt = (ms: number) => isoTime(ms).slice(0, 10);
  const now = clock.now();
  const first = dayAt(now - REPORT_DAYS * DAY_MS);
  // The day of the change was partly under the former policy.
  const changed = policy_changed_at ? dayAt(Date.parse(policy_changed_at) + DAY_MS) : first;
  const from = changed > first ? changed : first;
  const sums = await tlsPolicies(db as Db, { domain, from, to: dayAt(now) });
  const ours = sums.filter(({ policy_type }) => policy_type === 'sts');
  const total = (field: 'succeeded' | 'failed') => ours.reduce((sum, one) => sum + one[field], 0);
  return {
    days: new Set(ours.flatMap(({ days }) => [...days])).size,
    succeeded: total('succeeded'),
    failed: total('failed'),
  };
}
