/** Where a domain's own mail service accepts mail from programs and devices that sign in. */

import { recordsOf } from '../../net/dns/resolver.ts';
import type { Context, Fix } from '../check.ts';
import { freemailProvider } from '../sending-services/freemail.ts';
import type { SendingService } from '../sending-services/service.ts';
import { SENDING_SERVICES } from '../sending-services/services.ts';
import { mailboxHost } from '../sending-services/spf-steps.ts';
import { isSpfRecord } from '../spf/record.ts';
import mailServices from './mail-services.json' with { type: 'json' };

/** An entry of `mail-services.json`. `scripts/data.ts` checks them. */
export interface MailServiceEntry {
  /** Of the sending service or mailbox provider. */
  name: string;
  /** Its server for submission. */
  server: string;
  /** A prerequisite, as a sentence. */
  condition?: string;
  guide?: string;
}

const SERVERS = new Map<string, MailServiceEntry>(mailServices.map((entry) => [entry.name, entry]));

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
  const where = server === undefined ? 'its SMTP server' : server.server;
  const condition = server?.condition ? ` ${server.condition}` : '';
  return {
    text: `Send through ${own}, ${name}: enter ${where}, port 587 with STARTTLS, and the user name and password of a mailbox.${condition}`,
    ...(server?.guide && {
      guide: { name: `How to do this in ${name}`, url: server.guide },
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
