/** The parts of the service in words: their state, and what to do if they don't work. */

import { NOT_TESTED } from '../../analysis/blocklists/watch.ts';
import { PREFIX, type VariableName } from '../../config/config.ts';
import { STORAGE_ADVICE } from '../../feedback/storage/shares.ts';
import type { Dependency } from '../../health/dependencies.ts';

/** As interface.md: none of the four looks like another. */
export type PartState = 'unset' | 'waiting' | 'fine' | 'restricted' | 'broken';

/** The names and values of variables that set a part up. */
export type Example = [name: VariableName, value: string][];

export interface Part {
  name: string;
  state: PartState;
  /** What is wrong; null if nothing is. */
  problem: string | null;
  /** What to do about it. */
  advice: string | null;
  /** How to set it up; null if it is set up, or if this version cannot. */
  example: Example | null;
  latencyMs: number | null;
}

interface Declaration {
  name: string;
  /** What is missing without it. */
  purpose?: string;
  example?: Example;
  advice: string;
  /** When connections are refused. */
  atLimit?: string;
}

export const SEED_EXAMPLE: Example = [
  [
    'SEED_MAILBOXES',
    '[{"provider":"gmail","address":"our-seed@gmail.com","password":"abcd efgh ijkl mnop"}]',
  ],
];

const DECLARATIONS: Record<string, Declaration> = {
  database: {
    name: 'Database',
    advice:
      'Check that the database server is running and accepts connections, or free up disk space on the machine of the SQLite file.',
  },
  mail_listener: {
    name: 'SMTP listener',
    advice: 'Restart the service, and check its log for the cause.',
    atLimit: `Find the clients that open too many connections, or raise ${PREFIX}SMTP_MAX_CONNECTIONS.`,
  },
  http_listener: {
    name: 'API and web pages',
    advice: 'Restart the service, and check its log for the cause.',
    atLimit: `Find the clients that open too many connections, or raise ${PREFIX}HTTP_MAX_CONNECTIONS.`,
  },
  scheduler: {
    name: 'Background jobs',
    advice: 'Restart the service. Until then, nothing is analyzed, monitored or sent.',
  },
  dns: {
    name: 'DNS',
    advice: `Check the resolver of this machine, or set ${PREFIX}DNS_SERVERS to another one.`,
  },
  outgoing_smtp: {
    name: 'Outgoing email',
    purpose: 'Invitations, password links, alerts and scheduled reports are not sent by email.',
    example: [
      ['MAIL_URL', 'smtp://user:password@mail.example.com:587'],
      ['MAIL_FROM', 'Deliverability <deliverability@example.com>'],
    ],
    advice: `Check ${PREFIX}MAIL_URL and the log of the mail server. Queued email is sent once it works again.`,
  },
  seed_mailboxes: {
    name: 'Seed mailboxes',
    purpose: 'Reports do not show in which folder a message lands.',
    example: SEED_EXAMPLE,
    advice: 'See “Seed mailboxes” on this page.',
  },
  blocklists: {
    name: 'Blocklists',
    purpose: 'Messages, domains and addresses are not checked against blocklists.',
    example: [['BLOCKLISTS', '+zen.spamhaus.org,+bl.spamcop.net']],
    advice:
      'Many lists refuse public resolvers. Run a resolver of your own, or set a key where the list offers one. Failing lists are tested again every 10 minutes.',
  },
  feedback_storage: { name: 'Feedback storage', advice: STORAGE_ADVICE },
};

/** "Outgoing email" for `outgoing_smtp`. */
export const dependencyName = (name: string): string =>
  Object.hasOwn(DECLARATIONS, name) ? DECLARATIONS[name]!.name : name;

/** Detail texts of dependencies that have not responded for the first time. */
const isWaiting = ({ status, detail }: Dependency): boolean =>
  status === 'degraded' &&
  detail !== null &&
  (detail === 'No response yet.' || detail === NOT_TESTED || detail.startsWith('Not tested yet'));

export function partOf(dependency: Dependency): Part {
  const { status, detail, latency_ms } = dependency;
  const declared = Object.hasOwn(DECLARATIONS, dependency.name)
    ? DECLARATIONS[dependency.name]!
    : { name: dependency.name, advice: '' };
  const { name, purpose = null, example = null, advice, atLimit } = declared;
  const base = { name, latencyMs: latency_ms, problem: null, advice: null, example: null };
  if (status === 'up') return { ...base, state: 'fine' };
  if (status === 'disabled') return { ...base, state: 'unset', problem: purpose, example };
  if (isWaiting(dependency)) return { ...base, state: 'waiting' };
  const isAtLimit = detail?.includes('connection limit') ?? false;
  return {
    ...base,
    state: status === 'down' ? 'broken' : 'restricted',
    problem: detail,
    advice: (isAtLimit && atLimit) || advice,
  };
}

/** Parts that the service works without, and that no probe watches. */
interface OptionalPart {
  name: string;
  purpose: string;
  /** Set if all of these are. */
  variables: VariableName[];
  example: Example;
}

export const OPTIONAL_PARTS: OptionalPart[] = [
  {
    name: 'Single sign-on',
    purpose: 'Members sign in with a password only.',
    variables: ['OIDC_ISSUER'],
    example: [
      ['OIDC_ISSUER', 'https://login.example.com'],
      ['OIDC_CLIENT_ID', 'deliverability'],
      ['OIDC_CLIENT_SECRET', '…'],
    ],
  },
  {
    name: 'SpamAssassin',
    purpose: 'Reports do not include its score.',
    variables: ['SPAMD_URL'],
    example: [['SPAMD_URL', 'tcp://127.0.0.1:783']],
  },
  {
    name: 'Rspamd',
    purpose: 'Reports do not include its score.',
    variables: ['RSPAMD_URL'],
    example: [['RSPAMD_URL', 'http://127.0.0.1:11333']],
  },
  {
    name: 'Default Slack channel',
    purpose: 'Alert rules that notify Slack need a webhook URL of their own.',
    variables: ['SLACK_WEBHOOK_URL'],
    example: [['SLACK_WEBHOOK_URL', 'https://hooks.slack.com/services/…']],
  },
  {
    name: 'DKIM signatures of outgoing email',
    purpose: 'The mail server must sign the email that this service sends.',
    variables: ['MAIL_DKIM_DOMAIN'],
    example: [
      ['MAIL_DKIM_DOMAIN', 'example.com'],
      ['MAIL_DKIM_SELECTOR', 'deliverability'],
      ['MAIL_DKIM_KEY_FILE' as VariableName, '/etc/deliverability/dkim.pem'],
    ],
  },
];

/** Lines of a file with environment variables. */
export const exampleText = (example: Example): string =>
  example
    .map(([name, value]) => `${PREFIX}${name}=${/[\s<>$"]/.test(value) ? `'${value}'` : value}`)
    .join('\n');
