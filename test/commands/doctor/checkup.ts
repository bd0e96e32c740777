/** A checkup of a scripted world. */

import { CONNECTION_CHECKS } from '../../../src/commands/doctor/connections.ts';
import { DNS_CHECKS } from '../../../src/commands/doctor/dns.ts';
import { examine } from '../../../src/commands/doctor/doctor.ts';
import type { Checkup, Finding } from '../../../src/commands/doctor/finding.ts';
import { MACHINE_CHECKS } from '../../../src/commands/doctor/machine.ts';
import { REACHABILITY_CHECKS } from '../../../src/commands/doctor/reachability.ts';
import { readConfig } from '../../../src/config/config.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import type { Resolver } from '../../../src/net/dns/resolver.ts';
import { type Zone, zoneResolver } from '../../../src/net/dns/zone.ts';
import { createTrustedWebClient } from '../../../src/net/http/client.ts';

const CHECKS = [...MACHINE_CHECKS, ...DNS_CHECKS, ...REACHABILITY_CHECKS, ...CONNECTION_CHECKS];

export const IO = { status: () => {}, isStderrTerminal: false, width: 80 };

interface World extends Partial<Checkup> {
  env?: Record<string, string>;
  zone?: Zone;
  /** Whether the resolver validates. */
  authenticated?: boolean;
}

export function checkupOf({
  env = {},
  zone = {},
  authenticated = false,
  ...rest
}: World = {}): Checkup {
  const { config } = readConfig({ DELIVERABILITY_SMTP_NAME: 'mx.inbox.net', ...env });
  const lookUp = zoneResolver(zone);
  const resolver: Resolver = async (name, type) => {
    const answer = await lookUp(name, type);
    return answer.status === 'found' ? { ...answer, authenticated } : answer;
  };
  return {
    config,
    clock: systemClock,
    resolver,
    web: createTrustedWebClient(resolver),
    mailer: null,
    store: { fault: 'There is no database.' },
    service: null,
    to: null,
    timeUrl: 'http://127.0.0.1:9/',
    ownAddresses: [],
    mailPort: 9,
    ...rest,
  };
}

/** The findings of the check with this identifier, which may have more than one. */
export async function findingsOf(id: string, world: World): Promise<Finding[]> {
  const chosen = CHECKS.filter((check) => check.id === id);
  if (chosen.length !== 1) throw new Error(`no check ${id}`);
  return examine(checkupOf(world), IO, chosen);
}

/** `state: evidence → action` of the finding `id`, which the check `of` makes. */
export async function findingOf(id: string, world: World, of = id): Promise<string> {
  const found = (await findingsOf(of, world)).find((finding) => finding.id === id);
  if (!found) throw new Error(`no finding ${id}`);
  const { state, evidence, action } = found;
  return `${state}: ${evidence}${action === null ? '' : ` → ${action}`}`;
}
