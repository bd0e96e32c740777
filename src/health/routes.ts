/** Operations without credentials, the same on every surface. */

import * as v from 'valibot';
import type { App } from '../app.ts';
import { type Route, route } from '../http/route.ts';
import { described, named, Time, typeField } from '../http/schemas.ts';
import { staticResponse } from '../http/static-document.ts';
import { isoTime } from '../lib/clock.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import { CAPABILITY_NAMES, manifest } from './capabilities.ts';
import { describeDatabase } from './database.ts';
import { type Dependency, probeDependencies } from './dependencies.ts';
import { type DeclaredApi, describeApi } from './describe-api.ts';

const DependencyState = v.picklist(['up', 'degraded', 'down', 'disabled']);

const VERSION_FIELD = described(v.string(), 'The version of the program.', '1.0.0');
const REVISION_FIELD = described(
  v.string(),
  'The revision of the capability manifest.',
  'full-1.0.0',
);

const Health = named(
  'Health',
  v.object({
    object: typeField('health'),
    status: described(v.literal('ok'), 'Always `ok`.'),
    version: VERSION_FIELD,
    uptime_seconds: described(
      v.pipe(v.number(), v.integer(), v.minValue(0)),
      'Seconds since the process started.',
      86_400,
    ),
  }),
  'The process is alive.',
  {},
);

const NODE_FIELDS = {
  node: described(
    v.string(),
    'The name of the node that answers. Without a configured name, it changes with each start.',
    'mx1',
  ),
  database: described(
    named(
      'Database',
      v.object({
        engine: described(v.picklist(['sqlite', 'postgres']), 'The kind of database.'),
        version: described(
          v.nullable(v.string()),
          'The version of SQLite or of the PostgreSQL server. Null if it does not respond.',
          '16.4',
        ),
        clock_skew_ms: described(
          v.nullable(v.pipe(v.number(), v.integer())),
          'How far the clock of this node is ahead of the PostgreSQL server, in milliseconds. Negative if it is behind. Null on SQLite, or if the server does not respond.',
          3,
        ),
      }),
      'The database that this node uses.',
      { engine: 'postgres' },
    ),
    'The database that this node uses.',
  ),
};

const DEPENDENCY_TEXT =
  '`degraded`: it works with restrictions, or not reliably. `disabled`: it is not configured.';

const Readiness = named(
  'Readiness',
  v.object({
    object: typeField('readiness'),
    status: described(
      v.picklist(['ready', 'unavailable']),
      '`unavailable` if the database or the mail listener is down.',
    ),
    capability_revision: REVISION_FIELD,
    dependencies: described(
      v.array(
        named(
          'Dependency',
          v.object({
            name: described(v.string(), 'The name of the dependency.', 'database'),
            status: described(DependencyState, DEPENDENCY_TEXT),
            detail: described(
              v.nullable(v.string()),
              'What is wrong, or why it is disabled. If it is up, null or how much of it is used.',
              'Not configured.',
            ),
            latency_ms: described(
              v.nullable(v.number()),
              'The duration of the last probe in milliseconds. Null without a probe.',
              1,
            ),
          }),
          'The state of something that the service depends on.',
        ),
      ),
      'The state of each dependency.',
    ),
    ...NODE_FIELDS,
  }),
  'Whether the service can accept mail and requests.',
);

const STATUS = {
  object: typeField('service_status'),
  status: described(
    v.picklist(['operational', 'degraded', 'down']),
    '`down` if the database or the mail listener is down. `degraded` if another component is.',
  ),
  version: VERSION_FIELD,
  capability_revision: REVISION_FIELD,
  components: described(
    v.array(
      named(
        'ServiceComponent',
        v.object({
          name: described(v.string(), 'The name of the component.', 'mail_listener'),
          status: described(DependencyState, DEPENDENCY_TEXT),
        }),
        'A component of the service.',
      ),
    ),
    'The state of each component.',
  ),
  updated_at: described(Time, 'When the status was determined.'),
  ...NODE_FIELDS,
};
const ServiceStatus = named('ServiceStatus', v.object(STATUS), 'The status of the service.');
const VersionedStatus = named(
  'VersionedServiceStatus',
  v.object({
    ...STATUS,
    api_version: described(v.literal('v1'), 'The version of the API.'),
  }),
  'The status of the service, with the version of the API.',
);

