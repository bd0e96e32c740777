/** The check `dmarc`: does SPF or DKIM pass with a domain that aligns with the From domain? */

import type { AuthResult } from '../auth-results.ts';
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
import { alsoRepaired, type Explanation, explainRepair } from '../dkim/failures.ts';
import { type DkimSignature, hasOwnKey, rsaFirst } from '../dkim/outcome.ts';
import { dkimResult } from '../dkim/verify.ts';
import { unusableRecord } from '../dmarc/discovery.ts';
import { alignmentOf, type DmarcOutcome, dmarcResult, reliesOnEd25519 } from '../dmarc/evaluate.ts';
import { type SeparatedDomain, separatedByPsd } from '../dmarc/organization.ts';
import { forwardedDmarcFix } from '../forwarding/explain.ts';
import { PUBLIC_RECEIVER_RESULT, withReceiverResult } from '../receipt/receiver-result.ts';
import { signingFix } from '../sending-services/signing-steps.ts';
import { type SpfOutcome, spfResult } from '../spf/evaluate.ts';
import { dmarcFixUnlessProposed } from './dmarc-policy.ts';

export const dmarc: Check = {
  id: 'dmarc',
  category: 'authentication',
  points: 12,
  label: 'DMARC',
  issueTitle: 'DMARC does not pass',
  reference: rfc(9989, '5.3'),
  dependsOn: ['dmarc_policy'],
  fixedBy: [
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
    ...PUBLIC_RECEIVER_RESULT,
  },
  async run(context: Context): Promise<Finding> {
    const outcome = await context.fact(dmarcResult);
    return withReceiverResult(context, 'dmarc', outcome.result, await evaluate(context, outcome));
  },
};

async function evaluate(context: Context, outcome: DmarcOutcome): Promise<Finding> {
  const { result, reason, fromDomain } = outcome;
  if (result === null) return skipped('DMARC was not checked.', reason ?? '');
  const spf = await context.fact(spfResult);
  const evidence = evidenceOf(outcome, spf.result);
  if (result === 'pass' && (await context.fact(reliesOnEd25519)))
    return { ...passByEd25519(fromDomain), evidence, dependsOn: ['dkim_key'] };
  if (result === 'pass')
    return pass(`DMARC passes for ${fromDomain}.`, describePass(outcome, spf.result), evidence);
  if (result === 'temperror')
    return unknown(
      'Could not check DMARC.',
      `${reason ?? 'The DNS lookup failed.'} This does not affect your score.`,
      evidence,
    );
  // Regardless of SPF and DKIM, only a From field with one domain fixes this.
  if (result === 'permerror') {
    const finding = fail({ ...ambiguousFromDomain(reason), evidence });
    return { ...finding, dependsOn: ['from'], fixedBy: [['from']] };
  }
  if (result === 'none')
    return { ...noRecord(outcome, await context.fact(reliesOnEd25519)), evidence };
  const { signatures } = await context.fact(dkimResult);
  const broken = await brokenSignature(context, signatures);
  const explanation = await explainDmarcFailure(context, outcome, spf, broken);
  const forwarded = await forwardedDmarcFix(context, signatures);
  if (forwarded) return fail({ ...explanation, fix: forwarded, evidence });
  // The fix is a valid signature of the From domain.
  const isNew = !hasOwnKey(context, signatures);
  const others = broken ? alsoRepaired(broken) : isNew ? ['dkim_key'] : [];
  return {
    ...fail({ ...explanation, evidence }),
    alsoFixes: ['dkim', 'dkim_alignment', ...others],
  };
}

/** Follows from the check of the key, which says what to add. */
const passByEd25519 = (fromDomain: string | null): Finding =>
  fail({
    title: `DMARC passes for ${fromDomain} only where Ed25519 signatures are verified.`,
    detail: 'Gmail and Microsoft do not verify them, so they apply your DMARC policy.',
    fix: 'Add an RSA signature, as described under "DKIM key".',
  });

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

function describePass({ fromDomain, alignment }: DmarcOutcome, spf: AuthResult | null): string {
  const bySpf = spf === 'pass' && alignment.spf.aligned === true;
  const byDkim = alignment.dkim.result === 'pass' && alignment.dkim.aligned === true;
  const passing = [
    ...(bySpf ? [`SPF (${alignment.spf.domain})`] : []),
    ...(byDkim ? [`DKIM (${alignment.dkim.domain})`] : []),
  ];
  const verbs = passing.length > 1 ? 'pass and align' : 'passes and aligns';
  return `${passing.join(' and ')} ${verbs} with ${fromDomain}.`;
}

function ambiguousFromDomain(reason: string | null) {
  return {
    title: 'DMARC cannot be applied: the From field does not have exactly one domain.',
    detail:
      `${reason ?? ''} Many mailbox providers reject such a message (RFC 9989 §5.3.1).`.trim(),
    fix: 'Send with one From field that has one address, such as From: News <news@example.com>.',
  };
}

/**
 * Follows from the check that reports the missing record. Its points count only toward that
 * check's gain: with a record, DMARC would pass or fail as SPF and DKIM do now.
 */
