/** Every environment variable: how it is read, its default, and the line of help that people see. */

import { availableParallelism, hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { normalizeDomain } from '../lib/domain-names.ts';
import { LOG_LEVELS, type LogLevel } from '../lib/log.ts';
import {
  database,
  domain,
  dqsKey,
  duration,
  email,
  engine,
  eventRetention,
  issuer,
  listChanges,
  MAX_WORKERS,
  mailbox,
  mailUrl,
  networks,
  oneOf,
  optional,
  optionalDomain,
  password,
  port,
  privateKey,
  type Read,
  rate,
  secretKey,
  servers,
  size,
  slackUrl,
  text,
  url,
  workers,
  yesNo,
} from './readers.ts';

// What the declaration of one environment variable says.

export interface Variable<T> {
  read: Read<T>;
  /** The text that stands for an unset variable; computed from the variables before it. */
  fallback: string | ((values: Record<string, string>) => string);
  /** How the default is told in tables where it is computed. */
  fallbackText?: string;
  help: string;
  secret?: boolean;
}

export const variable = <T>(spec: Variable<T>): Variable<T> => spec;

// The environment variables of outgoing mail, of Slack and of sign-in by another provider.

const MAIL_VARIABLES = {
  MAIL_URL: variable({
    read: mailUrl,
    fallback: '',
    secret: true,
    help: 'Server for outgoing mail: `smtp://user:password@host:587` or `smtps://…`.',
  }),
  MAIL_FROM: variable({
    read: mailbox,
    fallback: '',
    help: 'From address of outgoing mail; needed with MAIL_URL.',
  }),
  MAIL_DKIM_DOMAIN: variable({
    read: optionalDomain,
    fallback: '',
    help: 'Domain that signs outgoing mail by DKIM.',
  }),
  MAIL_DKIM_SELECTOR: variable({
    read: optional,
    fallback: '',
    help: 'Selector of that signature.',
  }),
  MAIL_DKIM_KEY: variable({
    read: privateKey,
    fallback: '',
    secret: true,
    help: 'Private key (PEM) of that signature.',
  }),
  SLACK_WEBHOOK_URL: variable({
    read: slackUrl,
    fallback: '',
    secret: true,
    help: 'Incoming webhook of Slack to which alert rules post that have no other: `https://hooks.slack.com/services/…`.',
  }),
};

const SIGN_IN_VARIABLES = {
  OIDC_ISSUER: variable({
    read: issuer,
    fallback: '',
    help: 'Issuer of an OpenID Connect provider by which members may sign in; by https, or http on loopback.',
  }),
  OIDC_CLIENT_ID: variable({
    read: optional,
    fallback: '',
    help: 'Client id at that provider.',
  }),
  OIDC_CLIENT_SECRET: variable({
    read: optional,
    fallback: '',
    secret: true,
    help: 'Client secret at that provider.',
  }),
};

/** Every variable, in the order of the documentation. */
export const VARIABLES = {
  DATA_DIR: variable({
    read: (v) => resolve(v),
    fallback: './data',
    help: 'Where the database and keys are kept; made with mode 0700.',
  }),
  DATABASE_URL: variable({
    read: database,
    fallback: (v) => `sqlite:${join(v.DATA_DIR!, 'deliverability.db')}`,
    fallbackText: 'sqlite:$DATA_DIR/deliverability.db',
    help: 'The database file.',
  }),
  HTTP_HOST: variable({
    read: text,
    fallback: '127.0.0.1',
    help: 'Address that the API listens on.',
  }),
  HTTP_PORT: variable({ read: port, fallback: '8080', help: 'Port that the API listens on.' }),
  BASE_URL: variable({
    read: url,
    fallback: (v) => `http://127.0.0.1:${v.HTTP_PORT}`,
    fallbackText: 'http://127.0.0.1:8080',
    help: 'Address of the API as clients reach it.',
  }),
  APP_URL: variable({
    read: url,
    fallback: (v) => v.BASE_URL!,
    fallbackText: 'the same as BASE_URL',
    help: 'Address of the web pages as people reach them.',
  }),
  HTTP_TLS_CERT_FILE: variable({
    read: optional,
    fallback: '',
    help: 'Certificate chain (PEM) to serve HTTPS with; without it plain HTTP, for a proxy in front. Re-read when it changes.',
  }),
  HTTP_TLS_KEY_FILE: variable({
    read: optional,
    fallback: '',
    help: 'Private key (PEM) of that certificate.',
  }),
  SURFACE: variable({
    read: oneOf('full', 'preview'),
    fallback: 'full',
    help: '`preview` serves the public operations alone.',
  }),
  OWNER_EMAIL: variable({
    read: email,
    fallback: '',
    help: 'Makes this the first owner where the database has none.',
  }),
  OWNER_PASSWORD: variable({
    read: password,
    fallback: '',
    secret: true,
    help: 'The password of that first owner; without it, `owner` prints a link to set one.',
  }),
  SMTP_HOST: variable({
    read: text,
    fallback: '127.0.0.1',
    help: 'Address that the listener for test mail listens on.',
  }),
  SMTP_PORT: variable({
    read: port,
    fallback: '2525',
    help: 'Port of the listener for test mail; 25 in production.',
  }),
  SMTP_NAME: variable({
    read: domain,
    fallback: () => normalizeDomain(hostname()) ?? 'localhost',
    fallbackText: 'the host name',
    help: 'Name in the banner: that of the MX record.',
  }),
  INBOX_DOMAIN: variable({
    read: domain,
    fallback: 'localhost',
    help: 'Domain of the test addresses.',
  }),
  SMTP_TLS_CERT_FILE: variable({
    read: optional,
    fallback: '',
    help: 'Certificate chain (PEM) for STARTTLS; without it a self-signed pair is made at the first start. Re-read when it changes.',
  }),
  SMTP_TLS_KEY_FILE: variable({
    read: optional,
    fallback: '',
    help: 'Private key (PEM) of that certificate.',
  }),
  SMTP_MAX_SIZE: variable({ read: size, fallback: '25MiB', help: 'Largest message taken.' }),
  SMTP_PROXY_PROTOCOL: variable({
    read: networks,
    fallback: '',
    help: "Networks whose hosts say the client's address by the PROXY protocol.",
  }),
  ...MAIL_VARIABLES,
  DNS_SERVERS: variable({
    read: servers,
    fallback: '',
    fallbackText: "the system's",
    help: 'DNS servers to ask, such as 127.0.0.1:5353.',
  }),
  BLOCKLISTS: variable({
    read: listChanges,
    fallback: '',
    fallbackText: 'the default set',
    help: 'Changes to the blocklists that are asked, such as `+b.barracudacentral.org,-bl.spamcop.net`; `-all` begins with none.',
  }),
  SPAMHAUS_DQS_KEY: variable({
    read: dqsKey,
    fallback: '',
    secret: true,
    help: 'Key of the Spamhaus Data Query Service; public resolvers are refused without one.',
  }),
  SPAMD_URL: variable({
    read: engine('tcp', 'tcp://127.0.0.1:783'),
    fallback: '',
    help: 'SpamAssassin to ask, by the spamd protocol: `tcp://127.0.0.1:783`.',
  }),
  RSPAMD_URL: variable({
    read: engine('http', 'http://127.0.0.1:11333'),
    fallback: '',
    help: 'Rspamd to ask: `http://127.0.0.1:11333`.',
  }),
  CHECK_LINKS: variable({
    read: yesNo,
    fallback: 'true',
    help: 'Whether the links of a message are asked whether they work (HEAD alone).',
  }),
  ...SIGN_IN_VARIABLES,
  WEBHOOK_ALLOW_NETWORKS: variable({
    read: networks,
    fallback: '',
    fallbackText: 'none',
    help: 'Networks of your own (CIDR) that webhooks may call although they are not public.',
  }),
  WEBHOOK_CA_FILE: variable({
    read: optional,
    fallback: '',
    help: 'Certificate authorities (PEM) that webhooks trust beside the usual ones.',
  }),
  TEST_RETENTION: variable({
    read: duration,
    fallback: '90d',
    help: 'How long messages and results are kept; 0 keeps all.',
  }),
  EVENT_RETENTION: variable({
    read: eventRetention,
    fallback: '30d',
    help: 'How long events and their deliveries are kept, a day at least; 0 keeps all.',
  }),
  SECRET_KEY: variable({
    read: secretKey,
    fallback: '',
    fallbackText: 'made in DATA_DIR/secret.key',
    secret: true,
    help: 'Encrypts secrets at rest; at least 32 characters.',
  }),
  TRUSTED_PROXIES: variable({
    read: networks,
    fallback: '',
    help: 'Networks of the proxies whose `X-Forwarded-For` is believed.',
  }),
  RATE_LIMIT: variable({
    read: rate,
    fallback: '600/min',
    help: 'Requests for each API key, session or address; `0` for no limit.',
  }),
  WORKERS: variable({
    read: workers,
    fallback: () => String(Math.min(availableParallelism(), MAX_WORKERS)),
    fallbackText: 'number of cores',
    help: 'Analysis threads.',
  }),
  LOG_LEVEL: variable({
    read: oneOf<LogLevel>(...LOG_LEVELS),
    fallback: 'info',
    help: 'Least level that is logged.',
  }),
  LOG_FORMAT: variable({
    read: oneOf('auto', 'json', 'pretty'),
    fallback: 'auto',
    fallbackText: 'json (pretty on a terminal)',
    help: 'Form of the log lines.',
  }),
} satisfies Record<string, Variable<unknown>>;
