/** The operations on the picture of a domain. */

import { domainOr404 } from '../domains/queries.ts';
import { route } from '../http/route.ts';
import { idOf } from '../http/schemas.ts';
import { complianceOf } from './compliance.ts';
import { pictureOf } from './picture.ts';
import { Compliance, ComplianceQuery, DomainPicture } from './schema.ts';

const get = route({
  method: 'GET',
  path: '/v1/domains/:id/picture',
  params: { id: idOf('dom') },
  operation: 'getDomainPicture',
  limited: true,
  role: 'viewer',
  summary: 'Get the picture of a domain',
  description:
    'Returns what DNS, tests, placement, feedback and receivers say about a domain, and what to do first. It is read from what is stored: nothing is looked up.',
  response: DomainPicture,
  async handle({ app, params }) {
    return pictureOf(app, await domainOr404(app.db, params.id!));
  },
});

const compliance = route({
  method: 'GET',
  path: '/v1/receivers/compliance',
  operation: 'getCompliance',
  limited: true,
  role: 'viewer',
  summary: 'Get Google’s requirements for a domain',
  description:
    'Returns whether a domain meets Google’s requirements for senders, each beside the latest results of our own checks about the same thing.',
  query: ComplianceQuery,
  response: Compliance,
  async handle({ app, query }) {
    const row = await domainOr404(app.db, query.domain_id);
    return {
      object: 'compliance' as const,
      domain_id: row.id,
      ...(await complianceOf(app, row)),
    };
  },
});

export const pictureOperations = { get, compliance };
