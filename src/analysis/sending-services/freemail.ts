/** Domains of mailbox providers and hosting platforms whose users cannot publish DNS records there. */

import data from './freemail.json' with { type: 'json' };
import { suffixIndex } from './service.ts';

/** A second-level domain under a country: `.de`, `.co.uk`, `.com.br`, and the generic ones. */
const COUNTRY = '(?:com|net|[a-z]{2}|co\\.[a-z]{2}|com\\.[a-z]{2}|ne\\.jp)';

/** Brands that provide mailboxes under many top-level domains. */
const BRAND_PATTERNS = data.brands.map(
  ({ provider, brand }) => [provider, new RegExp(`(?:^|\\.)${brand}\\.${COUNTRY}$`)] as const,
);

/** All other domains, by provider. */
const byDomain = suffixIndex(data.providers.map(({ name, domains }) => [name, domains]));

/** The provider of the mailboxes at this domain or above it; null if anyone could own the domain. */
export function freemailProvider(domain: string): string | null {
  return (
    byDomain(domain)[0] ?? BRAND_PATTERNS.find(([, pattern]) => pattern.test(domain))?.[0] ?? null
  );
}

/** Suffixes of platforms: their customers get a name, but the platform publishes all its records. */
const byPlatform = suffixIndex(data.platforms.map((suffix) => [suffix, [suffix]]));

/** The platform's suffix at or above this domain; null if the domain is not on a known platform. */
export const platformSuffix = (domain: string): string | null => byPlatform(domain)[0] ?? null;
