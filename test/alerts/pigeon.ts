/** A channel in one file and one line: what a further service needs. Import it before anything that reads the channels. */

import type { Channel, ChannelField } from '../../src/alerts/channels/channel.ts';
import { CHANNEL_IDS, CHANNELS } from '../../src/alerts/channels/index.ts';
import { settingOf } from '../../src/alerts/channels/settings.ts';

const field = (
  name: string,
  kind: ChannelField['kind'],
  isSecret: boolean,
  example: string,
): ChannelField => ({
  name: `pigeon_${name}`,
  kind,
  isSecret,
  label: `Pigeon ${name}`,
  example,
  hint: `The ${name} of the loft.`,
  documentation: `The ${name} of the loft of pigeons.`,
});
const URL_FIELD = field('url', 'url', true, 'https://loft.example/post/secret');
const TOKEN = field('token', 'text', true, 'secret');
const ROOM = field('room', 'text', false, 'tower');

const pigeon: Channel = {
  name: 'Pigeon',
  hints: {
    configured: 'Sends a pigeon.',
    unconfigured: 'Enter the URL of `the loft`. See [alerts](/alerts).',
  },
  fields: [URL_FIELD, TOKEN, ROOM],
  unconfigured: 'no usable URL of a loft',
  post: {
    url: (app, rule) => settingOf(app, rule, URL_FIELD) ?? null,
    message: ({ kind, title }, app, rule) => ({
      body: { room: settingOf(app, rule, ROOM), text: `${kind}: ${title}` },
      headers: { authorization: `Bearer ${settingOf(app, rule, TOKEN)}` },
    }),
  },
};

// The line of `index.ts`.
Object.assign(CHANNELS, { pigeon });
CHANNEL_IDS.push('pigeon' as never);
