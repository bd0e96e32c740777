/** What is said, and what to change, where DMARC does not pass: by the one thing that is nearest to it. */

import type { Fix } from '../check.ts';
import type { AuthResult } from '../result.ts';
import { explainFailure } from './dkim-failures.ts';
import type { Explanation } from './dkim-key-failures.ts';
import type { DkimOutcome } from './dkim-outcome.ts';
import type { DmarcOutcome } from './verify-dmarc.ts';
import type { SpfOutcome } from './verify-spf.ts';

const ASKED: Record<string, string> = {
  none: 'The record asks for nothing to be done about it, but receivers count it as not authenticated.',
  quarantine: 'The record asks receivers to put such mail into the spam folder.',
  reject: 'The record asks receivers to refuse such mail.',
};

/** A record applies, and neither SPF nor DKIM vouches for From. */
export function explainDmarcFailure(
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

/** The message is signed by an aligned domain already: that signature is the one to mend. */
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
