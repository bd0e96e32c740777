/** The capability manifest: what this service offers, and what it doesn't offer yet. */

import type { Config } from '../config/config.ts';

export const PREVIEW_REVISION = 'ga09-preview-2026-07-14';

interface Capability {
  available: boolean;
  reason?: string;
}

/** The capabilities of the full surface. Seed mailboxes make placement available. */
const FULL = {
  browser_accounts: { available: true },
  customer_api_access: { available: true },
  live_inbox_placement: { available: false, reason: 'No seed mailboxes are configured.' },
  billing: { available: false, reason: 'Not needed: the service is self-hosted.' },
  monitoring: { available: true },
  alerts: { available: true },
  reports: { available: true },
  feedback: { available: true },
} satisfies Record<string, Capability>;

export type CapabilityName = keyof typeof FULL;
export const CAPABILITY_NAMES = Object.keys(FULL) as CapabilityName[];

export interface Manifest {
  revision: string;
  surface: 'full' | 'preview';
  capabilities: Record<CapabilityName, Capability>;
}

/** The manifest of the configured surface; the preview offers nothing. */
export function manifest(
  config: Pick<Config, 'SURFACE' | 'SEED_MAILBOXES'>,
  version: string,
): Manifest {
  if (config.SURFACE === 'full') {
    const configured =
      config.SEED_MAILBOXES.length > 0 ? { live_inbox_placement: { available: true } } : {};
    const capabilities = { ...FULL, ...configured };
    return { revision: `full-${version}`, surface: 'full', capabilities };
  }
  const unavailable = { available: false, reason: 'Not available in the preview.' };
  const capabilities = Object.fromEntries(CAPABILITY_NAMES.map((name) => [name, unavailable]));
  return {
    revision: PREVIEW_REVISION,
    surface: 'preview',
    capabilities: capabilities as Manifest['capabilities'],
  };
}
