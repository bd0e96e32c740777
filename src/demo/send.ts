/** Sends a mail of the demo by real SMTP, from the address that the PROXY protocol says. */

import { once } from 'node:events';
import { connect } from 'node:net';
import { createTransport } from 'nodemailer';
import { type DemoMail, demoKey } from './mails.ts';

/** Resolves with the server's last reply. */
export async function sendDemoMail(
  mail: DemoMail,
  to: string,
  port: number,
  now: number,
): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(`PROXY TCP4 ${mail.clientIp} 192.0.2.1 40000 25\r\n`);
  const transport = createTransport({
    connection: socket,
    host: '127.0.0.1',
    port,
    name: mail.helo,
    // The listener's certificate is its own.
    tls: { rejectUnauthorized: false },
    ...(mail.signed ? { dkim: dkimOptions() } : {}),
  });
  try {
    const { response } = await transport.sendMail({
      envelope: { from: mail.mailFrom, to },
      from: mail.from,
      to,
      date: new Date(now),
      subject: mail.subject,
      text: mail.text || undefined,
      html: mail.html,
      headers: mail.headers,
    });
    return response;
  } finally {
    transport.close();
  }
}

function dkimOptions() {
  const { domain, selector, privateKey } = demoKey();
  return { domainName: domain, keySelector: selector, privateKey };
}
