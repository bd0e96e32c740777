/** The verdict of each mailbox provider, out of what the checks found; pure. */

import type { JudgedKind } from '../kind.ts';
import type { CheckResult } from '../result.ts';
import type { ProviderVerdict } from './provider.ts';

export function providerVerdicts(_checks: CheckResult[], _judged: JudgedKind): ProviderVerdict[] {
  return [];
}
