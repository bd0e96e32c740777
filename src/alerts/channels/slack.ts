/** Slack, and programs with its incoming webhooks: posts to one of the rule or of the operator. */

import * as v from 'valibot';
import type { App } from '../../app.ts';
import type { AlertRow } from '../../store/tables.generated.ts';
import { endpointUrlProblem } from '../../webhooks/endpoint-url.ts';
import type { Channel, ChannelContext, ChannelField, ServiceAnswers } from './channel.ts';
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

const REPLACE =
  'create a new one, and enter its URL in the rule, or in DELIVERABILITY_SLACK_WEBHOOK_URL if the rule has none';
const GONE = `the webhook was removed or disabled; ${REPLACE}`;
const NO_TEAM =
  'the Slack workspace no longer exists or is disabled; use a webhook of another workspace';
const REJECTED =
  'Slack rejected the format of the message; report this to the developers of Deliverability';
const FORBIDDEN = 'Slack does not let the webhook post there';
const ASK_ADMIN = `${FORBIDDEN}; ask an admin of the workspace, or use a webhook of another channel`;

/**
 * Slack answers with a word: docs.slack.dev, “Sending messages using incoming webhooks”, “Handling errors”; its status tells most
 * of them. Mattermost has one `id` for all problems and tells them apart by status (server/channels/web/webhook.go), and
 * Rocket.Chat has texts (integrations/server/api/api.ts).
 */
const ANSWERS: ServiceAnswers = {
  refusals: {
    invalid_token: `the webhook URL is wrong, or was revoked; ${REPLACE}`,
    no_team: NO_TEAM,
    invalid_team: NO_TEAM,
    team_disabled: NO_TEAM,
    channel_not_found: `the Slack channel was deleted, or the webhook has no access; ${REPLACE}`,
    channel_is_archived: 'the Slack channel is archived; unarchive it, or use another webhook',
    user_not_found: `the recipient no longer exists in Slack; ${REPLACE}`,
    posting_to_general_channel_denied: `${FORBIDDEN}: only admins can post to #general; use a webhook of another channel`,
    invalid_payload: REJECTED,
    invalid_blocks: REJECTED,
    'mattermost 400': `Mattermost does not know the webhook, its channel is archived, or it rejects the message; check the webhook, or ${REPLACE}`,
    'mattermost 403':
      'Mattermost does not let the webhook post; check that its creator is active and can post in the channel',
    'mattermost 404': `the Mattermost channel was deleted; ${REPLACE}`,
    'mattermost 413': 'the message is too long for Mattermost',
    'mattermost 501':
      'incoming webhooks are disabled in Mattermost; ask its admin to enable them in the System Console',
    'Service Unavailable':
      'the integration is disabled in Rocket.Chat; enable it in the administration',
    'Invalid integration id or token provided.': `Rocket.Chat does not know the webhook; ${REPLACE}`,
    400: 'the message was rejected; check the webhook and its channel',
    403: ASK_ADMIN,
    404: GONE,
    410: GONE,
  },
  delays: { rollup_error: 'Slack had an error of its own, and may accept the message later' },
  problem: v.union([
    v.pipe(
      v.string(),
      v.trim(),
      v.regex(/^[a-z]+(?:_[a-z]+)+$/),
      v.transform((word) => ({ text: word, code: word })),
    ),
    v.pipe(
      v.object({ message: v.string(), status_code: v.optional(v.number()) }),
      v.transform(({ message, status_code }) => ({
        text: message,
        code: `mattermost ${status_code}`,
      })),
    ),
    v.pipe(
      v.object({ success: v.literal(false), error: v.string() }),
      v.transform(({ error }) => ({ text: error, code: error })),
    ),
  ]),
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
    message: (notification, app, rule) => {
      const url = slackUrlOf(app, rule);
      return { body: slackMessage(notification, { showsBlocks: url === null || isSlack(url) }) };
    },
    answers: ANSWERS,
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
