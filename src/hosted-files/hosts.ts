/** The hosts that have files, in memory. Requests for other hosts cost no query, however many there are. */

import type { App } from '../app.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import type { HostedFileRow } from '../store/tables.generated.ts';
import { certificatePath, logoPath } from './bimi.ts';
import { type Policy, policyText } from './policy.ts';

/** Changes of other nodes, and lost verifications, take effect after this time. */
export const REFRESH_MS = 1_000;

export interface HostedFile {
  body: string;
  type: string;
}

const POLICY_PATH = '/.well-known/mta-sts.txt';
/** RFC 8555 §9.1. */
const PEM_TYPE = 'application/pem-certificate-chain';

/** Reads the file at a path; null if there is none. */
type Host = (path: string) => Promise<HostedFile | null>;

interface Index {
  readAt: number;
  hosts: Promise<Map<string, Host>>;
}

const stateOf = memoizePerObject((_: App): { index: Index | null } => ({ index: null }));

/** The next request reads the hosts again. */
export function forgetHosts(app: App): void {
  stateOf(app).index = null;
}

/** Null for a host without files. Its name must be in lower case. */
export async function findHost(app: App, name: string): Promise<Host | null> {
  const state = stateOf(app);
  const now = app.clock.now();
  // Also if the clock was set back.
  if (state.index === null || Math.abs(now - state.index.readAt) >= REFRESH_MS)
    state.index = { readAt: now, hosts: readHosts(app) };
  return (await state.index.hosts).get(name) ?? null;
}

/** Only of domains that are verified now. */
async function readHosts({ db }: App): Promise<Map<string, Host>> {
  const rows = await db
    .selectFrom('hosted_files')
    .innerJoin('domains', 'domains.id', 'hosted_files.domain_id')
    .select(['domains.id', 'domains.name', 'hosted_files.policy'])
    .select((eb) => eb('hosted_files.logo', 'is not', null).as('hasLogo'))
    .where('domains.status', '=', 'verified')
    .execute();
  const hosts = new Map<string, Host>();
  for (const { id, name, policy, hasLogo } of rows) {
    if (policy !== null) hosts.set(`mta-sts.${name}`, policyHost(JSON.parse(policy)));
    if (hasLogo) {
      let files: Promise<Map<string, HostedFile>> | undefined;
      hosts.set(`bimi.${name}`, async (path) => {
        files ??= readLogos(db, id);
        return (await files).get(path) ?? null;
      });
    }
  }
  return hosts;
}

const policyHost =
  (policy: Policy): Host =>
  async (path) =>
    path === POLICY_PATH ? { body: policyText(policy), type: 'text/plain' } : null;

async function readLogos(db: App['db'], domainId: string): Promise<Map<string, HostedFile>> {
  const row = await db
    .selectFrom('hosted_files')
    .select(['logo', 'certificate', 'former_logo', 'former_certificate'])
    .where('domain_id', '=', domainId)
    .executeTakeFirst();
  return new Map(row ? filesIn(row) : []);
}

function filesIn(
  row: Pick<HostedFileRow, 'logo' | 'certificate' | 'former_logo' | 'former_certificate'>,
): [path: string, file: HostedFile][] {
  const present = (texts: (string | null)[]) => texts.filter((text) => text !== null);
  return [
    ...present([row.former_logo, row.logo]).map((body): [string, HostedFile] => [
      logoPath(body),
      { body, type: 'image/svg+xml' },
    ]),
    ...present([row.former_certificate, row.certificate]).map((body): [string, HostedFile] => [
      certificatePath(body),
      { body, type: PEM_TYPE },
    ]),
  ];
}
