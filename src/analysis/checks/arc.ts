/** The check `arc`: the chain of those who forwarded the message; told, never scored. */

import { type ARCData, type ARCResult, arc as verifyArc } from 'mailauth';
import type { Resolver } from '../../net/dns/resolver.ts';
import { type Check, type Context, type Finding, info, rfc, skipped, unknown } from '../check.ts';
import { dkimResult } from '../dkim/verify.ts';
import { mailauthResolver } from '../dns/mailauth-resolver.ts';
import { fields } from '../mime/message.ts';

/** Each set costs a DNS question and a verification; real chains have one to three. */
const MAX_SETS = 10;

export const arc: Check = {
  id: 'arc',
  category: 'authentication',
  points: 0,
  label: 'ARC chain',
  reference: rfc(8617),
  publicEvidence: {
    result: 'shown',
    reason: 'shown',
    seals: 'shown',
    chain: { instance: 'shown', domain: 'shown', cv: 'shown' },
    unanswered: 'shown',
  },
  async run(context) {
    const seals = fields(context.message, 'ARC-Seal');
    if (seals.length === 0 && fields(context.message, 'ARC-Message-Signature').length === 0)
      return info(
        'Your message has no ARC chain.',
        'That is right for a message that was not forwarded: only forwarders add one.',
      );
    if (context.offline)
      return skipped(
        'The ARC chain was not verified.',
        'Its keys are in the DNS, and nothing may be asked in the offline mode.',
      );
    if (seals.length > MAX_SETS)
      return info(
        'The ARC chain is too long to be verified.',
        `It has ${seals.length} seals; ${MAX_SETS} are looked at.`,
        { result: null, seals: seals.length },
      );
    return chainFinding(context);
  },
};

async function chainFinding(context: Context): Promise<Finding> {
  const { verified } = await context.fact(dkimResult);
  if (!verified?.arc)
    return info('The ARC chain was not verified.', 'The header is too large to be verified.');
  const unanswered: string[] = [];
  const resolver: Resolver = async (name, type) => {
    const answer = await context.resolver(name, type);
    if (answer.status === 'error') unanswered.push(name);
    return answer;
  };
  const found = await verifyArc(verified.arc as ARCData, { resolver: mailauthResolver(resolver) });
  const { result, comment } = found.status;
  const evidence = {
    result,
    reason: typeof comment === 'string' ? comment : null,
    chain: chainOf(found),
  };
  // mailauth calls a chain whose keys could not be asked for a failed one.
  const unsure = unanswered.length > 0 || (found.signature || null)?.status.result === 'temperror';
  if (result !== 'pass' && unsure)
    return unknown(
      'The ARC chain could not be verified.',
      'A key of the chain could not be looked up.',
      { ...evidence, result: null, unanswered },
    );
  const sealer = evidence.chain.at(-1)?.domain ?? 'a forwarder';
  if (result === 'pass')
    return info(
      `Your message was forwarded, and the ARC chain sealed by ${sealer} is valid.`,
      'Receivers that trust the sealers may take over their results of SPF, DKIM and DMARC.',
      evidence,
    );
  return info(
    'Your message carries an ARC chain that is not valid.',
    'Receivers take no notice of it. That costs nothing unless the message is forwarded.',
    evidence,
  );
}

function chainOf({ chain }: ARCResult): { instance: number; domain: string; cv: string }[] {
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  // What the library gives for a seal that it cannot read is no list.
  return (Array.isArray(chain) ? chain : []).map((set) => {
    const tags = set['arc-seal']?.parsed;
    return { instance: set.i, domain: text(tags?.d?.value), cv: text(tags?.cv?.value) };
  });
}
