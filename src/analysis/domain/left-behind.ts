/** SPF that was left behind in a move: it allows the former host of the mailboxes, and not the one that has them now. */

import { recordsOf } from '../../net/dns/resolver.ts';
import { type Check, type Context, warn } from '../check.ts';
import { resemblesKey } from '../dkim/key-record.ts';
import { GATEWAYS } from '../sending-services/gateways.ts';
import { type SendingService, selectorsOf } from '../sending-services/service.ts';
import { isMailHost } from '../sending-services/services.ts';
import { servicesOfDomain } from '../sending-services/services-of-domain.ts';
import { mailboxHost } from '../sending-services/spf-steps.ts';
import { allNodes, walkSpf } from '../spf/tree.ts';

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
        text: `Add "include:${moved.include}" before the end of the record. Remove the include of ${before} if nothing sends there any longer.`,
      },
      evidence: finding.evidence,
    });
  },
});

interface Move {
  now: SendingService;
  include: string;
  before: SendingService;
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
  const before = services.find((service) => service !== now && isMailHost(service));
  if (include === undefined || !before || services.some((one) => GATEWAYS.includes(one)))
    return null;
  const nodes = allNodes((await walkSpf(domain, context.resolver)).root);
  const allowed = new Set(nodes.map((node) => node.domain));
  const isCertain = nodes.every(
    ({ state, terms }) => state === 'read' && terms.every(({ text }) => !text.includes('%')),
  );
  if (!isCertain || now.spf.includes.some((name) => allowed.has(name))) return null;
  const keys = await Promise.all(
    selectorsOf(now).map((selector) => context.resolver(`${selector}._domainkey.${domain}`, 'TXT')),
  );
  const isSigned = keys.some((answer) => recordsOf(answer)?.some(resemblesKey));
  return isSigned ? { now, include, before } : null;
}
