/** The e-mail that tells of an incident. */

import type { App } from '../app.ts';
import type { OutgoingMail } from '../outbox/queue.ts';
import { mailFrame } from '../render/mail-frame.ts';
import type { Notice } from './notice.ts';

export function alertMail(
  { APP_URL }: Pick<App['config'], 'APP_URL'>,
  to: string,
  { subject, title, paragraphs, facts, fixes, link }: Notice,
): OutgoingMail {
  const { host } = new URL(APP_URL);
  const [first = '', ...others] = paragraphs;
  return {
    to,
    subject,
    ...mailFrame({
      title,
      preheader: first,
      blocks: [
        first,
        { facts },
        ...(fixes.length === 0
          ? []
          : ['What to do:', ...fixes.map((fix, i) => `${i + 1}. ${fix}`)]),
        ...others,
      ],
      button: link ?? undefined,
      footer: `You get this mail because an alert rule at ${host} names your address, or you are the owner or an admin of the team there.`,
    }),
  };
}
