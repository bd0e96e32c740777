/** What conditions about receivers share: their subjects, which exist as long as an account shows them. */

import type { Config } from '../../config/config.ts';
import type { ReceiverId } from '../../config/receivers.ts';
import { subjectOf } from '../../receivers/blocks.ts';
import type { Db, Tx } from '../../store/open.ts';

/** The names of the configured accounts. */
export const accountsAt = ({ RECEIVERS }: Config, receiver: ReceiverId): string[] =>
  RECEIVERS.filter((account) => account.receiver === receiver).map(({ name }) => name);

/** The subject is the name of a domain. One that an account no longer has is forgotten after a month. */
export async function findDomainsAtGoogle(
  db: Db | Tx,
  config: Config,
  subjects: string[],
): Promise<Set<string>> {
  const accounts = accountsAt(config, 'google_postmaster');
  if (accounts.length === 0) return new Set();
  const rows = await db
    .selectFrom('receiver_domains as listed')
    .innerJoin('domains', 'domains.name', 'listed.name')
    .select('listed.name')
    .where('listed.receiver_id', 'in', accounts)
    .where('listed.name', 'in', subjects)
    .execute();
  return new Set(rows.map(({ name }) => name));
}

/** The subject is a domain, a space, and a requirement. */
export async function findRequirements(
  db: Db | Tx,
  config: Config,
  subjects: string[],
): Promise<Set<string>> {
  const accounts = accountsAt(config, 'google_postmaster');
  if (accounts.length === 0) return new Set();
  const rows = await db
    .selectFrom('receiver_requirements as requirement')
    .innerJoin('domains', 'domains.name', 'requirement.name')
    .select(['requirement.name', 'requirement.requirement'])
    .where('requirement.receiver_id', 'in', accounts)
    .where(
      'requirement.name',
      'in',
      subjects.map((subject) => subject.split(' ')[0]!),
    )
    .execute();
  return new Set(rows.map(({ name, requirement }) => `${name} ${requirement}`));
}

/** The subject is an address, or the first and the last of a range, with a hyphen between them. */
export async function findAddresses(
  db: Db | Tx,
  config: Config,
  subjects: string[],
): Promise<Set<string>> {
  const accounts = accountsAt(config, 'microsoft_snds');
  if (accounts.length === 0) return new Set();
  const [ranges, addresses] = [
    await db
      .selectFrom('receiver_blocks')
      .select(['first_address', 'last_address'])
      .where('receiver_id', 'in', accounts)
      .where(
        'first_address',
        'in',
        subjects.map((subject) => subject.split('-')[0]!),
      )
      .execute(),
    await db
      .selectFrom('receiver_addresses')
      .select('address')
      .distinct()
      .where('receiver_id', 'in', accounts)
      .where('address', 'in', subjects)
      .execute(),
  ];
  return new Set([...addresses.map(({ address }) => address), ...ranges.map(subjectOf)]);
}

export const gmailPage = ({ value }: { value: { domain_id: string } }) => ({
  label: 'View Gmail figures',
  path: `/domains/${value.domain_id}#gmail`,
});
