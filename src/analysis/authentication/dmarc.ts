/** The check `dmarc`: does an aligned SPF or DKIM pass vouch for the From domain? */

import {
  type Check,
  type Context,
  type Finding,
  fail,
  pass,
  rfc,
  skipped,
  unknown,
} from '../check.ts';
import type { AuthResult } from '../result.ts';
import { unusableRecord } from './dmarc-discovery.ts';
import { explainDmarcFailure } from './dmarc-failure.ts';
import { dkimResult } from './verify-dkim.ts';
import { type DmarcOutcome, dmarcResult } from './verify-dmarc.ts';
import { spfResult } from './verify-spf.ts';

export const dmarc: Check = {
  id: 'dmarc',
  category: 'authentication',
  points: 12,
  label: 'DMARC',
  reference: rfc(9989, '5.3'),
  dependsOn: ['dmarc_policy'],
  curedBy: [
    ['spf', 'spf_alignment'],
    ['dkim', 'dkim_alignment'],
  ],
  async run(context: Context): Promise<Finding> {
    const outcome = await context.fact(dmarcResult);
    const { result, reason, fromDomain } = outcome;
    if (result === null) return skipped('DMARC is not known.', reason ?? '');
    const spf = await context.fact(spfResult);
    const evidence = evidenceOf(outcome, spf.result);
    if (result === 'pass')
      return pass(`DMARC passes for ${fromDomain}.`, vouchers(outcome, spf.result), evidence);
    if (result === 'temperror')
      return unknown(
        'DMARC could not be checked.',
        `${reason ?? 'The DNS did not answer.'} This is not counted against you.`,
        evidence,
      );
    // Whatever SPF and DKIM say: only a From with one domain mends it.
    if (result === 'permerror') {
      const found = fail({ ...unclearAuthor(reason), evidence });
      return { ...found, dependsOn: ['from'], curedBy: [['from']] };
    }
    if (result === 'none') return { ...noRecord(outcome), evidence };
    const dkim = await context.fact(dkimResult);
    return fail({ ...explainDmarcFailure(outcome, spf, dkim), evidence });
  },
};

function evidenceOf(
  outcome: DmarcOutcome,
  spf: AuthResult | null,
): NonNullable<Finding['evidence']> {
  const { alignment, policy } = outcome;
  return {
    result: outcome.result,
    from_domain: outcome.fromDomain,
    organizational_domain: outcome.organizationalDomain,
    record_domain: outcome.recordDomain,
    record: outcome.record,
    policy: policy?.effective ?? null,
    spf: { result: spf, ...alignment.spf },
    dkim: { ...alignment.dkim },
  };
}

function vouchers({ fromDomain, alignment }: DmarcOutcome, spf: AuthResult | null): string {
  const bySpf = spf === 'pass' && alignment.spf.aligned === true;
  const byDkim = alignment.dkim.result === 'pass' && alignment.dkim.aligned === true;
  const by = [
    bySpf && `SPF (${alignment.spf.domain})`,
    byDkim && `DKIM (${alignment.dkim.domain})`,
  ];
  return `${by.filter(Boolean).join(' and ')} vouched for ${fromDomain} with an aligned domain.`;
}

function unclearAuthor(reason: string | null) {
  return {
    title: 'DMARC cannot be applied: the From field has not one clear domain.',
    detail: `${reason ?? ''} Many receivers refuse such a message (RFC 9989 §5.3.1).`.trim(),
    fix: 'Send with one From field that holds one address, such as From: News <news@example.com>.',
  };
}

/**
 * It follows from the check that tells of the record; what it is itself counts in the gain of that
 * one alone: with a record, DMARC would do as SPF and DKIM do now.
 */
function noRecord({ fromDomain, discarded, identifiers }: DmarcOutcome): Finding {
  const title = `No DMARC record applies to ${fromDomain}.`;
  if (identifiers !== 'pass' && identifiers !== 'fail')
    return unknown(title, 'Nor is it known whether SPF or DKIM would vouch for it.');
  const found = fail({
    title,
    detail:
      'Large receivers ask bulk senders for a DMARC record, and this domain has none that counts.',
    fix: 'Publish a DMARC record, as told under "DMARC policy".',
  });
  const cause = unusableRecord(discarded) ? 'dmarc_record' : 'dmarc_policy';
  return identifiers === 'pass' ? { ...found, dependsOn: [cause] } : found;
}
