/** Where a domain's own mail service accepts mail from programs and devices that sign in. */

import { table } from '../../lib/table.ts';
import { recordsOf } from '../../net/dns/resolver.ts';
import type { Context, Fix } from '../check.ts';
import { freemailProvider } from '../sending-services/freemail.ts';
import type { SendingService } from '../sending-services/service.ts';
import { SENDING_SERVICES } from '../sending-services/services.ts';
import { mailboxHost } from '../sending-services/spf-steps.ts';
import { isSpfRecord } from '../spf/record.ts';

/** Columns: the name of the service or mailbox provider; its server for submission; a condition, or empty; a guide. */
const SERVERS = new Map(
  table`
Microsoft 365 | smtp.office365.com | SMTP AUTH must be on for that mailbox. | learn.microsoft.com/exchange/mail-flow-best-practices/how-to-set-up-a-multifunction-device-or-application-to-send-email-using-microsoft-365-or-office-365
Google Workspace | smtp-relay.gmail.com | Turn on the SMTP relay service in the Admin console, or use smtp.gmail.com with an app password. | support.google.com/a/answer/176600
Gmail | smtp.gmail.com | It needs an app password. | support.google.com/mail/answer/185833
Microsoft | smtp-mail.outlook.com | |
Apple | smtp.mail.me.com | It needs an app-specific password. |
iCloud Mail | smtp.mail.me.com | It needs an app-specific password. |
Yahoo | smtp.mail.yahoo.com | It needs an app password. |
GMX | mail.gmx.net | |
WEB.DE | smtp.web.de | |
Telekom | securesmtp.t-online.de | |
Zoho Mail | smtp.zoho.com | For accounts in the EU, it is smtp.zoho.eu. |
Fastmail | smtp.fastmail.com | It needs an app password. |
Proton Mail | smtp.protonmail.ch | It needs an SMTP token. |
Yandex 360 | smtp.yandex.com | It needs an app password. |
Rackspace Email | secure.emailsrvr.com | |
mailbox.org | smtp.mailbox.org | |
Titan Email | smtp.titan.email | |
Namecheap Private Email | mail.privateemail.com | |
OVHcloud | ssl0.ovh.net | |
IONOS | smtp.ionos.com | In Germany, it is smtp.ionos.de. |
STRATO | smtp.strato.de | |
Gandi | mail.gandi.net | |
GoDaddy | smtpout.secureserver.net | |
Hostinger | smtp.hostinger.com | |
Infomaniak | mail.infomaniak.com | |
Migadu | smtp.migadu.com | |
one.com | send.one.com | |
Posteo | posteo.de | |
`.map(([name = '', host = '', condition = '', guide = '']) => [name, { host, condition, guide }]),
);

/** How to send through the mail service of a domain, signed in. Names the service if DNS shows it. */
export async function submissionFix(context: Context, domain: string | null): Promise<Fix> {
  if (domain === null)
    return {
      text: 'Send through an email account of your domain: enter its SMTP server, user name and password, and turn on TLS.',
    };
  const name = freemailProvider(domain) ?? (await hostOf(context, domain))?.name;
  const own = `the mail service of ${domain}`;
  if (name === undefined)
    return {
      text: `Send through ${own}: enter its SMTP server, port 587 with STARTTLS, and the user name and password of a mailbox.`,
    };
  const server = SERVERS.get(name);
  const where = server === undefined ? 'its SMTP server' : server.host;
  const condition = server?.condition ? ` ${server.condition}` : '';
  return {
    text: `Send through ${own}, ${name}: enter ${where}, port 587 with STARTTLS, and the user name and password of a mailbox.${condition}`,
    ...(server?.guide && {
      guide: { name: `How to do this in ${name}`, url: `https://${server.guide}` },
    }),
  };
}

/** The service that receives the mail of a domain, or else one that its SPF record includes. */
async function hostOf(context: Context, domain: string): Promise<SendingService | undefined> {
  if (context.offline) return undefined;
  const host = await mailboxHost(context, domain);
  if (host) return host;
  const records = recordsOf(await context.resolver(domain, 'TXT')) ?? [];
  const terms = records.find(isSpfRecord)?.toLowerCase().split(' ') ?? [];
  return SENDING_SERVICES.find(
    ({ name, spf }) =>
      SERVERS.has(name) &&
      spf.kind === 'include' &&
      spf.includes.some((one) => terms.includes(`include:${one}`)),
  );
}
