/** Every channel of an alert rule, in the order in which the API documents them. */

import type { AlertRow } from '../../store/tables.generated.ts';
import { ALERT_ROW } from '../alert-row.ts';
import { apprise } from './apprise.ts';
import type { Channel, ChannelContext, ChannelField } from './channel.ts';
import { custom } from './custom.ts';
import { discord } from './discord.ts';
import { email } from './email.ts';
import { googleChat } from './google-chat.ts';
import { ntfy } from './ntfy.ts';
import { pagerduty } from './pagerduty.ts';
import { slack } from './slack.ts';
import { teams } from './teams.ts';
import { telegram } from './telegram.ts';
import { webhook } from './webhook.ts';

const DECLARED = {
  email,
  webhook,
  slack,
  teams,
  discord,
  google_chat: googleChat,
  telegram,
  ntfy,
  pagerduty,
  apprise,
  custom,
};

/** The database takes any text: a newer version of the program may have stored another one. */
export type ChannelId = keyof typeof DECLARED;

export const CHANNELS: Record<ChannelId, Channel> = DECLARED;

declare module '../../store/vocabularies.ts' {
  interface Vocabularies {
    channel: ChannelId;
  }
}

export const CHANNEL_IDS = Object.keys(CHANNELS) as ChannelId[];

/** The settings of all channels but the recipients, which have a column of their own. */
export const settingFields = (): ChannelField[] =>
  CHANNEL_IDS.flatMap((id) => CHANNELS[id].fields).filter(({ kind }) => kind !== 'addresses');

export const isKnownChannel = (id: string): id is ChannelId => Object.hasOwn(CHANNELS, id);

/** For people. A channel of a newer version is shown as it is stored. */
export const channelName = (id: ChannelId): string => (isKnownChannel(id) ? CHANNELS[id].name : id);

export const channelsOf = ({ channels }: Pick<AlertRow, 'channels'>): ChannelId[] =>
  ALERT_ROW.decode({ channels }).channels as ChannelId[];

/** `hasWebhookEndpoint`: whether an endpoint subscribes to `alert.triggered`. */
export const unconfiguredChannels = (
  app: ChannelContext,
  rule: AlertRow,
  hasWebhookEndpoint: boolean,
): ChannelId[] =>
  channelsOf(rule).filter(
    (id) => !(isKnownChannel(id) && isConfigured(CHANNELS[id], app, rule, hasWebhookEndpoint)),
  );

const isConfigured = (
  channel: Channel,
  app: ChannelContext,
  rule: AlertRow,
  hasWebhookEndpoint: boolean,
): boolean =>
  channel.isConfigured?.(app, rule, hasWebhookEndpoint) ??
  (channel.post?.url(app, rule) ?? null) !== null;
