/** How seed mailboxes sign in with OAuth 2: the presets of Google and Microsoft, and the tenant. */

import {
  googlePreset,
  microsoftPreset,
  OAUTH_FIELDS,
  type OAuthClient,
  readOAuth,
} from './oauth-client.ts';
import { seedProvider } from './seed-providers.ts';

export const SEED_OAUTH_FIELDS = [...OAUTH_FIELDS, 'tenant'] as const;
type Entry = Partial<Record<(typeof SEED_OAUTH_FIELDS)[number] | 'api', unknown>>;

const GMAIL_SCOPE = 'https://mail.google.com/';
const IMAP_SCOPE = 'https://outlook.office.com/IMAP.AccessAsUser.All offline_access';
const GRAPH_SCOPE = 'https://graph.microsoft.com/Mail.Read offline_access';
/** Also tells whose mailbox it is. Sign-ins without this permission stay valid, because it is not requested again. */
const GRAPH_SIGN_IN_SCOPE = `https://graph.microsoft.com/User.Read ${GRAPH_SCOPE}`;

const GOOGLE = googlePreset({ scope: GMAIL_SCOPE, signInScope: GMAIL_SCOPE });
const TENANT = /^[A-Za-z0-9][A-Za-z0-9.-]{0,99}$/;

/** The OAuth client of a mailbox, or what is wrong with it. `provider`: its ID. */
export function readSeedOAuth(entry: Entry, provider: string): OAuthClient | string[] {
  const { name, oauth } = seedProvider(provider);
  const { api, tenant = defaultTenant(provider) } = entry;
  const isMicrosoft = oauth === 'microsoft' || api === 'graph';
  const faults: string[] = [];
  if (typeof tenant !== 'string' || !TENANT.test(tenant))
    faults.push(
      '"tenant" must be consumers, organizations, common, or the ID or domain of a tenant',
    );
  if (entry.tenant !== undefined && !isMicrosoft)
    faults.push('"tenant" is only for Outlook.com and Microsoft 365');
  const scopes =
    api === 'graph'
      ? { scope: GRAPH_SCOPE, signInScope: GRAPH_SIGN_IN_SCOPE }
      : { scope: IMAP_SCOPE, signInScope: IMAP_SCOPE };
  const preset = isMicrosoft
    ? microsoftPreset(String(tenant), scopes)
    : oauth === 'google'
      ? GOOGLE
      : null;
  const client = readOAuth(entry, { name, preset });
  if (Array.isArray(client)) return [...client, ...faults];
  return faults.length > 0 ? faults : client;
}

const defaultTenant = (provider: string): string =>
  provider === 'outlook' ? 'consumers' : provider === 'microsoft_365' ? 'organizations' : 'common';
