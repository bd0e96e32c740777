/** The endpoints of the authorization server, except the page on which members consent (`dashboard/access`). */

import type { App } from '../app.ts';
import { parseJson } from '../http/parse.ts';
import { requireProtectedResource, SCOPE } from '../http/protected-resource.ts';
import { route } from '../http/route.ts';
import { AppError } from '../lib/errors.ts';
import { requireOwnResource } from './authorization.ts';
import { JSON_TYPE, registerClient } from './clients.ts';
import { exchangeToken, GRANTS, revokeToken } from './tokens.ts';

const PUBLIC = { role: 'public' as const, anyOrigin: true as const, produces: [JSON_TYPE] };
const consumes = (type: string) => ({ type, maxBytes: () => 16 * 1024 });
const FORM = consumes('application/x-www-form-urlencoded');

/** RFC 6749 §5.2. */
const errorJson = (error: string, error_description: string): Response =>
  Response.json({ error, error_description }, { status: 400 });

type Resource = ReturnType<typeof requireProtectedResource>;

const document = (
  path: string,
  operation: string,
  summary: string,
  make: (resource: Resource) => object,
) =>
  route({
    ...PUBLIC,
    method: 'GET',
    path: `/.well-known/${path}`,
    operation,
    summary,
    handle: ({ app }) => Response.json(make(requireProtectedResource(app.config))),
  });

/** RFC 9728 §2. */
const resourceMetadata = ({ issuer, resource }: Resource) => ({
  resource,
  authorization_servers: [issuer],
  scopes_supported: [SCOPE],
  bearer_methods_supported: ['header'],
  resource_name: 'Deliverability',
});

/** RFC 8414 §2. */
const serverMetadata = ({ issuer }: Resource) => ({
  issuer,
  authorization_endpoint: `${issuer}/oauth/authorize`,
  token_endpoint: `${issuer}/oauth/token`,
  registration_endpoint: `${issuer}/oauth/register`,
  revocation_endpoint: `${issuer}/oauth/revoke`,
  scopes_supported: [SCOPE],
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: GRANTS,
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
});

const RESOURCE = 'oauth-protected-resource';

/** RFC 7591 §3. */
const register = route({
  ...PUBLIC,
  method: 'POST',
  path: '/oauth/register',
  operation: 'registerOAuthClient',
  summary: 'Register an assistant',
  limit: { requests: 60, seconds: 60 },
  consumes: consumes(JSON_TYPE),
  handle({ app, raw }) {
    requireProtectedResource(app.config);
    try {
      const { id, name, redirectUris } = registerClient(parseJson(raw));
      const client = {
        client_id: id,
        client_id_issued_at: Math.floor(app.clock.now() / 1000),
        client_name: name,
        redirect_uris: redirectUris,
        grant_types: GRANTS,
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      };
      return Response.json(client, { status: 201 });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const isUri = error.params[0]?.param.startsWith('redirect_uris');
      return errorJson(isUri ? 'invalid_redirect_uri' : 'invalid_client_metadata', error.detail);
    }
  },
});

/** Null if a parameter is repeated, which RFC 6749 §3.2 forbids. RFC 8707 §2 allows it for `resource`. */
function readForm(app: App, raw: Uint8Array): Record<string, string> | null {
  const form = new URLSearchParams(new TextDecoder().decode(raw));
  requireOwnResource(app, form.getAll('resource'));
  form.delete('resource');
  const fields = Object.fromEntries(form);
  return Object.keys(fields).length === form.size ? fields : null;
}

const REPEATED = 'A parameter is repeated.';

const token = route({
  ...PUBLIC,
  method: 'POST',
  path: '/oauth/token',
  operation: 'createOAuthToken',
  summary: 'Exchange an authorization code or a refresh token',
  writes: true,
  limit: { requests: 120, seconds: 60 },
  consumes: FORM,
  async handle(call) {
    try {
      const fields = readForm(call.app, call.raw);
      return fields ? await exchangeToken(call, fields) : errorJson('invalid_request', REPEATED);
    } catch (error) {
      if (error instanceof AppError && error.code === 'malformed_request')
        return errorJson('invalid_target', error.detail);
      throw error;
    }
  },
});

const revoke = route({
  ...PUBLIC,
  method: 'POST',
  path: '/oauth/revoke',
  operation: 'revokeOAuthToken',
  summary: 'Revoke the access of an assistant',
  writes: true,
  limit: 'createOAuthToken',
  consumes: FORM,
  async handle(call) {
    const fields = readForm(call.app, call.raw);
    if (!fields) return errorJson('invalid_request', REPEATED);
    await revokeToken(call, fields);
    return new Response();
  },
});

export const oauthRoutes = [
  document(RESOURCE, 'getOAuthResource', 'Get the OAuth metadata of the service', resourceMetadata),
  document(
    `${RESOURCE}/mcp`,
    'getMcpOAuthResource',
    'Get the OAuth metadata of /mcp',
    resourceMetadata,
  ),
  document(
    'oauth-authorization-server',
    'getOAuthServer',
    'Get the metadata of the authorization server',
    serverMetadata,
  ),
  register,
  token,
  revoke,
];
