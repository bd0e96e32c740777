/** Reads what the Gmail Postmaster Tools API v2 publishes about domains, within limits of size and time. */

import * as v from 'valibot';
import { normalizeDomain } from '../../lib/domain-names.ts';
import { type DayRange, type PostmasterDays, readDays } from './days.ts';
import { invalidResponse, type PostmasterAccess, postmasterRequests } from './requests.ts';

export type { DeliveryErrors, PostmasterDay, PostmasterDays } from './days.ts';
export { AccountRefusedError, type PostmasterAccess } from './requests.ts';

export interface PostmasterDomain {
  /** In A-labels. */
  name: string;
  /** Such as `OWNER`, `READER` and `NONE`. */
  permission: string;
  /** Such as `VERIFIED`; null if Google doesn’t say. */
  verificationState: string | null;
}

export interface RequirementStatus {
  /** Such as `SPF_AND_DKIM`. */
  requirement: string;
  /** Such as `COMPLIANT` and `NEEDS_WORK`. */
  status: string;
  /** Such as `NO_UNSUB_GENERAL`; null if Google gives none. */
  reason: string | null;
}

export interface Postmaster {
  /** All domains of the account. */
  listDomains(): Promise<PostmasterDomain[]>;
  /** Null if Google has no compliance status of the domain. */
  compliance(name: string): Promise<RequirementStatus[] | null>;
  /**
   * Days such as `2026-11-21`, both included. Rejects if the first call fails. If a later one does, what was read
   * is returned with the problem.
   */
  days(name: string, range: DayRange): Promise<PostmasterDays>;
}

const PAGE_SIZE = 200;
const MAX_PAGES = 50;

/** Names of constants; null for those that say nothing. */
const Constant = v.fallback(
  v.nullable(v.pipe(v.string(), v.regex(/^(?!\w*UNSPECIFIED$)[A-Z][A-Z0-9_]{0,59}$/))),
  null,
);
const Domains = v.object({
  domains: v.optional(v.array(v.unknown()), []),
  nextPageToken: v.optional(v.pipe(v.string(), v.maxLength(2000)), ''),
});
const Domain = v.object({
  name: v.pipe(v.string(), v.startsWith('domains/')),
  permission: v.optional(Constant, null),
  verificationState: v.optional(Constant, null),
});

const Status = v.fallback(v.object({ status: v.optional(Constant, null) }), { status: null });
const Row = v.object({ requirement: Constant, status: v.optional(Status) });
const Verdict = v.fallback(
  v.nullish(v.object({ status: v.optional(Status), reason: v.optional(Constant, null) })),
  null,
);
const ComplianceData = v.nullish(
  v.object({
    rowData: v.optional(v.array(v.unknown()), []),
    oneClickUnsubscribeVerdict: Verdict,
    honorUnsubscribeVerdict: Verdict,
  }),
);
const Compliance = v.object({
  complianceData: ComplianceData,
  subdomainComplianceData: ComplianceData,
});

/** Its operations reject with an AccountError; with `sign_in_failed` if the access token is not accepted. */
export function openPostmaster(access: PostmasterAccess): Postmaster {
  const requests = postmasterRequests(access);
  const { host } = requests;
  return {
    async listDomains() {
      const domains = new Map<string, PostmasterDomain>();
      let pageToken = '';
      for (let pages = 0; pages < MAX_PAGES; pages++) {
        const query = `pageSize=${PAGE_SIZE}&pageToken=${encodeURIComponent(pageToken)}`;
        const page = v.safeParse(Domains, await requests.get(`/v2/domains?${query}`));
        if (!page.success) throw invalidResponse(host);
        for (const domain of page.output.domains.flatMap(domainOf))
          domains.set(domain.name, domain);
        pageToken = page.output.nextPageToken;
        if (pageToken === '') return [...domains.values()];
      }
      // Domains that a part of the list lacks would seem to be removed.
      throw invalidResponse(host);
    },
    async compliance(name) {
      const options = { domain: name, absent: [404] };
      const answer = await requests.get(`/v2/domains/${name}/complianceStatus`, options);
      if (answer === null) return null;
      const compliance = v.safeParse(Compliance, answer);
      if (!compliance.success) throw invalidResponse(host);
      const { complianceData, subdomainComplianceData } = compliance.output;
      const own = requirementsOf(subdomainComplianceData);
      const requirements = own.length > 0 ? own : requirementsOf(complianceData);
      return requirements.length > 0 ? requirements : null;
    },
    days: (name, range) => readDays(requests, name, range),
  };
}

function domainOf(json: unknown): PostmasterDomain[] {
  const domain = v.safeParse(Domain, json);
  const name = domain.success && normalizeDomain(domain.output.name.slice('domains/'.length));
  if (!domain.success || !name) return [];
  const { permission, verificationState } = domain.output;
  return [{ name, permission: permission ?? 'PERMISSION_UNSPECIFIED', verificationState }];
}

function requirementsOf(data: v.InferOutput<typeof ComplianceData>): RequirementStatus[] {
  const requirements = new Map<string, RequirementStatus>();
  const add = (
    requirement: string | null,
    status?: string | null,
    reason: string | null = null,
  ) => {
    if (requirement && status) requirements.set(requirement, { requirement, status, reason });
  };
  for (const json of data?.rowData ?? []) {
    const row = v.safeParse(Row, json);
    if (row.success) add(row.output.requirement, row.output.status?.status);
  }
  const { oneClickUnsubscribeVerdict: oneClick, honorUnsubscribeVerdict: honor } = data ?? {};
  // They say more than a row.
  add('ONE_CLICK_UNSUBSCRIBE', oneClick?.status?.status, oneClick?.reason);
  add('HONOR_UNSUBSCRIBE', honor?.status?.status, honor?.reason);
  return [...requirements.values()];
}
