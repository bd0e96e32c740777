/** The records that findings propose, as far as they are below the domain of the team. */

import type { CheckStatus, Fix, Json } from '../analysis/check.ts';
import { isExample, isWithin, PLACEHOLDER } from '../domains/records-to-publish.ts';
import { verificationRecord } from '../domains/verification.ts';
import { ownedDomain } from '../lib/domain-names.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import type { ProposedRecord } from './plan.ts';

/** A finding about a message or a domain. */
export interface FoundBy {
  id: string;
  label: string;
  status: CheckStatus;
  evidence: { [key: string]: Json };
  fix: Fix | null;
}

/** `domain` in A-labels. Those that can’t be published as they are have a problem. */
export function proposalsOf(domain: string, checks: FoundBy[]): ProposedRecord[] {
  const owner = ownedDomain(domain) ?? domain;
  return checks.flatMap((check): ProposedRecord[] => {
    const { id, label, fix } = check;
    const record = fix?.record;
    if (!record || !isWithin(record.name, owner)) return [];
    return [
      {
        ...{ type: record.type, name: record.name, value: record.value },
        purpose: `${label}: ${fix.text}`,
        checks: [id],
        basedOn: null,
        problem: problemOf(record.value, isExample(check, checks)),
      },
    ];
  });
}

function problemOf(value: string, isInvented: boolean): string | null {
  if (PLACEHOLDER.test(value))
    return 'Only you know the part in angle brackets. Publish this record yourself.';
  if (isInvented)
    return 'This record is an example. Adjust its values to your mail servers and mailboxes, and publish it yourself.';
  return null;
}

/** Published beside those of other teams. */
export const verificationProposal = (row: Pick<DomainRow, 'name' | 'token'>): ProposedRecord => ({
  ...verificationRecord(row),
  purpose: 'Proves that you control the domain.',
  checks: [VERIFICATION],
  basedOn: null,
  isAdded: true,
  problem: null,
});

/** Stands for the verification where checks are named. */
export const VERIFICATION = 'verification';
