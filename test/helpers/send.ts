/** Sends a message by SMTP, with the client address in a PROXY protocol header. */

import { once } from 'node:events';
import { connect } from 'node:net';
import { createTransport } from 'nodemailer';

export interface SendOptions {
  port: number;
  to: string | string[];
  raw: string | Uint8Array;
  clientIp?: string;
  mailFrom?: string;
  helo?: string;
  /** Without STARTTLS. */
  plain?: boolean;
}

/** Resolves with the server's last reply; rejects with nodemailer's error, which has `responseCode`. */
export async function sendMail(options: SendOptions): Promise<string> {
  const {
    port,
    to,
    raw,
    clientIp = '192.0.2.1',
    mailFrom = 'bounce@example.com',
    helo = 'mail.example.com',
  } = options;
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  // Until nodemailer listens for errors; it reports them itself.
  socket.on('error', () => {});
  socket.write(
    `PROXY TCP${clientIp.includes(':') ? 6 : 4} ${clientIp} ${clientIp.includes(':') ? '2001:db8::ff' : '192.0.2.255'} 40000 25\r\n`,
  );
  const transport = createTransport({
    connection: socket,
    host: '127.0.0.1',
    port,
    name: helo,
    ignoreTLS: options.plain ?? false,
    tls: { rejectUnauthorized: false },
  });
  try {
    const { response } = await transport.sendMail({
      envelope: { from: mailFrom, to },
      raw: typeof raw === 'string' ? raw : Buffer.from(raw),
    });
    return response;
  } finally {
    transport.close();
  }
}
