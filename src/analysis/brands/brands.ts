/**
 * Brands that phishing mail often names as its sender, with the domains that they send from. A brand
 * also owns the domains whose own label is its name, such as paypal.de.
 */

import brands from './brands.json' with { type: 'json' };

export interface Brand {
  name: string;
  /** Other spellings of the display name, in lower case. */
  aliases?: string[];
  /** The name is also an ordinary word or a person's name, so that it counts only with a role. */
  needsRole?: boolean;
  domains: string[];
}

/** Only brands whose names mean nothing else at the start of a display name with a role after it. */
export const BRANDS: Brand[] = brands;
