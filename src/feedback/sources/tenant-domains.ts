/** The domains below which a service signs for customers without a key at a domain of their own. */

export const TENANT_DOMAINS = ['onmicrosoft.com', 'gappssmtp.com'];

/** Whether a domain is the name of such a customer. `serviceOfSigner` knows the service. */
export const isTenant = (domain: string): boolean =>
  !domain.includes(' ') && TENANT_DOMAINS.some((parent) => domain.endsWith(`.${parent}`));
