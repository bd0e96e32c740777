/** The check `name_servers`: can others look up the domain, at each of its name servers and with DNSSEC? Only for domains. */

import { DNS_FAILURES } from '../../net/dns/resolver.ts';
import { type Check, type Finding, rfc, skipped } from '../check.ts';
import { zoneFacts } from '../dns/dead-sender.ts';
import { judgeZone } from '../dns/dead-zone.ts';
import type { ZoneFacts } from '../dns/zone-survey.ts';

/** The part of the check that needs no network. */
export const nameServersCheck = {
  id: 'name_servers',
  category: 'infrastructure',
  points: 3,
  label: 'Name servers',
  issueTitle: 'Others cannot look up the domain',
  reference: rfc(1034, '4.2.2'),
  publicEvidence: {
    domain: 'shown',
    zone: 'shown',
    cause: 'shown',
    since: 'shown',
    servers: { host: 'shown', address: 'shown', answer: 'shown' },
    ds: 'shown',
    extended_errors: 'shown',
    unanswered: 'shown',
  },
} as const;

export const nameServers = (domain: string): Check => ({
  ...nameServersCheck,
  async run(context) {
    const facts = await zoneFacts(context, domain);
    if (facts === null)
      return skipped('The name servers were not checked.', 'The name cannot be looked up.');
    const { status, title, detail, fix, cause, at } = judgeZone(facts, context.receivedAt);
    const evidence = evidenceOf(facts, cause, at);
    return { status, title, detail, evidence, ...(fix !== null && { fix: { text: fix } }) };
  },
});

function evidenceOf(
  { domain, zone, failed, servers, security }: ZoneFacts,
  cause: string | null,
  at: number | null,
): Finding['evidence'] {
  return {
    domain,
    zone,
    cause,
    ...(at !== null && { since: new Date(at).toISOString() }),
    servers: servers.map((server) => ({ ...server })),
    ds: security?.ds ?? [],
    extended_errors: security?.extended ?? [],
    ...(failed.length > 0 && {
      unanswered: failed.map(
        ({ name, type, reason }) => `${type} ${name}: ${DNS_FAILURES[reason]}`,
      ),
    }),
  };
}

/**
 * Whether the finding names the cause of failed lookups: all other checks of the domain then depend on it. If the
 * resolver in use does not validate, they have results of their own.
 */
export const explainsFailures = ({ status, evidence }: Finding): boolean =>
  status === 'fail' && Array.isArray(evidence?.unanswered);
