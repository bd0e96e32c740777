/** Operations without credentials, the same on every surface. */

import * as v from 'valibot';
import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import { openApiDocument } from '../http/openapi.ts';
import { type Route, route } from '../http/route.ts';
import { Time } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import { CAPABILITY_NAMES, manifest, PREVIEW_REVISION } from './capabilities.ts';
import { type Dependency, probeDependencies } from './dependencies.ts';

const DependencyState = v.picklist(['up', 'degraded', 'down', 'disabled']);

const Health = v.object({
  object: v.literal('health'),
  status: v.literal('ok'),
  version: v.string(),
  uptime_seconds: v.number(),
});

const Readiness = v.object({
  object: v.literal('readiness'),
  status: v.picklist(['ready', 'unavailable']),
  capability_revision: v.string(),
  dependencies: v.array(
    v.object({
      name: v.string(),
      status: DependencyState,
      detail: v.nullable(v.string()),
      latency_ms: v.nullable(v.number()),
    }),
  ),
});

const STATUS = {
  object: v.literal('service_status'),
  status: v.picklist(['operational', 'degraded', 'down']),
  version: v.string(),
  capability_revision: v.string(),
  components: v.array(v.object({ name: v.string(), status: DependencyState })),
  updated_at: Time,
};
const ServiceStatus = v.object(STATUS);
const VersionedStatus = v.object({ ...STATUS, api_version: v.literal('v1') });

const CapabilityEntry = v.object({ available: v.boolean(), reason: v.optional(v.string()) });
const CapabilityManifest = v.object({
  object: v.literal('capability_manifest'),
  revision: v.string(),
  surface: v.picklist(['full', 'preview']),
  capabilities: v.object(
    Object.fromEntries(CAPABILITY_NAMES.map((name) => [name, CapabilityEntry])) as Record<
      (typeof CAPABILITY_NAMES)[number],
      typeof CapabilityEntry
    >,
  ),
});

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
  response: Health,
  handle: ({ app }) => ({
    object: 'health' as const,
    status: 'ok' as const,
    version: app.version,
    uptime_seconds: Math.floor((app.clock.now() - app.startedAt) / 1000),
  }),
});

const readyz = route({
  method: 'GET',
  path: '/readyz',
  operation: 'getReadiness',
  role: 'public',
  preview: true,
  summary: 'Check whether the service can accept mail and requests; returns 503 if not',
  response: Readiness,
  statusOf: ({ status }) => (status === 'ready' ? 200 : 503),
  async handle({ app }) {
    const dependencies = await probeDependencies(app);
    return {
      object: 'readiness' as const,
      status: isDown(dependencies) ? ('unavailable' as const) : ('ready' as const),
      capability_revision: manifest(app.config, app.version).revision,
      dependencies,
    };
  },
});

const getServiceStatus = async (app: Parameters<typeof probeDependencies>[0]) => {
  const dependencies = await probeDependencies(app);
  const impaired = dependencies.some(({ status }) => status === 'down' || status === 'degraded');
  return {
    object: 'service_status' as const,
    status: isDown(dependencies)
      ? ('down' as const)
      : impaired
        ? ('degraded' as const)
        : ('operational' as const),
    version: app.version,
    capability_revision: manifest(app.config, app.version).revision,
    components: dependencies,
    updated_at: isoTime(app.clock.now()),
  };
};

const status = route({
  method: 'GET',
  path: '/status',
  operation: 'getStatus',
  role: 'public',
  preview: true,
  summary: 'Get the status of the service and its components',
  response: ServiceStatus,
  handle: ({ app }) => getServiceStatus(app),
});

const statusV1 = route({
  method: 'GET',
  path: '/v1/status',
  operation: 'getStatusV1',
  role: 'public',
  preview: true,
  summary: 'Get the status of the service and its components, with the API version',
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
  response: CapabilityManifest,
  handle: ({ app }) => ({
    object: 'capability_manifest' as const,
    ...manifest(app.config, app.version),
  }),
});

export const healthRoutes = [healthz, readyz, status, statusV1, capabilities];

// The operation that serves the OpenAPI document.

const DESCRIPTION =
  'Create a test address and send a message to it. The report has a score, a grade and, for every lost point, the evidence, the rule and the exact fix.';

/** The OpenAPI document of the configured surface; the preview lists only its public operations. */
export function describeApi(
  routes: Route[],
  config: Pick<Config, 'SURFACE' | 'BASE_URL'>,
  version: string,
) {
  const preview = config.SURFACE === 'preview';
  return openApiDocument(preview ? routes.filter((r) => r.preview) : routes, {
    title: 'Deliverability',
    version: preview ? PREVIEW_REVISION : version,
    description: DESCRIPTION,
    serverUrl: config.BASE_URL,
  });
}

/** The route of the OpenAPI document, which lists every route except this one. */
export function openApiRoute(routes: Route[]): Route {
  const textOf = memoizePerObject((app: App) =>
    JSON.stringify(describeApi(routes, app.config, app.version)),
  );
  return route({
    method: 'GET',
    path: '/openapi.json',
    operation: 'getOpenApi',
    role: 'public',
    preview: true,
    summary: 'Get the OpenAPI document',
    produces: ['application/json'],
    handle: ({ app }) =>
      new Response(textOf(app), { headers: { 'content-type': 'application/json' } }),
  });
}