function noRecord(
  { fromDomain, discarded, identifiers }: DmarcOutcome,
  byEd25519: boolean,
): Finding {
  const title = `No DMARC record applies to ${fromDomain}.`;
  if (identifiers !== 'pass' && identifiers !== 'fail')
    return unknown(title, 'It is also unknown whether SPF or DKIM would pass for this domain.');
  const finding = fail({
    title,
    detail:
      'Large mailbox providers require a DMARC record from bulk senders, and this domain has no valid one.',
    fix: 'Publish a DMARC record, as described under "DMARC policy".',
  });
  const cause = unusableRecord(discarded) ? 'dmarc_record' : 'dmarc_policy';
  if (identifiers !== 'pass') return finding;
  return { ...finding, dependsOn: byEd25519 ? [cause, 'dkim_key'] : [cause] };
}

// DMARC failures: the fix is the change that is closest to a pass.

const CONSEQUENCES: Record<string, string> = {
  none: 'is none: mailbox providers still deliver such mail, but treat it as unauthenticated.',
  quarantine: 'asks mailbox providers to put such mail into the spam folder.',
  reject: 'asks mailbox providers to reject such mail.',
};

/** What the policy does, with the tag and the record if they are not the From domain's own. */
function consequenceOf({ policy, recordDomain, fromDomain }: DmarcOutcome): string {
  const consequence = CONSEQUENCES[policy?.effective ?? ''];
  if (!policy || consequence === undefined) return '';
  if (policy.tag === 'p') return `Your DMARC policy ${consequence}`;
  const why =
    policy.tag === 'np'
      ? `${fromDomain} does not exist in DNS, so np=${policy.published}`
      : `${fromDomain} has no record of its own, so sp=${policy.published}`;
  return `${why} in the DMARC record of ${recordDomain} applies. That policy ${consequence}`;
}

/** For a record that applies while neither SPF nor DKIM passes with an aligned domain. */
async function explainDmarcFailure(
  context: Context,
  outcome: DmarcOutcome,
  spf: SpfOutcome,
  broken: DkimSignature | undefined,
): Promise<Explanation> {
  const { fromDomain, alignment } = outcome;
  const separated = broken ? null : await separatedIdentifier(context, outcome, spf);
  const states = [
    stateOf('SPF', spf.result, alignment.spf.domain),
    stateOf('DKIM', alignment.dkim.result, alignment.dkim.domain),
  ];
  return {
    title: `DMARC fails for ${fromDomain}.`,
    detail: [...states, separated?.why ?? '', consequenceOf(outcome)]
      .filter((sentence) => sentence !== '')
      .join(' '),
    fix: broken
      ? signatureFix(broken)
      : separated
        ? await dmarcFixUnlessProposed(context, separated.fix)
        : await identifierFix(context, outcome, spf),
  };
}

/** For a domain that passes and that only psd keeps from aligning. */
async function separatedIdentifier(
  context: Context,
  { alignment }: DmarcOutcome,
  spf: SpfOutcome,
): Promise<SeparatedDomain | null> {
  for (const { result, domain } of [
    alignment.dkim,
    { result: spf.result, domain: alignment.spf.domain },
  ]) {
    const found = result === 'pass' && domain ? await separatedByPsd(context, domain) : null;
    if (found) return found;
  }
  return null;
}

function stateOf(name: string, result: AuthResult | null, domain: string | null): string {
  return result === 'pass'
    ? `${name} passes for ${domain}, which does not align with the From domain.`
    : `${name} does not pass (${result ?? 'not checked'}).`;
}

/** If an aligned domain already signs the message, its signature is the one to fix. */
async function brokenSignature(
  context: Context,
  signatures: DkimSignature[],
): Promise<DkimSignature | undefined> {
  const failing = signatures.filter(({ result }) => result !== 'pass' && result !== 'temperror');
  const compared = await Promise.all(
    failing.map(({ domain }) => alignmentOf(context, domain, 'dkim')),
  );
  return rsaFirst(failing.filter((_, index) => compared[index]?.aligned))[0];
}

function signatureFix(broken: DkimSignature): Fix {
  const { fix } = explainRepair(broken);
  const { text, ...rest } = typeof fix === 'string' ? { text: fix } : fix;
  const goal = `Fix the DKIM signature by ${broken.domain}, which is aligned with the From domain but does not verify.`;
  return { ...rest, text: `${goal} ${text}` };
}

/** DKIM first: unlike SPF, it also passes for forwarded mail. */
async function identifierFix(
  context: Context,
  { fromDomain, alignment }: DmarcOutcome,
  { result }: SpfOutcome,
): Promise<Fix> {
  const from = fromDomain ?? '';
  const { aligned, domain } = alignment.spf;
  const spfFix =
    aligned && result !== 'pass'
      ? ` Or make SPF pass for ${domain}, as described under "SPF".`
      : result === 'pass' && alignment.dkim.result !== 'pass'
        ? ` Or use an envelope sender (MAIL FROM) under ${from}.`
        : '';
  return signingFix(context, from, {
    text: `Sign with DKIM as ${from} (d=${from}). This also works for forwarded mail.${spfFix}`,
  });
}
