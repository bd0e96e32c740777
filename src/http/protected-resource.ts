/** `/mcp` as a resource that OAuth protects (RFC 9728), and this service as its authorization server (RFC 8414). */

import type { Config } from '../config/config.ts';

interface ProtectedResource {
  /** The authorization server: the URL of the pages, on which members consent. */
  issuer: string;
  /** Tokens are valid for this URL only (RFC 8707). */
  resource: string;
  /** Where clients find out about both. */
  metadataUrl: string;
}

export type ProtectedResourceConfig = Pick<Config, 'MCP_OAUTH' | 'BASE_URL' | 'APP_URL'>;

/** The only scope: the member decides what the client may do. */
export const SCOPE = 'mcp';

const LOOPBACK = ['127.0.0.1', '[::1]', 'localhost'];

export const isLoopback = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && LOOPBACK.includes(hostname);

const withoutSlash = (url: string): string => url.replace(/\/+$/, '');

/** Null if it is switched off, or if tokens would cross a network unencrypted (OAuth 2.1 §1.5). */
export function protectedResourceOf(config: ProtectedResourceConfig): ProtectedResource | null {
  const { MCP_OAUTH, BASE_URL, APP_URL } = config;
  const isSafe = (url: string) => url.startsWith('https:') || isLoopback(new URL(url));
  if (!MCP_OAUTH || ![BASE_URL, APP_URL].every(isSafe)) return null;
  const base = withoutSlash(BASE_URL);
  return {
    issuer: withoutSlash(APP_URL),
    resource: `${base}/mcp`,
    metadataUrl: `${base}/.well-known/oauth-protected-resource/mcp`,
  };
}
