/** SPF that was left behind in a move: it allows the former host of the mailboxes, and not the one that has them now. */

import { type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import { type Check, type Context, warn } from '../check.ts';
import { readKeyRecord } from '../dkim/key-record.ts';
import { type SendingService, selectorsOf } from '../sending-services/service.ts';
import { GATEWAYS, isMailHost, serviceOfSelector } from '../sending-services/services.ts';
import { receivingServices, servicesOfDomain } from '../sending-services/services-of-domain.ts';
import { mailboxHost } from '../sending-services/spf-steps.ts';
import { MAX_LOOKUPS } from '../spf/problems.ts';
import { withInclude } from '../spf/record.ts';
import { allNodes, type SpfNode, walkSpf, withPublished } from '../spf/tree.ts';

/** The check of the SPF record of a domain, without a message that shows who sends. */
export const withMovedHost = (check: Check, domain: string): Check => ({
  ...check,
  async run(context) {
    const finding = await check.run(context);
    const moved = finding.status === 'pass' ? await findMove(domain, context) : null;
    if (moved === null) return finding;
    const [now, before] = [moved.now.name, moved.before.name];
    return warn({
      title: `Your SPF record allows ${before}, but not ${now}, which has your mailboxes and keys.`,
      detail: `Mail that ${now} sends for ${domain} fails SPF. It passes DMARC only as long as its DKIM signature is intact.`,
      fix: {
        text: moved.isTooLong
          ? `The record has no room for "include:${moved.include}", because it would need more than ${MAX_LOOKUPS} DNS lookups. First remove what no longer sends, such as the include of ${before}. Then add it before the end.`
          : `Add "include:${moved.include}" before the end of the record. Remove the include of ${before} if nothing sends there any longer.`,
      },
      evidence: finding.evidence,
    });
  },
});

interface Move {
  now: SendingService;
  include: string;
  before: SendingService;
  /** With the include, the record would need too many lookups. */
  isTooLong: boolean;
}

/**
 * Only if the keys of the new host are live, another host of mailboxes is allowed, and no gateway or record with a macro may
 * send in its place.
 */
async function findMove(domain: string, context: Context): Promise<Move | null> {
  const now = await mailboxHost(context, domain);
  if (now?.spf.kind !== 'include' || GATEWAYS.includes(now)) return null;
  const [include] = now.spf.includes;
  const services = (await servicesOfDomain(context, domain)).map(({ service }) => service);
  const receiving = await receivingServices(context.resolver, domain);
  const before = services.find(
    (service) => service !== now && isMailHost(service) && !receiving.includes(service),
  );
  if (include === undefined || !before || services.some((one) => GATEWAYS.includes(one)))
    return null;
  const { resolver } = context;
  const { root } = await walkSpf(domain, resolver);
  const nodes = allNodes(root);
  const allowed = new Set(nodes.map((node) => node.domain));
  const isCertain = nodes.every(
    ({ state, terms }) => state === 'read' && terms.every(({ text }) => !text.includes('%')),
  );
  if (!isCertain || now.spf.includes.some((name) => allowed.has(name))) return null;
  if (await isPartlyAllowed(include, nodes, resolver)) return null;
  const own = selectorsOf(now).filter((selector) => serviceOfSelector(selector) === now);
  const keys = await Promise.all(
    own.map((selector) => resolver(`${selector}._domainkey.${domain}`, 'TXT')),
  );
  const isLive = (text: string) => readKeyRecord(text, null).publicKey !== null;
  if (!keys.some((answer) => recordsOf(answer)?.some(isLive))) return null;
  const longer = withPublished(domain, withInclude(root.records[0]!, include), resolver);
  const { lookups } = await walkSpf(domain, longer);
  return { now, include, before, isTooLong: lookups > MAX_LOOKUPS };
}

/** Whether the record names a part of what the include allows: its networks, or records that it includes. */
async function isPartlyAllowed(
  include: string,
  nodes: SpfNode[],
  resolver: Resolver,
): Promise<boolean> {
  const names = new Set(nodes.map(({ domain }) => domain));
  const networks = new Set(nodes.flatMap(networksOf));
  return allNodes((await walkSpf(include, resolver)).root).some(
    (node) => names.has(node.domain) || networksOf(node).some((network) => networks.has(network)),
  );
}

const networksOf = ({ terms }: SpfNode): string[] =>
  terms.flatMap(({ name, text }) => (/^ip[46]$/.test(name) ? text.toLowerCase() : []));
