/** The provider of OpenID Connect by which members may sign in: what it says of itself, asked when it is needed. */

import * as oidc from 'openid-client';
import type { App } from '../app.ts';
import type { Config } from '../config.ts';

/** Its keys and endpoints may change; so long they are believed. */
const KNOWN_MS = 3_600_000;
/** For each request to it. */
const TIMEOUT_S = 10;

export interface Settings {
  issuer: string;
  clientId: string;
  clientSecret: string;
}

/** null where sign-in by OpenID Connect is not set up. */
export function oidcSettings(config: Config): Settings | null {
  const {
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: clientId,
    OIDC_CLIENT_SECRET: clientSecret,
  } = config;
  return issuer && clientId && clientSecret ? { issuer, clientId, clientSecret } : null;
}

/** Who is asked, as people know it; null where nobody is. */
export function oidcHost(config: Config): string | null {
  const settings = oidcSettings(config);
  return settings && new URL(settings.issuer).host;
}

interface Known {
  until: number;
  provider: Promise<oidc.Configuration>;
}

const known = new WeakMap<App, Known>();

/** Discovers the provider (OpenID Connect Discovery §4), at most once an hour. Rejects while it cannot be reached. */
export function discoverProvider(app: App, settings: Settings): Promise<oidc.Configuration> {
  const now = app.clock.now();
  const present = known.get(app);
  if (present && now < present.until) return present.provider;
  const entry: Known = { until: now + KNOWN_MS, provider: discover(settings) };
  known.set(app, entry);
  // What failed is asked again by the next who comes.
  entry.provider.catch(() => {
    if (known.get(app) === entry) known.delete(app);
  });
  return entry.provider;
}

async function discover({ issuer, clientId, clientSecret }: Settings): Promise<oidc.Configuration> {
  const address = new URL(issuer);
  const execute = [oidc.enableNonRepudiationChecks];
  // The configuration takes such an address on loopback alone.
  if (address.protocol !== 'https:') execute.push(oidc.allowInsecureRequests);
  const ask = (server: URL) =>
    oidc.discovery(server, clientId, undefined, authenticateBy(clientSecret), {
      execute,
      timeout: TIMEOUT_S,
    });
  try {
    return await ask(address);
  } catch (error) {
    // The configuration leaves off a slash at the end, which is a part of some issuers' names.
    if (!(error instanceof oidc.ClientError) || error.code !== OTHER_ISSUER) throw error;
    return ask(new URL(`${issuer}/`));
  }
}

const OTHER_ISSUER = 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED';

/** By the header, as providers expect of a client unless told otherwise (OpenID Connect Core §9). */
function authenticateBy(secret: string): oidc.ClientAuth {
  const basic = oidc.ClientSecretBasic(secret);
  const post = oidc.ClientSecretPost(secret);
  return (server, ...request) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const byHeader = methods.includes('client_secret_basic');
    return (byHeader ? basic : post)(server, ...request);
  };
}
