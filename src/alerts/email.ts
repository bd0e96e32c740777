/** The e-mail that tells of an incident. */

import type { App } from '../app.ts';
import type { OutgoingMail } from '../outbox/queue.ts';
import { mailFrame } from '../render/mail-frame.ts';
import type { Notice } from './notice.ts';

const TONES = { Alert: 'fail', Resolved: 'pass', Sample: 'unknown' } as const;

export function alertMail(
  { APP_URL }: Pick<App['config'], 'APP_URL'>,
  to: string,
  { kind, title, lead, facts, steps, after, link, rule, incident }: Notice,
): OutgoingMail {
  const { host } = new URL(APP_URL);
  return {
    to,
    subject: `${kind}: ${title}`,
    ...mailFrame({
      badge: { tone: TONES[kind], word: kind },
      title,
      preheader: lead,
      blocks: [
        lead,
        { facts },
        ...(steps.length === 0 ? [] : [{ heading: 'What to do', steps }]),
        ...(after === null ? [] : [after]),
      ],
      button: link ?? undefined,
      footer: `You get this mail because the alert rule ${rule} at ${host} names your address, or you are the owner or an admin of the team there.${incident === null ? '' : ` This incident is ${incident}.`}`,
    }),
  };
}
