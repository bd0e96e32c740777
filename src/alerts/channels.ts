/** The channels of a rule: which of them are configured, and who receives its email. */

import type { App } from '../app.ts';
import type { Db, Tx } from '../store/open.ts';
import type { AlertRow } from '../store/tables.generated.ts';
import { endpointUrlProblem } from '../webhooks/endpoint-url.ts';
import { subscribesTo } from '../webhooks/enqueue.ts';
import type { Channel } from './schema.ts';

type Context = Pick<App, 'config' | 'mailer' | 'secrets'>;

const purposeOf = (alertId: string): string => `slack of ${alertId}`;

/** Encrypts the URL, bound to the rule: it can't be decrypted for another rule. */
export function sealSlackUrl(secrets: App['secrets'], alertId: string, url: string): string {
  return secrets.seal(url, purposeOf(alertId));
}

/** The rule's own URL; null if it has none, or if it was encrypted with another key. */
export function ownSlackUrl(
  { secrets }: Pick<App, 'secrets'>,
  { id, slack_webhook_url: sealed }: Pick<AlertRow, 'id' | 'slack_webhook_url'>,
): string | null {
  return sealed === null ? null : secrets.open(sealed, purposeOf(id));
}

/** The problem with the operator's Slack URL, worded to follow its name; null if unset or valid. */
export function slackUrlProblem({
  SLACK_WEBHOOK_URL: url,
  WEBHOOK_ALLOW_NETWORKS: allowedNetworks,
}: Pick<App['config'], 'SLACK_WEBHOOK_URL' | 'WEBHOOK_ALLOW_NETWORKS'>): string | null {
  return url === null ? null : endpointUrlProblem(url, allowedNetworks);
}

/** The rule's own URL (null if it can't be decrypted), or the operator's if the rule has none. */
export function slackUrlOf(app: Context, row: AlertRow): string | null {
  return row.slack_webhook_url === null ? app.config.SLACK_WEBHOOK_URL : ownSlackUrl(app, row);
}

/** `held`: the endpoint was disabled automatically, so its deliveries wait until someone recovers them. */
export type SubscribedEndpoints = { id: string; held: boolean }[];

/** The enabled live endpoints that subscribe to events of this type. Events of alerts are live. */
export async function findSubscribedEndpoints(
  db: Db | Tx,
  type: string,
): Promise<SubscribedEndpoints> {
  const endpoints = await db
    .selectFrom('webhook_endpoints')
    .select(['id', 'events', 'auto_disabled_at'])
    .where('enabled', '=', 1)
    .where('livemode', '=', 1)
    .where('deleted_at', 'is', null)
    .execute();
  return endpoints
    .filter(({ events }) => subscribesTo(events, type))
    .map(({ id, auto_disabled_at }) => ({ id, held: auto_disabled_at !== null }));
}

export const channelsOf = ({ channels }: Pick<AlertRow, 'channels'>): Channel[] =>
  JSON.parse(channels);

/** `hasWebhookEndpoint`: whether an endpoint subscribes to `alert.triggered`. */
export function unconfiguredChannels(
  app: Context,
  row: AlertRow,
  hasWebhookEndpoint: boolean,
): Channel[] {
  const configured: Record<Channel, boolean> = {
    email: app.mailer !== null,
    webhook: hasWebhookEndpoint,
    slack: slackUrlOf(app, row) !== null,
  };
  return channelsOf(row).filter((channel) => !configured[channel]);
}

/** The current email recipients of a rule. */
export async function recipientsOf(tx: Tx, { recipients }: AlertRow): Promise<string[]> {
  if (recipients !== null) return JSON.parse(recipients);
  const admins = await tx
    .selectFrom('members')
    .select('email')
    .where('role', 'in', ['owner', 'admin'])
    .orderBy('id')
    .execute();
  return admins.map(({ email }) => email);
}
