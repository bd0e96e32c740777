/** `/mcp` as a resource that OAuth protects (RFC 9728), and this service as its authorization server (RFC 8414). */

import type { Config } from '../config/config.ts';
import { AppError } from '../lib/errors.ts';

/** The only scope: the member decides what the client may do. */
export const SCOPE = 'mcp';

const LOOPBACK = ['127.0.0.1', '[::1]', 'localhost'];

export const isLoopback = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && LOOPBACK.includes(hostname);

const withoutSlash = (url: string): string => url.replace(/\/+$/, '');

/** Null if it is switched off, or if tokens would cross a network unencrypted (OAuth 2.1 §1.5). */
export function protectedResourceOf({ MCP_OAUTH, BASE_URL, APP_URL }: Config) {
  const isSafe = (url: string) => url.startsWith('https:') || isLoopback(new URL(url));
  if (!MCP_OAUTH || ![BASE_URL, APP_URL].every(isSafe)) return null;
  const base = withoutSlash(BASE_URL);
  return {
    /** The authorization server: the URL of the pages, on which members consent. */
    issuer: withoutSlash(APP_URL),
    /** Tokens are valid for this URL only (RFC 8707). */
    resource: `${base}/mcp`,
    metadataUrl: `${base}/.well-known/oauth-protected-resource/mcp`,
  };
}

/** Throws `not_found` if it is off. */
export function requireProtectedResource(config: Config) {
  const resource = protectedResourceOf(config);
  if (!resource) throw new AppError('not_found', "Assistants can't connect to this service.");
  return resource;
}
