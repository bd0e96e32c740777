/** Delivers a message to its destination as the SMTP listener does, without a connection. */

import type { App } from '../../src/app.ts';
import { destinationsOf } from '../../src/features.ts';
import {
  findDestination,
  type IncomingMail,
  type ReceiveVerdict,
  readRecipient,
} from '../../src/smtp/destination.ts';

/** Returns the reply to RCPT if it rejects the recipient, otherwise the reply to the message. */
export async function deliver(
  app: App,
  { recipient: address, ...mail }: Omit<IncomingMail, 'recipients'> & { recipient: string },
): Promise<ReceiveVerdict> {
  const recipient = readRecipient(address, app.config.INBOX_DOMAIN)!;
  const destination = await findDestination(destinationsOf(app), recipient);
  return 'accept' in destination
    ? destination
    : destination.receive({ ...mail, recipients: [recipient] });
}
