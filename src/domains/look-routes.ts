/** Operations on names that need no domain of the team yet, and on many domains at once. */

import { route } from '../http/route.ts';
import { isoTime } from '../lib/clock.ts';
import { createDomains, requestVerifications } from './change-domain.ts';
import { lookAtName } from './look.ts';
import {
  AddedDomains,
  DomainLook,
  LookQuery,
  MAX_BATCH,
  NewDomains,
  RequestedVerifications,
} from './look-schema.ts';

const look = route({
  method: 'GET',
  path: '/v1/domain_look',
  operation: 'lookAtDomain',
  limited: true,
  role: 'viewer',
  summary: 'Look at a domain',
  description:
    'Returns what public DNS says about any domain, within 5 seconds. The domain need not be verified, or one of your team. Nothing is stored.',
  query: LookQuery,
  response: DomainLook,
  errors: ['unavailable'],
  limit: { requests: 60, seconds: 60 },
  async handle({ app, query: { name } }) {
    const { latest, rest } = await lookAtName(app, name, 'users');
    const { health, startedAt } = latest;
    return {
      object: 'domain_look' as const,
      ...health,
      is_complete: rest === null,
      checked_at: isoTime(startedAt),
    };
  },
});

const addMany = route({
  method: 'POST',
  path: '/v1/domains/batch',
  operation: 'createDomains',
  role: 'member',
  summary: 'Add many domains',
  description: `Adds up to ${MAX_BATCH} domains, and looks at them in the background. Texts that are not domain names are returned with the reason, and the others are added.`,
  body: NewDomains,
  response: AddedDomains,
  errors: ['conflict'],
  handle: (call) =>
    call.transact(async (tx) => ({
      object: 'added_domains' as const,
      ...(await createDomains(tx, call, call.body)),
    })),
});

const verifyAll = route({
  method: 'POST',
  path: '/v1/domains/verify',
  operation: 'verifyDomains',
  role: 'member',
  summary: 'Verify all domains',
  description: `Looks up the verification records of all domains that are not verified, in the background. At most ${MAX_BATCH} at a time: first those that have waited longest. A failed domain gets another 72 hours.`,
  response: RequestedVerifications,
  limit: { requests: 60, seconds: 60 },
  handle: (call) =>
    call.transact(async (tx) => ({
      object: 'requested_verifications' as const,
      domains: await requestVerifications(tx, call, MAX_BATCH),
    })),
});

export const lookOperations = { look, addMany, verifyAll };
