/** The environment variables of outgoing mail, of Slack and of sign-in by another provider. */

import {
  issuer,
  mailbox,
  mailUrl,
  optional,
  optionalDomain,
  privateKey,
  slackUrl,
} from './config-readers.ts';
import { variable } from './config-variable.ts';

export const MAIL_VARIABLES = {
  MAIL_URL: variable({
    read: mailUrl,
    fallback: '',
    secret: true,
    help: 'Server for outgoing mail: `smtp://user:password@host:587` or `smtps://…`.',
  }),
  MAIL_FROM: variable({
    read: mailbox,
    fallback: '',
    help: 'From address of outgoing mail; needed with MAIL_URL.',
  }),
  MAIL_DKIM_DOMAIN: variable({
    read: optionalDomain,
    fallback: '',
    help: 'Domain that signs outgoing mail by DKIM.',
  }),
  MAIL_DKIM_SELECTOR: variable({
    read: optional,
    fallback: '',
    help: 'Selector of that signature.',
  }),
  MAIL_DKIM_KEY: variable({
    read: privateKey,
    fallback: '',
    secret: true,
    help: 'Private key (PEM) of that signature.',
  }),
  SLACK_WEBHOOK_URL: variable({
    read: slackUrl,
    fallback: '',
    secret: true,
    help: 'Incoming webhook of Slack to which alert rules post that have no other: `https://hooks.slack.com/services/…`.',
  }),
};

export const SIGN_IN_VARIABLES = {
  OIDC_ISSUER: variable({
    read: issuer,
    fallback: '',
    help: 'Issuer of an OpenID Connect provider by which members may sign in; by https, or http on loopback.',
  }),
  OIDC_CLIENT_ID: variable({
    read: optional,
    fallback: '',
    help: 'Client id at that provider.',
  }),
  OIDC_CLIENT_SECRET: variable({
    read: optional,
    fallback: '',
    secret: true,
    help: 'Client secret at that provider.',
  }),
};
