/**
 * The domains of tenants: a service signs with them for customers that have no DKIM key of their own. They are not in `tenants.ts`,
 * because the thread that reads reports loads no queries.
 */

export const TENANT_DOMAINS = ['onmicrosoft.com', 'gappssmtp.com'];

/** Whether a domain is the name of a tenant. `serviceOfSigner` returns its service. */
export const isTenant = (domain: string): boolean =>
  !domain.includes(' ') && TENANT_DOMAINS.some((parent) => domain.endsWith(`.${parent}`));
