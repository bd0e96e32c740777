/** Services and mailing lists that forward mail of others, by the domains of their servers, bounces and signatures. */

import { hasSuffix } from '../../analysis/sending-services/service.ts';
import forwarders from './forwarders.json' with { type: 'json' };

/** The name of the forwarder to which a host name, a bounce domain or a signing domain belongs; null if none is known. */
export const forwarderOf = (domain: string): string | null =>
  forwarders.find(({ domains }) => hasSuffix(domain, domains))?.name ?? null;
