/** Every environment variable: its parser, its default and its help. */

import { availableParallelism, hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { databaseLabel, isPostgresUrl } from '../lib/database-url.ts';
import { normalizeDomain } from '../lib/domain-names.ts';
import { LOG_LEVELS, type LogLevel } from '../lib/log.ts';
import { dnsCommands } from './dns-commands.ts';
import {
  bool,
  connectionLimit,
  count,
  database,
  domain,
  dqsKey,
  duration,
  email,
  engine,
  eventRetention,
  issuer,
  listChanges,
  lmtpPort,
  MAX_WORKERS,
  mailbox,
  mailUrl,
  metricsToken,
  networks,
  nodeName,
  oneOf,
  optional,
  optionalDomain,
  type Parse,
  password,
  paths,
  placementRecheck,
  placementTimeout,
  port,
  privateKey,
  rate,
  roleEntries,
  scopes,
  secretKey,
  seedCleanup,
  servers,
  size,
  slackUrl,
  storage,
  text,
  url,
  workers,
} from './readers.ts';
import { receiverAccounts } from './receivers.ts';
import { seedMailboxes } from './seed-mailboxes.ts';

// The declaration of one environment variable.

export interface Variable<T> {
  read: Parse<T>;
  /** The value of an unset variable; a function computes it from the variables before it. */
  fallback: string | ((values: Record<string, string>) => string);
  /** The default as help and tables show it, if it is computed. */
  fallbackText?: string;
  help: string;
  /** Can also be read from the file that `…_FILE` names, and is masked. */
  secret?: boolean;
  /** The part of a secret that may be shown. */
  shown?: (text: string) => string;
}

export const variable = <T>(spec: Variable<T>): Variable<T> => spec;

// Outgoing mail, Slack and single sign-on.

const MAIL_VARIABLES = {
  MAIL_URL: variable({
    read: mailUrl,
    fallback: '',
    secret: true,
    help: 'Mail server for outgoing email: `smtp://user:password@host:587` or `smtps://…`.',
  }),
  MAIL_FROM: variable({
    read: mailbox,
    fallback: '',
    help: 'From address of outgoing email; required with MAIL_URL.',
  }),
  MAIL_DKIM_DOMAIN: variable({
    read: optionalDomain,
    fallback: '',
    help: 'DKIM signing domain of outgoing email.',
  }),
  MAIL_DKIM_SELECTOR: variable({
    read: optional,
    fallback: '',
    help: 'DKIM selector of outgoing email.',
  }),
  MAIL_DKIM_KEY: variable({
    read: privateKey,
    fallback: '',
    secret: true,
    help: 'DKIM private key (PEM) of outgoing email.',
  }),
  SLACK_WEBHOOK_URL: variable({
    read: slackUrl,
    fallback: '',
    secret: true,
    help: 'Default Slack incoming webhook for alert rules: `https://hooks.slack.com/services/…`.',
  }),
};

const SIGN_IN_VARIABLES = {
  OIDC_ISSUER: variable({
    read: issuer,
    fallback: '',
    help: 'Issuer URL of your OpenID Connect provider, for single sign-on. Must use https, or http on loopback.',
  }),
  OIDC_CLIENT_ID: variable({
    read: optional,
    fallback: '',
    help: 'Client ID at the OpenID Connect provider.',
  }),
  OIDC_CLIENT_SECRET: variable({
    read: optional,
    fallback: '',
    secret: true,
    help: 'Client secret at the OpenID Connect provider.',
  }),
  OIDC_SCOPES: variable({
    read: scopes,
    fallback: 'openid email profile',
    help: 'Scopes to request from the OpenID Connect provider, separated by spaces. Some providers send groups only for a scope such as `groups`.',
  }),
  OIDC_TRUST_EMAIL: variable({
    read: bool,
    fallback: 'false',
    help: 'Accept email addresses that the OpenID Connect provider does not mark as verified, and `preferred_username` if there is no `email`. Set it to `true` only if people cannot choose their own address there.',
  }),
  OIDC_ROLES: variable({
    read: roleEntries,
    fallback: '',
    help: 'Roles from claims of the OpenID Connect provider, separated by commas, such as `groups=mail-admins:admin,groups=staff:member`. People with one of them need no invitation.',
  }),
};

/** Every variable, in the order of the documentation. */
export const VARIABLES = {
  DATA_DIR: variable({
    read: (v) => resolve(v),
    fallback: './data',
    help: 'Folder for the database and keys; created with mode 0700.',
  }),
  DATABASE_URL: variable({
    read: database,
    fallback: (v) => `sqlite:${join(v.DATA_DIR!, 'deliverability.db')}`,
    fallbackText: 'sqlite:$DATA_DIR/deliverability.db',
    secret: true,
    shown: (text) => (isPostgresUrl(text) ? databaseLabel(text) : text),
    help: 'Database: `sqlite:` and a file, or a `postgres://` URL, which needs `SECRET_KEY`.',
  }),
  DATABASE_NOTIFY: variable({
    read: bool,
    fallback: 'true',
    help: 'Whether the nodes of a PostgreSQL database notify each other of new work. Set `false` behind a proxy that pools transactions; nodes then look for work every second.',
  }),
  NODE_NAME: variable({
    read: nodeName,
    fallback: '',
    help: 'Name of this node of a PostgreSQL database, unique among its nodes. After a restart under the same name, interrupted work resumes immediately, not minutes later.',
  }),
  HTTP_HOST: variable({
    read: text,
    fallback: '127.0.0.1',
    help: 'Address the API listens on.',
  }),
  HTTP_PORT: variable({ read: port, fallback: '8080', help: 'Port the API listens on.' }),
  BASE_URL: variable({
    read: url,
    fallback: (v) => `http://127.0.0.1:${v.HTTP_PORT}`,
    fallbackText: 'http://127.0.0.1:8080',
    help: 'Public URL of the API.',
  }),
  APP_URL: variable({
    read: url,
    fallback: (v) => v.BASE_URL!,
    fallbackText: 'the same as BASE_URL',
    help: 'Public URL of the web pages.',
  }),
  HTTP_TLS_CERT_FILE: variable({
    read: optional,
    fallback: '',
    help: 'Certificate chain (PEM) for HTTPS; reloaded when it changes. If unset, the API uses plain HTTP, for use behind a proxy.',
  }),
  HTTP_TLS_KEY_FILE: variable({
    read: optional,
    fallback: '',
    help: 'Private key (PEM) of that certificate.',
  }),
  HTTP_TLS_DIR: variable({
    read: optional,
    fallback: '',
    help: 'Folder with more HTTPS certificates, by host name, such as `/etc/letsencrypt/live`: `NAME/fullchain.pem` and `NAME/privkey.pem`, or `NAME.crt` and `NAME.key`. Read again every minute.',
  }),
  HTTP_MAX_CONNECTIONS: variable({
    read: connectionLimit,
    fallback: '1000',
    help: 'Maximum concurrent connections to the API.',
  }),
  HTTP_MAX_CONNECTIONS_PER_CLIENT: variable({
    read: connectionLimit,
    fallback: '100',
    help: 'The same per client address (for IPv6, per /64 network). For clients behind a trusted proxy, it limits concurrent requests.',
  }),
  SURFACE: variable({
    read: oneOf('full', 'preview'),
    fallback: 'full',
    help: '`preview` serves only the public operations.',
  }),
  OWNER_EMAIL: variable({
    read: email,
    fallback: '',
    help: 'Email address of the first owner; used if the database has no owner.',
  }),
  OWNER_PASSWORD: variable({
    read: password,
    fallback: '',
    secret: true,
    help: 'Password of the first owner. If unset, the `owner` command prints a link to set one.',
  }),
  SMTP_HOST: variable({
    read: text,
    fallback: '127.0.0.1',
    help: 'Address the SMTP listener listens on.',
  }),
  SMTP_PORT: variable({
    read: port,
    fallback: '2525',
    help: 'Port the SMTP listener listens on; use 25 in production.',
  }),
  SMTP_NAME: variable({
    read: domain,
    fallback: () => normalizeDomain(hostname()) ?? 'localhost',
    fallbackText: "the machine's host name",
    help: 'Host name in the SMTP banner: the name in your MX record.',
  }),
  INBOX_DOMAIN: variable({
    read: domain,
    fallback: 'localhost',
    help: 'Domain of the test addresses.',
  }),
  SMTP_TLS_CERT_FILE: variable({
    read: optional,
    fallback: '',
    help: 'Certificate chain (PEM) for STARTTLS; reloaded when it changes. If unset, the first start creates a self-signed certificate.',
  }),
  SMTP_TLS_KEY_FILE: variable({
    read: optional,
    fallback: '',
    help: 'Private key (PEM) of that certificate.',
  }),
  SMTP_MAX_SIZE: variable({ read: size, fallback: '25MiB', help: 'Maximum message size.' }),
  FEEDBACK_MAX_SIZE: variable({
    read: size,
    fallback: '15MiB',
    help: 'Maximum size of a message to the feedback address of a domain, and of an uploaded report.',
  }),
  FEEDBACK_STORAGE: variable({
    read: storage,
    fallback: '1GiB',
    help: 'Maximum size of the stored feedback of all domains; at most a quarter of the file system. A fifth of it is for reporters that nobody has confirmed.',
  }),
  FEEDBACK_STORAGE_PER_DOMAIN: variable({
    read: storage,
    fallback: '100MiB',
    help: 'The same for each domain.',
  }),
  SMTP_PROXY_PROTOCOL: variable({
    read: networks,
    fallback: '',
    help: 'Networks of the proxies that pass on the sending IP address with the PROXY protocol.',
  }),
  SMTP_XCLIENT: variable({
    read: networks,
    fallback: '',
    help: 'Networks of the mail servers that pass on the sending IP address with XCLIENT or XFORWARD.',
  }),
  SMTP_TRUSTED_HOPS: variable({
    read: networks,
    fallback: '',
    help: 'Networks of the mail servers whose `Received` field names the sending IP address.',
  }),
  LMTP_PORT: variable({
    read: lmtpPort,
    fallback: '',
    fallbackText: 'no LMTP',
    help: 'Port for LMTP from the mail servers in `SMTP_XCLIENT` and `SMTP_TRUSTED_HOPS`, on the address `SMTP_HOST`.',
  }),
  SMTP_MAX_CONNECTIONS: variable({
    read: connectionLimit,
    fallback: '300',
    help: 'Maximum concurrent connections to the SMTP listener.',
  }),
  SMTP_MAX_CONNECTIONS_PER_CLIENT: variable({
    read: connectionLimit,
    fallback: '30',
    help: 'The same per sending IP address (for IPv6, per /64 network).',
  }),
  ...MAIL_VARIABLES,
  DNS_SERVERS: variable({
    read: servers,
    fallback: '',
    fallbackText: "the system's",
    help: 'DNS servers to use, such as 127.0.0.1:5353.',
  }),
  BLOCKLISTS: variable({
    read: listChanges,
    fallback: '',
    fallbackText: 'the built-in lists',
    help: 'Changes to the built-in blocklists, such as `+b.barracudacentral.org,-bl.spamcop.net`; `-all` disables all.',
  }),
  SPAMHAUS_DQS_KEY: variable({
    read: dqsKey,
    fallback: '',
    secret: true,
    help: 'Key of the Spamhaus Data Query Service; Spamhaus refuses public resolvers without one.',
  }),
  SPAMD_URL: variable({
    read: engine('tcp', 'tcp://127.0.0.1:783'),
    fallback: '',
    help: 'Address of SpamAssassin (spamd): `tcp://127.0.0.1:783`.',
  }),
  RSPAMD_URL: variable({
    read: engine('http', 'http://127.0.0.1:11333'),
    fallback: '',
    help: 'Address of Rspamd: `http://127.0.0.1:11333`.',
  }),
  CHECK_LINKS: variable({
    read: bool,
    fallback: 'true',
    help: 'Check the links of messages with HEAD requests, and let members load the images of messages.',
  }),
  SEED_MAILBOXES: variable({
    read: seedMailboxes,
    fallback: '',
    secret: true,
    help: 'Seed mailboxes for placement tests: a JSON array such as `[{"provider":"gmail","address":"seed@gmail.com","password":"app password"}]`.',
  }),
  RECEIVERS: variable({
    read: receiverAccounts,
    fallback: '',
    secret: true,
    help: 'Accounts at Google Postmaster Tools and Microsoft SNDS, which publish figures about senders: a JSON array such as `[{"receiver":"microsoft_snds"}]`.',
  }),
  PLACEMENT_TIMEOUT: variable({
    read: placementTimeout,
    fallback: '60m',
    help: 'How long a placement test looks for its message in the seed mailboxes, from 1m to 7d.',
  }),
  PLACEMENT_RECHECK: variable({
    read: placementRecheck,
    fallback: '2m',
    help: 'How long after a message was found its placement becomes final, from 10s to 1h, or `0`. Until then, the service checks twice whether the provider moved it.',
  }),
  SEED_CLEANUP: variable({
    read: seedCleanup,
    fallback: '0',
    help: 'Age after which messages of tests move to the trash of the seed mailboxes, such as `7d`; `0`: never.',
  }),
  ...SIGN_IN_VARIABLES,
  WEBHOOK_ALLOW_NETWORKS: variable({
    read: networks,
    fallback: '',
    fallbackText: 'none',
    help: 'Private networks (CIDR) that webhooks and alerts may call, also over `http://`.',
  }),
  WEBHOOK_CA_FILE: variable({
    read: optional,
    fallback: '',
    help: 'File with additional certificate authorities (PEM) that webhooks trust.',
  }),
  DNS_COMMANDS: variable({
    read: dnsCommands,
    fallback: '',
    secret: true,
    help: 'Programs that publish DNS records: a JSON array such as `[{"name":"registrar","command":["/usr/local/bin/publish-dns"],"zones":["example.com"]}]`.',
  }),
  TEST_RETENTION: variable({
    read: duration,
    fallback: '90d',
    help: 'How long messages and results are kept; 0 keeps them forever.',
  }),
  EVENT_RETENTION: variable({
    read: eventRetention,
    fallback: '30d',
    help: 'How long events, webhook deliveries, monitor runs and resolved incidents are kept; at least 1d, 0 keeps them forever.',
  }),
  FEEDBACK_RETENTION: variable({
    read: duration,
    fallback: '400d',
    help: 'How long the reports of receivers and their rows are kept; sums by day stay, and what identifies a counted report. 0 keeps them forever.',
  }),
  FEEDBACK_KEEP_MESSAGES: variable({
    read: bool,
    fallback: 'false',
    help: 'Whether complaints, failure reports and bounces are kept for 30 days as they came, with addresses of recipients.',
  }),
  SECRET_KEY: variable({
    read: secretKey,
    fallback: '',
    fallbackText: 'generated in DATA_DIR/secret.key',
    secret: true,
    help: 'Key that encrypts secrets in the database; at least 32 characters.',
  }),
  TRUSTED_PROXIES: variable({
    read: networks,
    fallback: '',
    help: 'Networks of the proxies whose `X-Forwarded-For` is trusted.',
  }),
  RATE_LIMIT: variable({
    read: rate,
    fallback: '600/min',
    help: 'Rate limit for requests per API key, session or IP address; `0` disables it.',
  }),
  METRICS_TOKEN: variable({
    read: metricsToken,
    fallback: '',
    secret: true,
    help: 'Bearer token for `/metrics`, at least 16 characters. If unset, only programs on the same machine can read it.',
  }),
  MCP_OAUTH: variable({
    read: bool,
    fallback: 'true',
    help: 'Whether members may connect assistants such as Claude and ChatGPT to `/mcp` by OAuth. Requires HTTPS URLs, or loopback. `false` also blocks connected assistants.',
  }),
  PUBLIC_TESTS: variable({
    read: bool,
    fallback: 'false',
    help: 'Whether anyone may test a message from the front page, without an account.',
  }),
  PUBLIC_TESTS_PER_CLIENT: variable({
    read: count,
    fallback: '20',
    help: 'Public tests per day for each client, an IPv4 address or an IPv6 /64.',
  }),
  PUBLIC_TESTS_PER_DAY: variable({
    read: count,
    fallback: '1000',
    help: 'Public tests per day for all clients together.',
  }),
  WORKERS: variable({
    read: workers,
    fallback: () => String(Math.min(availableParallelism(), MAX_WORKERS)),
    fallbackText: 'number of cores',
    help: 'Number of analysis threads.',
  }),
  PDF_FONTS: variable({
    read: paths,
    fallback: '',
    help: 'Font files and folders for PDFs, separated by commas. Needed for scripts that have no font in the executable or the system.',
  }),
  LOG_LEVEL: variable({
    read: oneOf<LogLevel>(...LOG_LEVELS),
    fallback: 'info',
    help: 'Minimum log level.',
  }),
  LOG_FORMAT: variable({
    read: oneOf('auto', 'json', 'pretty'),
    fallback: 'auto',
    fallbackText: 'json (pretty on a terminal)',
    help: 'Log format.',
  }),
} satisfies Record<string, Variable<unknown>>;
