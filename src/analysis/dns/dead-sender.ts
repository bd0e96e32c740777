/** A sender domain whose DNS is dead for others: the cause of its failed lookups, in a message. */

import { type Context, type Finding, fail } from '../check.ts';
import { judgeZone } from './dead-zone.ts';
import { surveyZone } from './zone-survey.ts';

/** Null if nothing failed, or if why is unknown. */
export async function deadSender(context: Context, domain: string): Promise<Finding | null> {
  const { resolver, askDns, receivedAt } = context;
  if (!askDns) return null;
  const facts = await surveyZone(domain, resolver, askDns);
  if (!facts || facts.failed.length === 0) return null;
  const judged = judgeZone(facts, receivedAt);
  // The message may be older than the signatures.
  const { status, title, detail, fix } =
    judged.cause === 'not_yet' ? judgeZone(facts, null) : judged;
  return status === 'fail' && fix !== null ? fail({ title, detail, fix }) : null;
}
