/** Where the notifications of a rule go: which of its channels lead somewhere, and who gets its mail. */

import type { App } from '../app.ts';
import type { Db, Tx } from '../store/open.ts';
import type { AlertRow } from '../store/tables.generated.ts';
import { openFault } from '../webhooks/endpoint-url.ts';
import { wants } from '../webhooks/enqueue.ts';
import type { Channel } from './schema.ts';

type Context = Pick<App, 'config' | 'mailer' | 'secrets'>;

const purposeOf = (alertId: string): string => `slack of ${alertId}`;

/** Bound to the rule: it opens in no other. */
export function sealSlackUrl(secrets: App['secrets'], alertId: string, url: string): string {
  return secrets.seal(url, purposeOf(alertId));
}

/** The rule's own address; null where it has none, or it was sealed by another key. */
export function ownSlackUrl(
  { secrets }: Pick<App, 'secrets'>,
  { id, slack_webhook_url: sealed }: Pick<AlertRow, 'id' | 'slack_webhook_url'>,
): string | null {
  return sealed === null ? null : secrets.open(sealed, purposeOf(id));
}

/** Half a sentence on why nothing can be posted to the operator's address; null where there is none, or it may. */
export function slackUrlFault({
  SLACK_WEBHOOK_URL: url,
  WEBHOOK_ALLOW_NETWORKS: opened,
}: Pick<App['config'], 'SLACK_WEBHOOK_URL' | 'WEBHOOK_ALLOW_NETWORKS'>): string | null {
  return url === null ? null : openFault(url, opened);
}

/** Its own, or else the operator's; one that cannot be opened is not replaced by another. */
export function slackUrlOf(app: Context, row: AlertRow): string | null {
  return row.slack_webhook_url === null ? app.config.SLACK_WEBHOOK_URL : ownSlackUrl(app, row);
}

/** `held`: it was disabled for failing, so that what it gets waits for somebody to recover it. */
export type EndpointsWanting = { id: string; held: boolean }[];

/** The endpoints that an event of this type has a delivery for at present. */
export async function endpointsWanting(db: Db | Tx, type: string): Promise<EndpointsWanting> {
  const endpoints = await db
    .selectFrom('webhook_endpoints')
    .select(['id', 'events', 'auto_disabled_at'])
    .where('enabled', '=', 1)
    .where('deleted_at', 'is', null)
    .execute();
  return endpoints
    .filter(({ events }) => wants(events, type))
    .map(({ id, auto_disabled_at }) => ({ id, held: auto_disabled_at !== null }));
}

export const channelsOf = ({ channels }: Pick<AlertRow, 'channels'>): Channel[] =>
  JSON.parse(channels);

/** `webhookWanted`: whether an endpoint wants `alert.triggered`. */
export function unconfiguredChannels(
  app: Context,
  row: AlertRow,
  webhookWanted: boolean,
): Channel[] {
  const configured: Record<Channel, boolean> = {
    email: app.mailer !== null,
    webhook: webhookWanted,
    slack: slackUrlOf(app, row) !== null,
  };
  return channelsOf(row).filter((channel) => !configured[channel]);
}

/** Who gets the mail of a rule at this moment. */
export async function recipientsOf(tx: Tx, { recipients }: AlertRow): Promise<string[]> {
  if (recipients !== null) return JSON.parse(recipients);
  const people = await tx
    .selectFrom('members')
    .select('email')
    .where('role', 'in', ['owner', 'admin'])
    .orderBy('id')
    .execute();
  return people.map(({ email }) => email);
}
