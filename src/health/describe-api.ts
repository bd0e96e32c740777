/** The OpenAPI document of the configured surface. */

import type { Config } from '../config/config.ts';
import { openApiDocument } from '../http/openapi/document.ts';
import type { EventDeclaration } from '../http/openapi/webhooks.ts';
import type { Route } from '../http/route.ts';
import { WEBHOOK_REQUESTS } from '../webhooks/signatures.ts';
import { CAPABILITY_NAMES, PREVIEW_REVISION } from './capabilities.ts';

/** What the features declare for the API reference. */
export interface DeclaredApi {
  routes: Route[];
  events: EventDeclaration[];
}

const DESCRIPTION =
  'Create a test address and send a message to it. The report has a score, a grade and, for every lost point, the evidence, the rule and the exact fix.';

const PREVIEW_DESCRIPTION = `The preview reports the state of the service only. These capabilities are not available in it: ${CAPABILITY_NAMES.map((name) => `\`${name}\``).join(', ')}.`;

/** The OpenAPI document of the configured surface; the preview lists only its public operations. */
export function describeApi(
  { routes, events }: DeclaredApi,
  config: Pick<Config, 'SURFACE' | 'BASE_URL' | 'APP_URL'>,
  version: string,
) {
  const isPreview = config.SURFACE === 'preview';
  const appUrl = config.APP_URL.replace(/\/$/, '');
  const about = {
    title: 'Deliverability',
    summary: 'Email deliverability tests with evidence and fixes.',
    description: DESCRIPTION,
    contact: { name: 'The administrator of this service', url: config.APP_URL },
    serverUrl: config.BASE_URL.replace(/\/$/, ''),
  };
  if (isPreview)
    return openApiDocument(
      routes.filter(({ preview }) => preview),
      { ...about, description: PREVIEW_DESCRIPTION, version: PREVIEW_REVISION },
    );
  return openApiDocument(routes, {
    ...about,
    version,
    docsUrl: `${appUrl}/docs`,
    events,
    webhooks: WEBHOOK_REQUESTS,
  });
}
