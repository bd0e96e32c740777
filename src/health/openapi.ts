/** The operation that serves the document of all operations. */

import type { App } from '../app.ts';
import { PREVIEW_REVISION } from '../capabilities.ts';
import type { Config } from '../config.ts';
import { openApiDocument } from '../http/openapi.ts';
import { type Route, route } from '../http/route.ts';

const DESCRIPTION =
  'Send a test mail to an address that the service gives you, and get a score, a grade and, for every point lost, the evidence, the rule and the exact fix.';

/** The document of a surface: the preview's lists its public operations alone. */
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

/** The document lists every route but itself. */
export function openApiRoute(routes: Route[]): Route {
  const made = new WeakMap<App, string>();
  return route({
    method: 'GET',
    path: '/openapi.json',
    operation: 'getOpenApi',
    role: 'public',
    preview: true,
    summary: 'This document',
    produces: ['application/json'],
    handle({ app }) {
      let text = made.get(app);
      if (text === undefined) {
        text = JSON.stringify(describeApi(routes, app.config, app.version));
        made.set(app, text);
      }
      return new Response(text, { headers: { 'content-type': 'application/json' } });
    },
  });
}
