/** What clients read first: who protects `/mcp` (RFC 9728 §2), and how to get access (RFC 8414 §2). */

import {
  type ProtectedResourceConfig,
  protectedResourceOf,
  SCOPE,
} from '../http/protected-resource.ts';
import { AppError } from '../lib/errors.ts';

/** Throws `not_found` if assistants can't be connected. */
export function enabledResourceOf(config: ProtectedResourceConfig) {
  const resource = protectedResourceOf(config);
  if (!resource) throw new AppError('not_found', "This service doesn't connect assistants.");
  return resource;
}

export function resourceMetadata(config: ProtectedResourceConfig): object {
  const { issuer, resource } = enabledResourceOf(config);
  return {
    resource,
    authorization_servers: [issuer],
    scopes_supported: [SCOPE],
    bearer_methods_supported: ['header'],
    resource_name: 'Deliverability',
  };
}

export function serverMetadata(config: ProtectedResourceConfig): object {
  const { issuer } = enabledResourceOf(config);
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    registration_endpoint: `${issuer}/oauth/register`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    scopes_supported: [SCOPE],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    // RFC 9207 §3.
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  };
}
