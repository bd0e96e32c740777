/** Slack, and programs with its incoming webhooks: posts to one of the rule or of the operator. */

import type { App } from '../../app.ts';
import type { AlertRow } from '../../store/tables.generated.ts';
import { endpointUrlProblem } from '../../webhooks/endpoint-url.ts';
import type { Channel, ChannelContext, ChannelField } from './channel.ts';
import { settingOf } from './settings.ts';
import { slackMessage } from './slack-message.ts';

const URL_FIELD: ChannelField = {
  name: 'slack_webhook_url',
  kind: 'url',
  isSecret: true,
  label: 'Slack URL',
  hint: 'The URL of a Slack incoming webhook. It is a secret and is not shown again. If empty, the default URL of the server is used.',
  placeholder: 'https://hooks.slack.com/services/…',
  removal: 'The rule then uses the default URL of the server.',
  documentation:
    'The Slack incoming webhook URL. If null, the server’s default URL is used. Responses never include it.',
  example: 'https://hooks.slack.com/services/T0000/B0000/XXXX',
};

export const slack: Channel = {
  name: 'Slack',
  hints: {
    configured: 'Posts to a Slack channel.',
    unconfigured:
      'Enter a Slack URL below, or set `DELIVERABILITY_SLACK_WEBHOOK_URL` on the server.',
  },
  fields: [URL_FIELD],
  unconfigured:
    'no usable Slack webhook URL: add one to the rule, or set DELIVERABILITY_SLACK_WEBHOOK_URL on the server',
  post: {
    url: slackUrlOf,
    missing: 'the Slack webhook URL was removed or cannot be decrypted',
    message: (notification, app, rule) => {
      const url = slackUrlOf(app, rule);
      return { body: slackMessage(notification, { showsBlocks: url === null || isSlack(url) }) };
    },
  },
};

/** Mattermost and Rocket.Chat take the same messages, but ignore `blocks`. */
const isSlack = (url: string): boolean =>
  /(?:^|\.)slack(?:-gov)?\.com$/.test(new URL(url).hostname);

/** The problem with the operator's Slack URL, worded to follow its name; null if unset or valid. */
export function slackUrlProblem({
  SLACK_WEBHOOK_URL: url,
  WEBHOOK_ALLOW_NETWORKS: allowedNetworks,
}: Pick<App['config'], 'SLACK_WEBHOOK_URL' | 'WEBHOOK_ALLOW_NETWORKS'>): string | null {
  return url === null ? null : endpointUrlProblem(url, allowedNetworks);
}

/** The rule's own URL (null if it can't be decrypted), or the operator's if the rule has none. */
function slackUrlOf(app: ChannelContext, rule: AlertRow): string | null {
  const own = settingOf(app, rule, URL_FIELD);
  return own === undefined ? app.config.SLACK_WEBHOOK_URL : own;
}
