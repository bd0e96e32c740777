/** Companies that send mail for their customers in their own name, so that the customers can publish nothing for it. */

import { suffixIndex } from './service.ts';
import vendors from './vendors.json' with { type: 'json' };

export interface Vendor {
  name: string;
  domains: string[];
  /** How its customers can send from a domain of their own instead. Missing if that is not known to be possible. */
  guide?: string;
}

const byDomain = suffixIndex<Vendor>(vendors.map((vendor) => [vendor, vendor.domains]));

/** The vendor with this domain, or one above it. */
export const vendorOf = (domain: string): Vendor | undefined => byDomain(domain)[0];
