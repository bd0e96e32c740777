/** Complaints and bounces of different kinds, and a test of the team that explains some of them. */

import assert from 'node:assert/strict';
import { sendMail } from '../helpers/send.ts';
import { arf, dsn, ORIGINAL } from './reading/builders.ts';
import type { FeedbackService } from './start.ts';

/** A complaint is identified by the message that carries it. */
export const complaint = (
  type: string,
  address: string,
  { id = 'news-1', signer = 'example.com' } = {},
) =>
  Buffer.from(
    Buffer.from(
      arf(
        `Feedback-Type: ${type}\nSource-IP: ${address}\nReported-Domain: example.com\n`,
        withId(id).replace('d=example.com', `d=${signer}`),
      ),
    )
      .toString('latin1')
      .replace('<report-1@', `<report-${id}@`),
    'latin1',
  );

interface Bounced {
  server?: string;
  remote?: string;
  status: string;
  reply?: string;
  original?: string;
}

export const bounce = ({ server = 'mail.example.com', remote, status, reply, original }: Bounced) =>
  dsn(
    `Reporting-MTA: dns; ${server}\n\nFinal-Recipient: rfc822; reader@mailbox.example\nAction: ${status.startsWith('4') ? 'delayed' : 'failed'}\nStatus: ${status}\n${remote ? `Remote-MTA: dns; ${remote}\n` : ''}${reply ? `Diagnostic-Code: smtp; ${reply}\n` : ''}`,
    { original },
  );

export const GMAIL = {
  remote: 'gmail-smtp-in.l.google.com',
  status: '5.7.26',
  reply: '550-5.7.26 Your email has been blocked because the sender is unauthenticated',
};

/** The identity of a report includes the message that it is about. */
export const withId = (id: string, text = ORIGINAL) => text.replace('news-1@', `${id}@`);

/** Without the servers that it went through. */
export const UNKNOWN = ORIGINAL.replace(/^Received:.*\n .*\n/, '');

/** A message of the domain that is not signed, sent to a test of the team. */
export async function runTest({ service }: FeedbackService, clientIp: string): Promise<string> {
  const { id, address } = await service.createTest();
  await sendMail({
    port: service.smtp.port,
    to: address,
    clientIp,
    raw: 'From: News <news@example.com>\r\nTo: a@example.net\r\nSubject: News\r\n\r\nHello.\r\n',
  });
  const { status } = await service.getTest(id, '?wait=30');
  assert.equal(status, 'completed');
  return id;
}
