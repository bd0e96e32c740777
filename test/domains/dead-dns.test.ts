/** The health of a domain in the service, if its DNS is dead for others. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkHealth } from '../../src/domains/health.ts';
import { dnsWorld } from '../helpers/dns-world.ts';
import { startDomainService } from './domain-service.ts';

test('The health of a domain says that its name servers do not answer', async (t) => {
  const { app, add } = await startDomainService(t);
  const { id } = await add('kiln.example');
  const row = await app.db
    .selectFrom('domains')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const { resolver, askDns } = dnsWorld({
    zone: { 'kiln.example': { fails: 'timeout' } },
    servers: {
      'kiln.example': { 'ns1.kiln.example': { address: '192.0.2.53', answers: 'refused' } },
    },
  });
  const { health } = await checkHealth({ ...app, resolver, askDns }, row, 'users');
  assert.equal(health.status, 'critical');
  assert.equal(
    health.summary,
    'Nobody can look up kiln.example: none of its name servers answers for kiln.example. Nothing else was checked.',
  );
});
