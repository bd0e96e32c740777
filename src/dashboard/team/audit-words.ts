/** Entries of the audit log in words, and the pages of their objects. */

import type { AuditedObject } from './audit-objects.ts';

/** The objects with the actions on them, in the order of the filter. */
const ACTIONS: [type: string, name: string, verbs: string[]][] = [
  ['test', 'Test', ['images_loaded', 'images_deleted', 'deleted']],
  ['inbox', 'Inbox', ['created', 'deleted']],
  ['domain', 'Domain', ['created', 'changed', 'deleted']],
  ['receiver', 'Receiver', ['fetch_requested']],
  ['dns_server', 'Name server', ['created', 'changed', 'deleted']],
  ['dns_change', 'DNS change', ['requested', 'failed', 'not_confirmed']],
  ['monitor', 'Monitor', ['created', 'changed', 'deleted']],
  ['alert', 'Alert rule', ['created', 'changed', 'deleted']],
  ['report', 'Report', ['shared', 'revoked']],
  [
    'report_schedule',
    'Report schedule',
    ['created', 'changed', 'sent', 'unsubscribed', 'resubscribed', 'deleted'],
  ],
  [
    'webhook_endpoint',
    'Webhook endpoint',
    ['created', 'changed', 'tested', 'secret_rotated', 'recovered', 'deleted'],
  ],
  ['webhook_delivery', 'Webhook delivery', ['resent']],
  ['member', 'Member', ['created', 'changed', 'removed']],
  ['ownership', 'Ownership', ['transferred']],
  ['invitation', 'Invitation', ['created', 'resent', 'accepted', 'revoked']],
  ['api_key', 'API key', ['created', 'revoked']],
  ['session', 'Session', ['created', 'ended']],
  ['sessions', 'Other sessions', ['ended']],
  ['password', 'Password', ['changed', 'reset_requested', 'reset']],
];

/** Where the general words would be unclear. */
const EXCEPTIONS: Record<string, string> = {
  'session.created': 'Signed in',
  'report.shared': 'Shared link created',
  'report.revoked': 'Shared link revoked',
  'password.reset': 'Password set with a link',
  'password.reset_requested': 'Password link requested',
};

/** "Webhook endpoint: secret rotated". */
export function actionText(action: string): string {
  if (Object.hasOwn(EXCEPTIONS, action)) return EXCEPTIONS[action]!;
  const [type = '', verb = ''] = action.split('.');
  const name = ACTIONS.find(([known]) => known === type)?.[1] ?? capitalized(words(type));
  return `${name} ${words(verb)}`;
}

const words = (text: string): string => text.replaceAll('_', ' ');

const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** The choices of the filter. `current` is offered too, even if it is not known. */
export function actionOptions(current: string | undefined): [value: string, text: string][] {
  const known = ACTIONS.flatMap(([type, , verbs]) => verbs.map((verb) => `${type}.${verb}`));
  const actions = current && !known.includes(current) ? [current, ...known] : known;
  return actions.map((action) => [action, actionText(action)]);
}

/** The path of each type of object. Lists have no page per object. */
const PATHS: Record<string, (id: string) => string> = {
  test: (id) => `/tests/${id}`,
  inbox: (id) => `/inboxes/${id}`,
  domain: (id) => `/domains/${id}`,
  monitor: (id) => `/monitors/${id}`,
  receiver: () => '/receivers',
  dns_server: (id) => `/dns/servers/${id}`,
  dns_change: (id) => `/dns/changes/${id}`,
  alert: (id) => `/alerts/${id}`,
  report_schedule: (id) => `/reports/schedules/${id}`,
  shared_report: () => '/reports/shares',
  webhook_endpoint: (id) => `/webhooks/${id}`,
  webhook_delivery: (id) => `/webhooks/deliveries/${id}`,
  team_member: (id) => `/team/members/${id}`,
  team_invitation: () => '/team',
  api_key: () => '/api-keys',
};

const OBJECT_NAMES: Record<string, string> = {
  test: 'Test',
  inbox: 'Inbox',
  domain: 'Domain',
  monitor: 'Monitor',
  dns_server: 'Name server',
  dns_change: 'DNS change',
  alert: 'Alert rule',
  report_schedule: 'Report schedule',
  shared_report: 'Shared link',
  webhook_endpoint: 'Endpoint',
  webhook_delivery: 'Delivery',
  team_member: 'Member',
  team_invitation: 'Invitation',
  api_key: 'API key',
  session: 'Session',
};

export const objectName = (type: string): string =>
  Object.hasOwn(OBJECT_NAMES, type) ? OBJECT_NAMES[type]! : capitalized(words(type));

/** Within a sentence: "alert rule", but "API key". */
export const objectNoun = (type: string): string => {
  const name = objectName(type);
  return /^[A-Z]{2}/.test(name) ? name : `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
};

/** The page of an object that exists, or the list that contains it; null if there is neither. */
export const objectPath = ({ object_type, object_id }: AuditedObject): string | null =>
  Object.hasOwn(PATHS, object_type) ? PATHS[object_type]!(encodeURIComponent(object_id)) : null;

/** A value of the details: "old → new" for a change. */
export function detailText(value: unknown): string {
  if (isChange(value)) return `${detailText(value.from)} → ${detailText(value.to)}`;
  if (value === null || value === '') return 'none';
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
    return value.length > 0 ? value.join(', ') : 'none';
  return JSON.stringify(value);
}

const isChange = (value: unknown): value is { from: unknown; to: unknown } =>
  typeof value === 'object' && value !== null && Object.keys(value).toSorted().join() === 'from,to';

/** Some details are as long as members want them to be. */
const MAX_SHOWN = 300;

export const cut = (text: string): string =>
  text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN).toWellFormed()}…`;

/** "Sessions ended" for `sessions_ended`. */
export const detailName = (name: string): string => capitalized(words(name));
