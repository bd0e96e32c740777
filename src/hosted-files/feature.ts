/**
 * Serves the files that go with DNS records: MTA-STS policies, BIMI logos and their certificates. The operations on them, and
 * the question of a proxy whether a host has files.
 */

import * as v from 'valibot';
import { domainOr404 } from '../domains/queries.ts';
import type { Feature } from '../feature.ts';
import { route } from '../http/route.ts';
import { described, idOf, named, typeField } from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import { changeFiles, mailServersOf, presentFiles } from './change.ts';
import { HostedFiles, HostedFilesPatch } from './schema.ts';
import { findHost } from './serve.ts';

const ON_DOMAIN = {
  path: '/v1/domains/:id/hosted_files',
  params: { id: idOf('dom', 'The ID of the domain.') },
  response: HostedFiles,
  etag: ({ domain_id, records }: HostedFiles) => [domain_id, records],
};

const get = route({
  ...ON_DOMAIN,
  method: 'GET',
  operation: 'getHostedFiles',
  limited: true,
  role: 'member',
  summary: 'Get the hosted files of a domain',
  description:
    'Returns the files that the service serves for a domain, with their DNS records. `advice` says which mode of the policy TLS reports allow.',
  async handle({ app, params }) {
    const domain = await domainOr404(app.db, params.id!);
    const mailServers = await mailServersOf(app, domain.name);
    return presentFiles(app, app.db, domain, mailServers);
  },
});

const update = route({
  ...ON_DOMAIN,
  method: 'PATCH',
  operation: 'updateHostedFiles',
  role: 'admin',
  summary: 'Update the hosted files of a domain',
  description:
    'Changes the MTA-STS policy or the BIMI logo of a verified domain. They are served at once. Publish their DNS records next: the response has them, and so does a DNS plan.',
  body: HostedFilesPatch,
  errors: ['conflict', 'unavailable'],
  async handle(call) {
    const { app, params, body } = call;
    const { name } = await domainOr404(app.db, params.id!);
    const mailServers = await mailServersOf(app, name);
    return call.transact(async (tx) => {
      const domain = await domainOr404(tx, params.id!);
      call.ifMatch(await presentFiles(app, tx, domain, mailServers));
      await changeFiles(tx, call, domain, body, mailServers);
      return presentFiles(app, tx, domain, mailServers);
    });
  },
});

const ask = route({
  method: 'GET',
  path: '/v1/hosted_hosts',
  operation: 'findHostedHost',
  role: 'public',
  // Proxies may add parameters.
  isPublicLink: true,
  summary: 'Check whether a host has files',
  description:
    'For proxies that get certificates on demand, such as Caddy: succeeds only for the exact name of a host with files of a verified domain.',
  query: v.strictObject({
    domain: described(v.string(), 'The host.', 'mta-sts.example.com'),
  }),
  response: named(
    'HostedHost',
    v.object({
      object: typeField('hosted_host'),
      host: described(v.string(), 'The host.', 'mta-sts.example.com'),
    }),
    'A host with files of a verified domain.',
  ),
  errors: ['not_found'],
  async handle({ app, query: { domain: host } }) {
    if (await findHost(app, host)) return { object: 'hosted_host' as const, host };
    throw new AppError('not_found', 'This host has no files.');
  },
});

export const hostedFileOperations = { get, update, ask };

export const hostedFiles: Feature = {
  name: 'hosted-files',
  routes: Object.values(hostedFileOperations),
};
