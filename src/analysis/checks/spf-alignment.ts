/** The check `spf_alignment`: does the domain that SPF is about belong to the From domain? */

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
import { dmarcDiscovery } from '../dmarc/discovery.ts';
import { alignmentOf } from '../dmarc/evaluate.ts';
import { spfResult } from '../spf/evaluate.ts';
import { assumption } from './spf.ts';

const UNCHECKED = 'SPF alignment was not checked.';

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
  async run(context: Context): Promise<Finding> {
    const spf = await context.fact(spfResult);
    if (spf.result === null) return skipped(UNCHECKED, spf.reason ?? 'SPF was not checked.');
    if (spf.domain === null)
      return skipped(UNCHECKED, 'The envelope sender has no domain to compare.');
    const discovery = await context.fact(dmarcDiscovery);
    const { fromDomain } = discovery;
    if (discovery.status === 'no_author' || fromDomain === null)
      return skipped(UNCHECKED, discovery.reason ?? 'The From field names no domain.');
    const { domain, aligned, mode } = await alignmentOf(context, spf.domain, 'spf');
    const evidence = {
      envelope_domain: domain,
      from_domain: fromDomain,
      mode,
      identity: spf.identity,
    };
    if (aligned === null)
      return unknown(
        'SPF alignment could not be checked.',
        `The DNS did not answer for the DMARC record of ${fromDomain}. This is not counted against you.`,
        evidence,
      );
    if (aligned)
      return pass(
        'The envelope sender is aligned with From.',
        `${domain} and ${fromDomain} belong together (${mode} alignment), so an SPF pass counts for DMARC.${assumption(spf)}`,
        evidence,
      );
    return fail({
      title: `The envelope sender is at ${domain}, not at ${fromDomain}.`,
      detail: `With ${mode} alignment an SPF pass for ${domain} says nothing about ${fromDomain}, so it does not count for DMARC.${assumption(spf)}`,
      fix:
        spf.identity === 'helo'
          ? `Have the server name itself in HELO by a name under ${fromDomain}; for a null sender that is the name SPF asks about.`
          : mode === 'strict'
            ? `Send with an envelope sender at ${fromDomain} itself, or set aspf=r in the DMARC record.`
            : `Send with an envelope sender under ${fromDomain}: most sending services call this a custom return path or bounce domain.`,
      evidence,
    });
  },
};
