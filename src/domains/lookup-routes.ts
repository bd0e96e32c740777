/** The lookup of any name, and operations on many domains at once. */

import { route } from '../http/route.ts';
import { isoTime } from '../lib/clock.ts';
import { createDomains, requestVerifications } from './change-domain.ts';
import { lookUpName } from './lookup.ts';
import {
  AddedDomains,
  DomainLookup,
  LookupQuery,
  MAX_BATCH,
  NewDomains,
  RequestedVerifications,
} from './lookup-schema.ts';

const lookup = route({
  method: 'GET',
  path: '/v1/domain_lookup',
  operation: 'lookUpDomain',
  limited: true,
  role: 'viewer',
  summary: 'Look up a domain',
  description:
    'Returns what public DNS says about any domain, within 5 seconds. The domain need not be verified, or one of your team. Nothing is stored.',
  query: LookupQuery,
  response: DomainLookup,
  errors: ['unavailable'],
  limit: { requests: 60, seconds: 60 },
  async handle({ app, query: { name } }) {
    const { latest, rest } = await lookUpName(app, name, 'users');
    const { health, startedAt } = latest;
    return {
      object: 'domain_lookup' as const,
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
  description: `Adds up to ${MAX_BATCH} domains, and looks up their DNS in the background. Texts that are not domain names are returned with the reason, and the others are added.`,
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

export const lookupOperations = { lookup, addMany, verifyAll };
