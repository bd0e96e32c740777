/** The records that findings propose, and whether they can be published as they are. */

import type { CheckResult } from '../analysis/result.ts';
import { hasOwnName, isSpf, PLACEHOLDER } from '../domains/merge-records.ts';
import { isExample } from '../domains/records-to-publish.ts';
import { verificationRecord } from '../domains/verification.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import type { ProposedRecord } from './plan.ts';

export type Proposer = Pick<CheckResult, 'id' | 'label' | 'status' | 'evidence' | 'fix'>;

const PUBLISHABLE = ['TXT', 'CAA', 'TLSA', 'A', 'AAAA'];

export function proposalsOf(checks: Proposer[]): ProposedRecord[] {
  return checks.flatMap((check): ProposedRecord[] => {
    const { id, label, fix } = check;
    if (!fix?.record) return [];
    const { type, value } = fix.record;
    const name = fix.record.name.toLowerCase();
    return [
      {
        type,
        name,
        value,
        purpose: `${label}: ${fix.text}`,
        checks: [id],
        basedOn: recordsSeen(checks, name, value),
        problem: proposalProblem(check, checks),
        caution: fix.caution ?? proposalCaution(id, type, value),
      },
    ];
  });
}

/** The record that proves the team’s control over the domain. */
export const verificationProposal = (row: Pick<DomainRow, 'name' | 'token'>): ProposedRecord => ({
  ...verificationRecord(row),
  purpose: 'Proves that you control the domain.',
  checks: [],
  basedOn: null,
  isAdded: true,
  problem: null,
  caution: null,
});

function proposalProblem(check: Proposer, checks: Proposer[]): string | null {
  const { type, value } = check.fix!.record!;
  if (type === 'PTR')
    return 'Only the provider of the IP address can publish its PTR record. Ask the provider to change it.';
  if (PLACEHOLDER.test(value))
    return 'Only you know the part in angle brackets. Replace it with your own value, and publish the record yourself.';
  // The host of an MX record is always invented. An MTA-STS record is not an example, but needs a policy file.
  if (!PUBLISHABLE.includes(type) || (check.id !== 'mta_sts' && isExample(check, checks)))
    return 'This record is an example. Adjust its values to your mail servers and mailboxes, and publish it yourself.';
  return null;
}

function proposalCaution(id: string, type: string, value: string): string | null {
  if (id === 'mta_sts')
    return 'The record has no effect until the policy file is on your web server.';
  // The sender of a message chooses the name that it says in HELO.
  return type === 'A' || type === 'AAAA' ? `Publish it only if ${value} is your server.` : null;
}

/** What the checks saw at the name of the record; null if none of them says. */
function recordsSeen(checks: Proposer[], name: string, value: string): string[] | null {
  const domain = /^_dmarc\.(.+)$/.exec(name)?.[1];
  const key = domain !== undefined ? 'record_domain' : hasOwnName(name) ? 'name' : 'domain';
  if (key === 'domain' && !isSpf(value)) return null;
  for (const { evidence } of checks) {
    if (String(evidence[key]).toLowerCase() !== (domain ?? name)) continue;
    if (Array.isArray(evidence.records)) return evidence.records.map(String);
    if (typeof evidence.record === 'string') return [evidence.record];
  }
  return null;
}
