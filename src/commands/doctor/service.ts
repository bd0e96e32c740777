/** Asks the service on this machine for its state. */

import type { Config } from '../../config/config.ts';
import { readJson, urlOf } from '../local-service.ts';
import type { RunningService } from './finding.ts';

/** Null if no service responds. */
export async function findService(config: Config): Promise<RunningService | null> {
  const url = urlOf(config, '');
  const [health, readiness] = await Promise.all([
    readJson(`${url}/healthz`),
    readJson(`${url}/readyz`),
  ]);
  const { object, version } = (health ?? {}) as { object?: string; version?: string };
  if (object !== 'health' || typeof version !== 'string') return null;
  const { dependencies = [] } = (readiness ?? {}) as Partial<Pick<RunningService, 'dependencies'>>;
  return { url, version, dependencies };
}
