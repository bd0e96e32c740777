/** Slack: posts to an incoming webhook, of the rule or of the operator. */

import type { App } from '../../app.ts';
import { isoTime } from '../../lib/clock.ts';
import type { AlertRow } from '../../store/tables.generated.ts';
import { endpointUrlProblem } from '../../webhooks/endpoint-url.ts';
import type { Channel, ChannelContext } from './channel.ts';

export const slack: Channel = {
  name: 'Slack',
  unconfigured:
    'no usable Slack webhook URL: add one to the rule, or set DELIVERABILITY_SLACK_WEBHOOK_URL on the server',
  isConfigured: (app, rule) => slackUrlOf(app, rule) !== null,
  queue: async (_tx, { clock }, _event, { dueAt }) => [
    { status: 'queued', due_at: dueAt ?? isoTime(clock.now()) },
  ],
};

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
export function slackUrlOf(app: ChannelContext, row: AlertRow): string | null {
  return row.slack_webhook_url === null ? app.config.SLACK_WEBHOOK_URL : ownSlackUrl(app, row);
}
