/** The committed manifest: what this service can do, and what it does not do yet. */

import type { Config } from '../config/config.ts';

export const PREVIEW_REVISION = 'ga09-preview-2026-07-14';

interface Capability {
  available: boolean;
  reason?: string;
}

/** What the full surface offers. A feature that arrives changes its line here. */
const FULL = {
  browser_accounts: { available: true },
  customer_api_access: { available: true },
  live_inbox_placement: { available: false, reason: 'Not built yet.' },
  billing: { available: false, reason: 'Self-hosted: there is nothing to pay for.' },
  monitoring: { available: true },
  alerts: { available: true },
  reports: { available: true },
} satisfies Record<string, Capability>;

export type CapabilityName = keyof typeof FULL;
export const CAPABILITY_NAMES = Object.keys(FULL) as CapabilityName[];

export interface Manifest {
  revision: string;
  surface: 'full' | 'preview';
  capabilities: Record<CapabilityName, Capability>;
}

/** The manifest of the running surface; the preview offers nothing. */
export function manifest(config: Pick<Config, 'SURFACE'>, version: string): Manifest {
  if (config.SURFACE === 'full')
    return { revision: `full-${version}`, surface: 'full', capabilities: FULL };
  const closed = { available: false, reason: 'Not part of the preview.' };
  const capabilities = Object.fromEntries(CAPABILITY_NAMES.map((name) => [name, closed]));
  return {
    revision: PREVIEW_REVISION,
    surface: 'preview',
    capabilities: capabilities as Manifest['capabilities'],
  };
}
