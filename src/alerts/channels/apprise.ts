/** Apprise: an Apprise API server passes the message on to the services that it is configured for, about 120 kinds. */

import * as v from 'valibot';
import type { AlertRow } from '../../store/tables.generated.ts';
import type { Channel, ChannelContext, ChannelField } from './channel.ts';
import { settingOf } from './settings.ts';
import { inert } from './slack-message.ts';
import { clip, headingOf, type Markup, PLAIN, wholeText } from './text.ts';

const SERVER: ChannelField = {
  name: 'apprise_server_url',
  kind: 'url',
  isSecret: false,
  label: 'Apprise server',
  hint: 'The address of your Apprise API server, without /notify.',
  placeholder: 'https://apprise.example.com',
  format: {
    pattern: /^(?!.*\/notify(?:\/|$))/,
    message: 'must end before /notify; enter the key in its own field',
  },
  example: 'https://apprise.example.com/',
};
const SECRET = { isSecret: true, sentTo: 'apprise_server_url' } as const;
const KEY: ChannelField = {
  ...SECRET,
  name: 'apprise_key',
  kind: 'text',
  label: 'Apprise key',
  hint: 'The configuration ID under which the server stores its services. It is not shown again.',
  format: { pattern: /^[\w-]{1,128}$/, message: 'must have 1 to 128 letters, digits, - and _' },
  example: 'deliverability-k3v9q1x7',
};
const URLS: ChannelField = {
  ...SECRET,
  name: 'apprise_urls',
  kind: 'lines',
  label: 'Apprise URLs',
  hint: 'Instead of a key: one service URL on each line, such as gotifys://host/token. They are secret and not shown again.',
  example: 'gotifys://push.example.com/AbCdEf123456',
};
const TAG: ChannelField = {
  name: 'apprise_tag',
  kind: 'text',
  isSecret: false,
  label: 'Apprise tag',
  hint: 'Only services with this tag get the message. Commas mean “or”, and spaces mean “and”.',
  format: { pattern: /^[\w.-][\w., -]{0,199}$/, message: 'must be tags of letters and digits' },
  example: 'mail-team',
};
const LOGIN: ChannelField = {
  ...SECRET,
  name: 'apprise_login',
  kind: 'text',
  label: 'Apprise user and password',
  hint: 'Only if the server requires them: user:password. They are secret and not shown again.',
  format: { pattern: /^[!-9;-~]+:[!-~]{1,300}$/, message: 'must have the form user:password' },
  example: 'alerts:correct-horse',
};

export const apprise: Channel = {
  name: 'Apprise',
  hints: {
    configured: 'Sends through an Apprise API server.',
    unconfigured: 'Enter the address of an Apprise API server below.',
  },
  fields: [SERVER, KEY, URLS, TAG, LOGIN],
  check: (app, rule) =>
    settingOf(app, rule, KEY) != null && settingOf(app, rule, URLS) != null
      ? { param: URLS.name, message: 'must not be set together with the Apprise key' }
      : null,
  // github.com/caronc/apprise-api, README and apprise_api/api/views.py.
  post: {
    url: urlOf,
    message(notification, app, rule) {
      const { kind } = notification;
      const login = settingOf(app, rule, LOGIN);
      const tag = settingOf(app, rule, TAG);
      const urls = settingOf(app, rule, URLS);
      return {
        body: {
          title: inert(clip(headingOf(notification), 'title')),
          body: wholeText(notification, TEXT, { max: MAX_BODY, without: ['heading'] }),
          type: TYPES[kind],
          format: 'text',
          ...(tag != null && { tag }),
          ...(urls != null && { urls: urls.split('\n') }),
        },
        headers: {
          accept: 'application/json',
          ...(login != null && {
            authorization: `Basic ${Buffer.from(login).toString('base64')}`,
          }),
        },
      };
    },
    answers: {
      accepted: v.pipe(
        v.union([v.looseObject({}), v.pipe(v.string(), v.regex(/^(?!\s*<)/))]),
        v.transform(() => null),
      ),
      refusals: {
        204: 'Apprise has nothing to notify: it stores no configuration under the key, or knows none of the URLs',
        400: 'Apprise rejected the request; check the key, the tag and the URLs',
        401: 'Apprise requires a user and password, or rejects them; enter them again',
        403: 'Apprise does not allow this; check the key, and whether it accepts URLs without one',
        404: 'this is not an Apprise API server; check its address',
        406: 'Apprise passes the message on to itself; check its configuration',
        431: 'the message is too long for Apprise',
      },
      delays: {
        424: 'Apprise could not reach one of its services, or none has the tag; see its log. All get the message again',
      },
      problem: v.union([
        v.pipe(
          v.object({ error: v.string() }),
          v.transform(({ error }) => ({ text: error })),
        ),
        // Of the web server in front of it, which checks the password.
        v.pipe(
          v.string(),
          v.includes('401 Authorization Required'),
          v.transform(() => ({ text: '' })),
        ),
      ]),
    },
  },
};

function urlOf(app: ChannelContext, rule: AlertRow): string | null {
  const [server, key, ...others] = [SERVER, KEY, URLS, LOGIN].map((field) =>
    settingOf(app, rule, field),
  );
  if (server == null || key === null || others.includes(null)) return null;
  return new URL(key === undefined ? 'notify' : `notify/${key}`, server.replace(/\/?$/, '/')).href;
}

const TYPES = { Alert: 'failure', Reminder: 'failure', Resolved: 'success', Sample: 'info' };

/** Apprise cuts or splits it for each service. */
const MAX_BODY = 4000;

/** Some of its services format text, and nobody knows which. */
const TEXT: Markup = {
  ...PLAIN,
  plain: inert,
  bold: inert,
  code: inert,
  link: (label, url) => `${inert(label)}: ${url}`,
};
