/** What is known about the mailbox providers of seed mailboxes: servers, limits, folders, and signatures. */

export interface SeedProvider {
  /** For people. */
  name: string;
  /** The IMAP server, with TLS on port 993. Null if there is no common one. */
  host: string | null;
  /** Concurrent connections to one mailbox that the provider is known to accept. */
  connections: number;
  /** Whether mail to `user+anything@domain` reaches the mailbox of `user@domain`. */
  plusAddresses: boolean;
  /** Names of its spam folders, if it doesn't flag them (RFC 6154) or has more than it flags. */
  junk: string[];
  /** The ends of the server names in its own Authentication-Results fields (RFC 8601 §2.5). */
  authserv: string[];
  /** Whether an app password works at its server. */
  acceptsPasswords: boolean;
  /** Whose OAuth 2 endpoints it has; null if they must be configured. */
  oauth: 'google' | 'microsoft' | null;
}

const GOOGLE = {
  host: 'imap.gmail.com',
  connections: 15,
  plusAddresses: true,
  junk: ['[Gmail]/Spam', '[Google Mail]/Spam'],
  authserv: ['google.com'],
  acceptsPasswords: true,
  oauth: 'google' as const,
};
const MICROSOFT = {
  host: 'outlook.office365.com',
  connections: 8,
  plusAddresses: true,
  junk: ['Junk', 'Junk Email'],
  authserv: ['outlook.com', 'office365.com', 'hotmail.com'],
  acceptsPasswords: false,
  oauth: 'microsoft' as const,
};
const WITH_PASSWORD = { acceptsPasswords: true, oauth: null };
const UNITED_INTERNET = { connections: 4, plusAddresses: false, ...WITH_PASSWORD };

/** By the ID of the provider, which results and summaries show. */
export const SEED_PROVIDERS = {
  gmail: { name: 'Gmail', ...GOOGLE },
  google_workspace: { name: 'Google Workspace', ...GOOGLE },
  outlook: { name: 'Outlook.com', ...MICROSOFT },
  microsoft_365: { name: 'Microsoft 365', ...MICROSOFT },
  yahoo: {
    name: 'Yahoo',
    host: 'imap.mail.yahoo.com',
    connections: 5,
    plusAddresses: false,
    junk: ['Bulk', 'Bulk Mail'],
    authserv: ['yahoo.com'],
    ...WITH_PASSWORD,
  },
  aol: {
    name: 'AOL',
    host: 'imap.aol.com',
    connections: 5,
    plusAddresses: false,
    junk: ['Bulk', 'Bulk Mail', 'Spam'],
    authserv: ['aol.com', 'yahoo.com'],
    ...WITH_PASSWORD,
  },
  icloud: {
    name: 'iCloud Mail',
    host: 'imap.mail.me.com',
    connections: 4,
    plusAddresses: true,
    junk: ['Junk'],
    authserv: ['icloud.com', 'apple.com', 'me.com'],
    ...WITH_PASSWORD,
  },
  fastmail: {
    name: 'Fastmail',
    host: 'imap.fastmail.com',
    connections: 8,
    plusAddresses: true,
    junk: ['Spam', 'Junk Mail'],
    authserv: ['messagingengine.com', 'fastmail.com'],
    ...WITH_PASSWORD,
  },
  gmx: {
    name: 'GMX',
    host: 'imap.gmx.net',
    ...UNITED_INTERNET,
    junk: ['Spamverdacht', 'Spam'],
    authserv: ['gmx.net', 'gmx.com'],
  },
  web_de: {
    name: 'WEB.DE',
    host: 'imap.web.de',
    ...UNITED_INTERNET,
    junk: ['Spam', 'Unbekannt', 'Spamverdacht'],
    authserv: ['web.de'],
  },
  zoho: {
    name: 'Zoho Mail',
    host: 'imap.zoho.com',
    connections: 4,
    plusAddresses: true,
    junk: ['Spam'],
    authserv: ['zohomail.com', 'zoho.com'],
    ...WITH_PASSWORD,
  },
  proton: {
    name: 'Proton Mail',
    // Proton Bridge: each installation listens on its own loopback address.
    host: null,
    connections: 4,
    plusAddresses: true,
    junk: ['Spam'],
    authserv: ['protonmail.ch', 'proton.ch', 'protonmail.com'],
    ...WITH_PASSWORD,
  },
} satisfies Record<string, SeedProvider>;

/** A provider that is not listed: the administrator configures what differs from these values. */
const OTHER_PROVIDER = {
  host: null,
  connections: 2,
  plusAddresses: true,
  junk: [],
  authserv: [],
  ...WITH_PASSWORD,
};

export const seedProvider = (id: string): SeedProvider =>
  Object.hasOwn(SEED_PROVIDERS, id)
    ? SEED_PROVIDERS[id as keyof typeof SEED_PROVIDERS]
    : { name: id, ...OTHER_PROVIDER };

export const isKnownProvider = (id: string): boolean => Object.hasOwn(SEED_PROVIDERS, id);
