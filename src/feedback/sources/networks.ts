/** Large services by the networks in their SPF records, so that their addresses need no lookup. */

import type { SendingService } from '../../analysis/sending-services/service.ts';
import { SENDING_SERVICES } from '../../analysis/sending-services/services.ts';
import { inNetworks, parseNetwork } from '../../lib/addresses.ts';
import networks from './networks.json' with { type: 'json' };

const KNOWN = networks.map((entry) => ({
  service: SENDING_SERVICES.find(({ id }) => id === entry.service)!,
  networks: entry.networks.map(parseNetwork),
}));

export const serviceOfNetwork = (address: string): SendingService | undefined =>
  KNOWN.find((entry) => inNetworks(address, entry.networks))?.service;
