/** The check `dmarc`: does an aligned SPF or DKIM pass vouch for the From domain? */

import {
  type Check,
  type Context,
  type Finding,
  type Fix,
  fail,
  pass,
  rfc,
  skipped,
  unknown,
} from '../check.ts';
import { type Explanation, explainFailure } from '../dkim/failures.ts';
import type { DkimOutcome } from '../dkim/outcome.ts';
import { dkimResult } from '../dkim/verify.ts';
import { unusableRecord } from '../dmarc/discovery.ts';
import { type DmarcOutcome, dmarcResult } from '../dmarc/evaluate.ts';
import type { AuthResult } from '../result.ts';
import { type SpfOutcome, spfResult } from '../spf/evaluate.ts';

export const dmarc: Check = {
  id: 'dmarc',
  category: 'authentication',
  points: 12,
  label: 'DMARC',
  issueTitle: 'DMARC does not pass',
  reference: rfc(9989, '5.3'),
  dependsOn: ['dmarc_policy'],
  curedBy: [
    ['spf', 'spf_alignment'],
    ['dkim', 'dkim_alignment'],
  ],
  publicEvidence: {
    result: 'shown',
    from_domain: 'shown',
    organizational_domain: 'shown',
    record_domain: 'shown',
    record: 'shown',
    policy: 'shown',
    spf: { result: 'shown', domain: 'shown', aligned: 'shown', mode: 'shown' },
    dkim: { result: 'shown', domain: 'shown', aligned: 'shown', mode: 'shown' },
  },
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

// What is said, and what to change, where DMARC does not pass: by the one thing that is nearest to it.

const ASKED: Record<string, string> = {
  none: 'The record asks for nothing to be done about it, but receivers count it as not authenticated.',
  quarantine: 'The record asks receivers to put such mail into the spam folder.',
  reject: 'The record asks receivers to refuse such mail.',
};

/** A record applies, and neither SPF nor DKIM vouches for From. */
function explainDmarcFailure(
  outcome: DmarcOutcome,
  spf: SpfOutcome,
  dkim: DkimOutcome,
): Explanation {
  const { fromDomain, alignment, policy } = outcome;
  const states = [
    stateOf('SPF', spf.result, alignment.spf.domain),
    stateOf('DKIM', alignment.dkim.result, alignment.dkim.domain),
  ];
  return {
    title: `DMARC fails for ${fromDomain}.`,
    detail: [...states, ASKED[policy?.effective ?? ''] ?? ''].join(' ').trim(),
    fix: signatureFix(outcome, dkim) ?? identifierFix(outcome, spf),
  };
}

function stateOf(name: string, result: AuthResult | null, domain: string | null): string {
  return result === 'pass'
    ? `${name} passes, but for ${domain}, which is not aligned.`
    : `${name} does not pass (${result ?? 'not checked'}).`;
}

/** The message is signed by an aligned domain already: that signature is the one to fix. */
function signatureFix({ alignment }: DmarcOutcome, { signatures }: DkimOutcome): Fix | null {
  const { domain, aligned, result } = alignment.dkim;
  if (!aligned || result === 'pass') return null;
  const broken = signatures.find((each) => each.domain === domain && each.result === result);
  if (!broken) return null;
  const { fix } = explainFailure(broken);
  const { text, record } = typeof fix === 'string' ? { text: fix } : fix;
  const lead = `Mend the DKIM signature of ${domain}, which is aligned with From but does not verify.`;
  return { text: `${lead} ${text}`, record };
}

function identifierFix({ fromDomain, alignment }: DmarcOutcome, { result }: SpfOutcome): string {
  const { aligned, domain } = alignment.spf;
  if (aligned && result !== 'pass')
    return `Let SPF pass for ${domain}, as told under "SPF". Better still, sign with DKIM for ${fromDomain} (d=${fromDomain}): that also holds when mail is forwarded.`;
  return alignment.dkim.result === 'pass' || result !== 'pass'
    ? `Sign with DKIM for ${fromDomain} (d=${fromDomain}); this also holds when mail is forwarded.`
    : `Send with an envelope sender under ${fromDomain}, or sign with DKIM for it (d=${fromDomain}).`;
}
