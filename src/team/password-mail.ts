/** The e-mail with the link to set a new password. */

import type { Config } from '../config.ts';
import type { OutgoingMail } from '../outbox/queue.ts';
import { mailFrame } from '../render/mail-frame.ts';

/** To a member; `url` is the link, which works for an hour. */
export function passwordMail(
  { APP_URL }: Pick<Config, 'APP_URL'>,
  to: string,
  url: string,
): OutgoingMail {
  const { host } = new URL(APP_URL);
  return {
    to,
    subject: `Set a new password for the deliverability team at ${host}`,
    ...mailFrame({
      title: 'Set a new password',
      preheader: 'The link works once, within an hour.',
      blocks: [
        `Somebody, probably you, asked for a new password for ${to} at ${host}.`,
        'The link below works once, within an hour. When the new password is set, every browser that is signed in with your account is signed out.',
        'If you did not ask for it, do nothing: your password stays as it is.',
      ],
      button: { label: 'Set a new password', url },
      footer: `You get this mail because somebody entered your address at ${host}.`,
    }),
  };
}
