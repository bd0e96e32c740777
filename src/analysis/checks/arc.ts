/** The check `arc`: the ARC chain that forwarding servers added; informational, never scored. */

import type { ARCData, ARCResult } from 'mailauth';
import { arc as verifyArc } from 'mailauth/lib/arc/index.js';
import type { Resolver } from '../../net/dns/resolver.ts';
import { arcProblem, MAX_INSTANCE } from '../arc/structure.ts';
import { type Check, type Context, type Finding, info, offline, rfc, unknown } from '../check.ts';
import { dkimResult } from '../dkim/verify.ts';
import { mailauthResolver } from '../dns/mailauth-resolver.ts';
import { fields } from '../mime/message.ts';

/** Each set costs a DNS query and a verification; real chains have one to three. */
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
  run: (context) => context.fact(arcFinding),
};

/** A fact: the finding of this check. */
async function arcFinding(context: Context): Promise<Finding> {
  const seals = fields(context.message, 'ARC-Seal');
  if (seals.length === 0 && fields(context.message, 'ARC-Message-Signature').length === 0)
    return info(
      'Your message has no ARC chain.',
      'This is correct for a message that was not forwarded: only forwarding servers add one.',
    );
  if (context.offline) return offline('The ARC chain was not verified.');
  if (seals.length > MAX_INSTANCE)
    return invalidChain(`it has more than ${MAX_INSTANCE} seals`, { seals: seals.length });
  if (seals.length > MAX_SETS)
    return info(
      'The ARC chain is too long to verify.',
      `It has ${seals.length} seals; the limit is ${MAX_SETS}.`,
      { result: null, seals: seals.length },
    );
  const problem = arcProblem(context.message);
  return problem === null ? chainFinding(context) : invalidChain(problem, {});
}

const invalidChain = (reason: string, evidence: Finding['evidence']): Finding =>
  info(
    'The ARC chain in your message is invalid.',
    `Mailbox providers ignore it: ${reason}. This has no effect unless the message is forwarded.`,
    { result: 'fail', reason, ...evidence },
  );

/**
 * mailauth warns of what it accepts against the standard. For a key record, mailbox providers are as
 * lenient.
 */
const deviationIn = ({ warnings = [] }: ARCResult): string | undefined =>
  warnings.find((warning) => !warning.startsWith('key-'));

/** A fact: whether the chain is valid, for findings about a forwarded copy. */
export async function hasValidChain(context: Context): Promise<boolean> {
  const hasChain = fields(context.message, 'ARC-Seal').length > 0;
  const finding = hasChain && !context.offline ? await context.fact(arcFinding) : null;
  return finding?.evidence?.result === 'pass';
}

async function chainFinding(context: Context): Promise<Finding> {
  const { mailauthResult: verified } = await context.fact(dkimResult);
  if (!verified?.arc)
    return info('The ARC chain was not verified.', 'The header is too large to verify.');
  const failedNames: string[] = [];
  const resolver: Resolver = async (name, type) => {
    const answer = await context.resolver(name, type);
    if (answer.status === 'error') failedNames.push(name);
    return answer;
  };
  const verification = await verifyArc(verified.arc as ARCData, {
    resolver: mailauthResolver(resolver),
  });
  const { result: lenientResult, comment } = verification.status;
  const deviation = lenientResult === 'pass' ? deviationIn(verification) : undefined;
  const result = deviation === undefined ? lenientResult : 'fail';
  const evidence = {
    result,
    reason: deviation
      ? `only lenient verifiers accept it (${deviation})`
      : typeof comment === 'string'
        ? comment
        : null,
    chain: chainOf(verification),
  };
  // mailauth reports a chain as failed when the lookup of a key fails.
  const lookupFailed =
    failedNames.length > 0 || (verification.signature || null)?.status.result === 'temperror';
  if (result !== 'pass' && lookupFailed)
    return unknown(
      'Could not verify the ARC chain.',
      'The DNS lookup of a key in the chain failed.',
      {
        ...evidence,
        result: null,
        unanswered: failedNames,
      },
    );
  const sealer = evidence.chain.at(-1)?.domain ?? 'a forwarding server';
  if (result === 'pass')
    return info(
      `Your message was forwarded, and the ARC chain sealed by ${sealer} is valid.`,
      'Mailbox providers that trust the forwarding servers can use the SPF, DKIM and DMARC results that they recorded.',
      evidence,
    );
  return invalidChain(evidence.reason ?? 'a seal does not verify', evidence);
}

function chainOf({ chain }: ARCResult): { instance: number; domain: string; cv: string }[] {
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  // For a seal that it cannot read, the library returns something other than a list.
  return (Array.isArray(chain) ? chain : []).map((set) => {
    const tags = set['arc-seal']?.parsed;
    return { instance: set.i, domain: text(tags?.d?.value), cv: text(tags?.cv?.value) };
  });
}
