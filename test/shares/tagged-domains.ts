/** Stores verified domains with tags, for tests of what is limited to them. */

import type { App } from '../../src/app.ts';
import { isoTime } from '../../src/lib/clock.ts';

/** A domain whose DMARC record is missing, and which has DMARC reports. */
export async function addDomain(
  { db, newId, clock }: Pick<App, 'db' | 'newId' | 'clock'>,
  name: string,
  tags: string[],
  isHealthy = false,
): Promise<string> {
  const id = newId('dom');
  const now = isoTime(clock.now());
  const check = {
    id: 'dmarc_record',
    label: 'DMARC record',
    category: 'authentication',
    status: isHealthy ? 'pass' : 'fail',
    severity: isHealthy ? null : 'critical',
    title: `${name} has no DMARC record.`,
    detail: '',
    evidence: {},
    points: 0,
    reference: { name: 'RFC', url: 'https://rfc.example' },
    fix: isHealthy ? null : { text: `Publish a DMARC record for ${name}. 192.0.2.77 may send.` },
  };
  await db
    .insertInto('domains')
    .values({
      id,
      name,
      status: 'verified',
      token: newId('req').slice(-16),
      created_at: now,
      verified_at: now,
      pending_since: now,
      health_status: isHealthy ? 'healthy' : 'critical',
      health_score: 90,
      health_checks: JSON.stringify([check]),
      health_checked_at: now,
      given_selectors: '[]',
      learnt_selectors: '[]',
      badge_enabled: 0,
      tags: JSON.stringify(tags),
      watched: JSON.stringify({
        failures: 0,
        sets: { 'DMARC record': { values: ['v=DMARC1; p=quarantine'] } },
      }),
    })
    .execute();
  return id;
}
