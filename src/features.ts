/** All features of the service. Only this file lists them: a new feature needs a folder and a line here. */

import { alerts } from './alerts/feature.ts';
import type { App } from './app.ts';
import { badges } from './badges/feature.ts';
import { brand } from './brand/feature.ts';
import { signInPath } from './dashboard/access/sign-in.tsx';
import { dashboard } from './dashboard/feature.ts';
import { problemPage } from './dashboard/problem-page.tsx';
import { dnsChanges } from './dns-changes/feature.ts';
import { domainTable } from './domain-table/feature.ts';
import { domains } from './domains/feature.ts';
import { events } from './events/feature.ts';
import type { Feature } from './feature.ts';
import { feedback } from './feedback/feature.ts';
import { health } from './health/feature.ts';
import { hostedFiles } from './hosted-files/feature.ts';
import { serveHostedFiles } from './hosted-files/serve.ts';
import { deleteExpiredResponses } from './http/idempotency.ts';
import type { Route } from './http/route.ts';
import { createRouter, type Fetch } from './http/router.ts';
import { deleteExpiredCounts } from './http/shared-rate-limit.ts';
import type { Tool } from './http/tool.ts';
import { mailtests } from './mailtests/feature.ts';
import { mcp } from './mcp/feature.ts';
import { monitors } from './monitors/feature.ts';
import { oauthServer } from './oauth-server/feature.ts';
import { outbox } from './outbox/feature.ts';
import { picture } from './picture/feature.ts';
import { placement } from './placement/feature.ts';
import { receivers } from './receivers/feature.ts';
import type { Job } from './scheduler/scheduler.ts';
import { schedules } from './schedules/feature.ts';
import { search } from './search/feature.ts';
import { shares } from './shares/feature.ts';
import type { Destination } from './smtp/destination.ts';
import type { AuditedObject } from './store/audited.ts';
import type { Subscription } from './store/subscribers.ts';
import { summary } from './summary/feature.ts';
import { identifyKey } from './team/api-keys.ts';
import { ACCESS_TOKEN_PREFIX, identifyAssistant } from './team/assistants.ts';
import { team } from './team/feature.ts';
import { reauthorize } from './team/permissions.ts';
import { identifySession } from './team/sessions.ts';
import { webhooks } from './webhooks/feature.ts';

/** In the order of the API reference, which is also the order of subscribers of a channel. */
export const FEATURES: Feature[] = [
  health,
  mailtests,
  placement,
  // Before the domains: their IDs are not in its paths.
  domainTable,
  domains,
  feedback,
  receivers,
  picture,
  hostedFiles,
  dnsChanges,
  events,
  webhooks,
  monitors,
  alerts,
  summary,
  brand,
  shares,
  badges,
  schedules,
  search,
  mcp(() => TOOLS),
  oauthServer,
  team,
  outbox,
  dashboard,
];

export const DOCUMENTED_ROUTES: Route[] = FEATURES.flatMap(({ routes = [] }) => routes);

/** What assistants can do, in the order of the features. */
export const TOOLS: Tool[] = FEATURES.flatMap(({ tools = [] }) => tools);

/** What `deliverability openapi` and `/openapi.json` describe. */
export const DOCUMENTED_API = {
  routes: DOCUMENTED_ROUTES,
  events: FEATURES.flatMap(({ events = [] }) => events),
};

/** The objects of the audit log. */
export const AUDITED: AuditedObject[] = FEATURES.flatMap(({ audited = [] }) => audited);

/** All routes: the API, then the OpenAPI document and the pages. */
export const ROUTES: Route[] = [
  ...DOCUMENTED_ROUTES,
  ...FEATURES.flatMap(
    (feature) => feature.undocumentedRoutes?.({ ...DOCUMENTED_API, audited: AUDITED }) ?? [],
  ),
];

/** The jobs of the features and of shared mechanisms. */
export const jobsOf = (app: App): Job[] => [
  ...FEATURES.flatMap((feature) => feature.jobs?.(app) ?? []),
  { name: 'expire idempotency keys', tick: '0 37 * * * *', run: () => deleteExpiredResponses(app) },
  { name: 'expire rate limits', tick: '40 * * * * *', run: () => deleteExpiredCounts(app) },
  { name: 'test blocklists', tick: '0 * * * * *', run: async () => void app.blocklists.retest() },
];

/** The router for all routes. The team feature identifies callers; the dashboard renders errors for browsers. */
const createAppRouter = (app: App): Fetch =>
  createRouter({
    app,
    routes: ROUTES,
    identify: ({ kind, token }) =>
      kind === 'session'
        ? identifySession(app, token)
        : (token.startsWith(ACCESS_TOKEN_PREFIX) ? identifyAssistant : identifyKey)(app, token),
    reauthorize,
    problemPage: (problem, context) => problemPage(app, problem, context),
    signInPath,
  });

/** The hosts of files have nothing else. */
export const createFetch = (app: App): Fetch => serveHostedFiles(app, createAppRouter(app));

export const subscriptionsOf = (app: App): Subscription[] =>
  FEATURES.flatMap((feature) => feature.subscribers?.(app) ?? []);

/** In the order in which they are asked about a recipient. */
export const destinationsOf = (app: App): Destination[] =>
  FEATURES.flatMap((feature) => feature.destinations?.(app) ?? []);
