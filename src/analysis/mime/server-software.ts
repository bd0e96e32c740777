/** The mail server software that sent a message, as its Received field names it. */

import { fields, type Message } from './message.ts';

interface ServerSoftware {
  pattern: RegExp;
  /** Where its HELO name is set. */
  helo: string;
}

const SOFTWARE: ServerSoftware[] = [
  { pattern: /\(Postfix\b/i, helo: 'in Postfix: smtp_helo_name = {name}' },
  {
    pattern: /\(Exim\b|\bwith \w+ \(Exim/i,
    helo: 'in Exim: primary_hostname = {name}, or helo_data of the transport',
  },
  {
    pattern: /\bMicrosoft SMTP Server\b/i,
    helo: 'in Exchange: Set-SendConnector with -Fqdn {name}',
  },
  {
    pattern: /\bMicrosoft SMTPSVC\b/i,
    helo: 'in the IIS SMTP server: Delivery, Advanced, Fully-qualified domain name: {name}',
  },
  {
    // It writes its version and that of its configuration.
    pattern: /\(8\.\d+\.\d+\/|\(Sendmail\b/i,
    helo: "in Sendmail: define(`confDOMAIN_NAME', `{name}') in sendmail.mc",
  },
  {
    pattern: /\(OpenSMTPD\b/i,
    helo: 'in OpenSMTPD: action … relay helo {name}',
  },
  { pattern: /\bMDaemon\b/i, helo: 'in MDaemon: SMTP host name = {name}' },
  { pattern: /\(Haraka\b/i, helo: 'in Haraka: {name} in the file config/me' },
];

const MAX_FIELD = 2000;

/** How to set the HELO name in the software that sent the message; for several programs if it is unknown. */
export function heloSetting(message: Message, helo: string, name: string): string {
  const received = fields(message, 'received').map(({ value }) => value.slice(0, MAX_FIELD));
  // The server that connected added the newest field, unless the receiver has added its own.
  const own = received.slice(0, 3).find((value) => {
    const by = /\bby\s+([^\s;]{1,255})/i.exec(value)?.[1]?.toLowerCase();
    return by !== undefined && helo !== '' && by === helo.toLowerCase();
  });
  const field = own ?? received[0] ?? '';
  const found = SOFTWARE.find(({ pattern }) => pattern.test(field));
  const settings = found ? [found.helo] : SOFTWARE.slice(0, 3).map((software) => software.helo);
  return settings.join('; ').replaceAll('{name}', name);
}
