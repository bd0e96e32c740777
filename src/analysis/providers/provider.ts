/** What one mailbox provider asks of senders, and how the message does by it. */

import type { Reference } from '../check.ts';

export const PROVIDERS = ['gmail', 'yahoo', 'microsoft', 'apple'] as const;
export type Provider = (typeof PROVIDERS)[number];

/** `unknown`: could not be found out, or cannot be seen in one message. */
export type RuleStatus = 'met' | 'not_met' | 'unknown';

export interface RuleVerdict {
  /** Stable, snake_case: `spf_or_dkim`. */
  id: string;
  /** The rule as the provider states it, in our words, one sentence. */
  title: string;
  /** `any`: every sender. `bulk`: senders of bulk mail (5,000 a day; Apple: any bulk). */
  applies: 'any' | 'bulk';
  status: RuleStatus;
  /** Why, in a sentence. */
  detail: string;
  /** The checks that it rests on; empty where no message can show it. */
  checks: string[];
  /** The reply that the provider publishes for it ("550 5.7.26 …"); null where it publishes none. */
  error: string | null;
}

export interface ProviderVerdict {
  provider: Provider;
  /** `Gmail`, `Yahoo`, … */
  name: string;
  /** Whether every rule that this message can show and that applies to it is met. */
  ready: boolean;
  reference: Reference;
  rules: RuleVerdict[];
}