const CapabilityEntry = named(
  'Capability',
  v.object({
    available: described(v.boolean(), 'Whether the service offers it.'),
    reason: described(
      v.optional(v.string()),
      'Why it is not available. Missing if it is.',
      'Not available yet.',
    ),
  }),
  'Whether the service offers something.',
);
const CapabilityManifest = named(
  'CapabilityManifest',
  v.object({
    object: typeField('capability_manifest'),
    revision: REVISION_FIELD,
    surface: described(
      v.picklist(['full', 'preview']),
      '`preview` serves only the operations without credentials.',
    ),
    capabilities: described(
      named(
        'Capabilities',
        v.object(
          Object.fromEntries(
            CAPABILITY_NAMES.map((name) => [
              name,
              described(CapabilityEntry, `The capability \`${name}\`.`),
            ]),
          ) as Record<(typeof CAPABILITY_NAMES)[number], typeof CapabilityEntry>,
        ),
        'The capabilities by name.',
      ),
      'The capabilities of the service.',
    ),
  }),
  'What the service offers.',
);

/** Only these dependencies make the service unavailable. */
const CRITICAL = ['database', 'mail_listener'];

const isDown = (dependencies: Dependency[]): boolean =>
  dependencies.some(({ name, status }) => CRITICAL.includes(name) && status === 'down');

const healthz = route({
  method: 'GET',
  path: '/healthz',
  operation: 'getHealth',
  role: 'public',
  preview: true,
  summary: 'Check whether the process is alive',
  description: 'Returns 200 as long as the process can answer. Not rate limited.',
  response: Health,
  handle: ({ app }) => ({
    object: 'health' as const,
    status: 'ok' as const,
    version: app.version,
    uptime_seconds: Math.floor((app.clock.now() - app.startedAt) / 1000),
  }),
});

const describeNode = async ({ node, db }: App) => ({
  node,
  database: await describeDatabase(db),
});

const readyz = route({
  method: 'GET',
  path: '/readyz',
  operation: 'getReadiness',
  role: 'public',
  preview: true,
  summary: 'Check whether the service is ready',
  description:
    'Returns 503 if the database or the mail listener is down, so that a load balancer can act on it. Not rate limited.',
  response: Readiness,
  statusOf: ({ status }) => (status === 'ready' ? 200 : 503),
  async handle({ app }) {
    const [dependencies, node] = await Promise.all([probeDependencies(app), describeNode(app)]);
    return {
      object: 'readiness' as const,
      status: isDown(dependencies) ? ('unavailable' as const) : ('ready' as const),
      capability_revision: manifest(app.config, app.version).revision,
      dependencies,
      ...node,
    };
  },
});

const getServiceStatus = async (app: App) => {
  const [dependencies, node] = await Promise.all([probeDependencies(app), describeNode(app)]);
  const isImpaired = dependencies.some(({ status }) => status === 'down' || status === 'degraded');
  return {
    object: 'service_status' as const,
    status: isDown(dependencies)
      ? ('down' as const)
      : isImpaired
        ? ('degraded' as const)
        : ('operational' as const),
    version: app.version,
    capability_revision: manifest(app.config, app.version).revision,
    components: dependencies,
    updated_at: isoTime(app.clock.now()),
    ...node,
  };
};

const status = route({
  method: 'GET',
  path: '/status',
  operation: 'getStatus',
  role: 'public',
  preview: true,
  summary: 'Get the service status',
  description: 'Returns the overall status and that of each component.',
  response: ServiceStatus,
  handle: ({ app }) => getServiceStatus(app),
});

const statusV1 = route({
  method: 'GET',
  path: '/v1/status',
  operation: 'getStatusV1',
  role: 'public',
  preview: true,
  summary: 'Get the service and API status',
  description: 'Returns the overall status, that of each component, and the version of the API.',
  response: VersionedStatus,
  handle: async ({ app }) => ({ ...(await getServiceStatus(app)), api_version: 'v1' as const }),
});

const capabilities = route({
  method: 'GET',
  path: '/v1/capabilities',
  operation: 'getCapabilities',
  role: 'public',
  preview: true,
  summary: 'Get the capabilities of the service',
  description: 'Returns what this service offers, and why something is not available.',
  response: CapabilityManifest,
  handle: ({ app }) => ({
    object: 'capability_manifest' as const,
    ...manifest(app.config, app.version),
  }),
});

export const healthOperations = { healthz, readyz, status, statusV1, capabilities };

// The operation that serves the OpenAPI document.

/** The route of the OpenAPI document, which lists every route except this one. */
export function openApiRoute(api: DeclaredApi): Route {
  const documentOf = memoizePerObject(({ config, version }: App) => ({
    text: JSON.stringify(describeApi(api, config, version)),
    headers: { 'content-type': 'application/json', 'cache-control': 'no-cache' },
  }));
  return route({
    method: 'GET',
    path: '/openapi.json',
    operation: 'getOpenApi',
    role: 'public',
    preview: true,
    summary: 'Get the OpenAPI document',
    produces: ['application/json'],
    handle: ({ app }) => staticResponse(documentOf(app)),
  });
}
