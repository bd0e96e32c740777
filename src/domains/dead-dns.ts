/** Whether the health checks found that DNS gives others no answer about the domain. */

import type { DomainCheck, DomainHealth } from '../analysis/domain/health.ts';

/** The finding that says so, and why. */
export const deadDns = ({ checks }: Pick<DomainHealth, 'checks'>): DomainCheck | undefined =>
  checks.find(({ id, severity }) => id === 'name_servers' && severity === 'critical');
