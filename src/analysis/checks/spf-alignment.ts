/** `spf_alignment`: whether the domain that SPF checks is aligned with the From domain. */

import {
  type Check,
  type Context,
  type Finding,
  type Fix,
  fail,
  info,
  pass,
  rfc,
  skipped,
  unknown,
} from '../check.ts';
import { dmarcDiscovery } from '../dmarc/discovery.ts';
import { alignmentOf, hasAlignedRsaSignature } from '../dmarc/evaluate.ts';
import { fromDomain } from '../dns/names.ts';
import { forwardedAlignment } from '../forwarding/explain.ts';
import { ownDomainFix } from '../sending-services/ownership.ts';
import { returnPathFix } from '../sending-services/spf-steps.ts';
import { type SpfOutcome, spfResult } from '../spf/evaluate.ts';
import { assumptionNote } from './spf.ts';

const NOT_CHECKED = 'SPF alignment was not checked.';

export const spfAlignment: Check = {
  id: 'spf_alignment',
  category: 'authentication',
  points: 3,
  label: 'SPF alignment',
  issueTitle: 'SPF is not aligned with the From domain',
  reference: rfc(9989, '4.4'),
  dependsOn: ['spf'],
  publicEvidence: {
    envelope_domain: 'shown',
    from_domain: 'shown',
    mode: 'shown',
    identity: 'shown',
  },
  about: fromDomain,
  async run(context: Context): Promise<Finding> {
    const spf = await context.fact(spfResult);
    if (spf.result === null) return skipped(NOT_CHECKED, spf.reason ?? 'SPF was not checked.');
    if (spf.domain === null)
      return skipped(NOT_CHECKED, 'The envelope sender has no domain to compare.');
    const discovery = await context.fact(dmarcDiscovery);
    const { fromDomain } = discovery;
    if (discovery.status === 'no_author' || fromDomain === null)
      return skipped(NOT_CHECKED, discovery.reason ?? 'The From field has no domain.');
    const { domain, aligned, mode } = await alignmentOf(context, spf.domain, 'spf');
    const evidence = {
      envelope_domain: domain,
      from_domain: fromDomain,
      mode,
      identity: spf.identity,
    };
    if (aligned === null)
      return unknown(
        'Could not determine SPF alignment.',
        `The DNS lookup of the DMARC record of ${fromDomain} failed. This does not affect your score.`,
        evidence,
      );
    if (aligned)
      return pass(
        'The envelope sender is aligned with the From domain.',
        `${domain} and ${fromDomain} match (${mode} alignment), so an SPF pass counts for DMARC.${assumptionNote(spf)}`,
        evidence,
      );
    const forwarded = forwardedAlignment(context, domain ?? '', evidence);
    if (forwarded) return forwarded;
    const fix = await fixFor(context, spf, fromDomain, mode);
    const title = `SPF is not aligned: it checks ${domain}, not ${fromDomain}.`;
    if (await context.fact(hasAlignedRsaSignature))
      return {
        ...info(
          title,
          `DMARC needs only one aligned mechanism, and DKIM is aligned. Aligned SPF would be a second one.${assumptionNote(spf)}`,
          evidence,
        ),
        fix,
      };
    const finding = fail({
      title,
      detail: `With ${mode} alignment, an SPF pass for ${domain} does not count for DMARC on ${fromDomain}.${assumptionNote(spf)}`,
      fix,
      evidence,
    });
    return {
      ...finding,
      fixedBy: [['dkim', 'dkim_alignment']],
      statusWhenFixed: 'info',
      // They are about the domain that the fix replaces.
      alsoFixes: ['spf_record', 'return_path'],
    };
  },
};

async function fixFor(
  context: Context,
  { identity }: SpfOutcome,
  from: string,
  mode: 'relaxed' | 'strict',
): Promise<Fix> {
  const own = ownDomainFix(from);
  if (own) return own;
  if (identity === 'helo')
    return {
      text: `Use a HELO name under ${from}. SPF checks the HELO name if the message has a null sender.`,
    };
  if (mode === 'strict')
    return { text: `Use an envelope sender at ${from} itself, or set aspf=r in the DMARC record.` };
  return returnPathFix(context, from);
}
