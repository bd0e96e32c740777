/** The operation that lists the audit log. */

import { route } from '../http/route.ts';
import { listOf, listSchema } from '../http/schemas.ts';
import { listAudit } from './audit.ts';
import { AuditEntry, AuditQuery, presentAuditEntry } from './schema.ts';

const auditLog = route({
  method: 'GET',
  path: '/v1/audit_log',
  operation: 'listAuditLog',
  role: 'admin',
  summary: 'List audit log entries',
  description: 'Returns the changes that members and the service made, newest first.',
  query: AuditQuery,
  response: listSchema(AuditEntry),
  async handle({ app, query: { limit, starting_after, ending_before, ...filters } }) {
    const page = { limit, starting_after, ending_before };
    const { rows, hasMore } = await listAudit(app.db, filters, page);
    return listOf(rows.map(presentAuditEntry), hasMore);
  },
});

export const auditOperations = { list: auditLog };
