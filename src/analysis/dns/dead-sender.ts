/** Domains and mail servers whose DNS is dead for others: the cause of failed lookups, in checks that only need their result. */

import { type Context, type Finding, fail, warn } from '../check.ts';
import { judgeZone, type ZoneVerdict } from './dead-zone.ts';
import type { MailHosts } from './mail-hosts.ts';
import { surveyZone, type ZoneFacts } from './zone-survey.ts';

// A fact: caches the surveys, because several checks ask about the same domains.
const surveys = (_context: Context) => new Map<string, Promise<ZoneFacts | null>>();

/** What is known about the DNS of a domain; null if it was not asked. */
export function zoneFacts(context: Context, domain: string): Promise<ZoneFacts | null> {
  const { resolver, askDns } = context;
  const cache = context.fact(surveys);
  const facts =
    cache.get(domain) ?? (askDns ? surveyZone(domain, resolver, askDns) : Promise.resolve(null));
  cache.set(domain, facts);
  return facts;
}

/** Null if nothing failed, or if why is unknown. */
async function deadZone(context: Context, domain: string): Promise<ZoneVerdict | null> {
  const facts = await zoneFacts(context, domain);
  if (!facts || facts.failed.length === 0) return null;
  const judged = judgeZone(facts, context.receivedAt);
  // The message may be older than the signatures.
  const verdict = judged.cause === 'not_yet' ? judgeZone(facts, null) : judged;
  return verdict.status === 'fail' ? verdict : null;
}

/** Null if the domain can be looked up, or if why not is unknown. */
export async function deadSender(context: Context, domain: string): Promise<Finding | null> {
  const verdict = await deadZone(context, domain);
  if (verdict === null) return null;
  const { title, detail, fix } = verdict;
  return fail({ title, detail, fix: fix ?? '' });
}

/** Each takes many questions. */
const MAX_SURVEYED = 2;

/** For mail servers that nobody can look up. Null if there are none, or if why is unknown. */
export async function deadMailHost(
  context: Context,
  { domain, kind, hosts }: MailHosts,
): Promise<Finding | null> {
  if (kind !== 'mx') return null;
  const names = hosts.filter(({ resolves }) => resolves === null).map(({ name }) => name);
  for (const name of names.slice(0, MAX_SURVEYED)) {
    const verdict = await deadZone(context, name);
    if (verdict === null) continue;
    const canDeliver = hosts.some(({ resolves }) => resolves);
    return (canDeliver ? warn : fail)({
      title: `The mail server ${name} of ${domain} cannot be looked up.`,
      detail: `${verdict.title} ${canDeliver ? 'Mail to your domain is delayed when senders try this server.' : 'Replies and bounces are delayed, or cannot be delivered.'}`,
      fix: `${verdict.fix} If someone else runs ${name}, ask them to do so, or remove its MX record.`,
    });
  }
  return null;
}
