/** Mail that a PHP script on a web host sent, with the host’s own name as the envelope sender. */

import { ownerOf } from '../../lib/domain-names.ts';
import type { Context, Fix } from '../check.ts';
import { fromDomain, fullHostName, mailFromDomain } from '../dns/names.ts';
import { fields } from '../mime/message.ts';
import { foreignOwner } from './ownership.ts';
import { hasSuffix } from './service.ts';

/** Added by PHP (`mail.add_x_header`), and by the mail servers of hosting panels. */
const SCRIPT_FIELDS = ['x-php-originating-script', 'x-php-script', 'x-source-args'];

/**
 * A fact: the domain of the host; null if the message was not sent this way. A script at the domain of From sends from
 * its own server.
 */
export function webHost(context: Context): string | null {
  if (!SCRIPT_FIELDS.some((name) => fields(context.message, name).length > 0)) return null;
  const from = fromDomain(context);
  const domain = mailFromDomain(context);
  if (from === null || domain === null || foreignOwner(from) !== null) return null;
  const own = ownerOf(from);
  const helo = fullHostName(context.envelope.helo ?? '');
  const isOfHost = helo !== null && hasSuffix(helo, [ownerOf(domain)]);
  return isOfHost && !hasSuffix(domain, [own]) ? domain : null;
}

/** The fix for `domain`; null unless a script on a web host sent the message. */
export function webHostFix(context: Context, domain: string): Fix | null {
  const host = context.fact(webHost);
  if (host === null) return null;
  const own = ownerOf(domain);
  return {
    text: `A PHP script sent the message with the envelope sender of the web host, ${host}. Let it send through an SMTP account of ${own} instead, with a password and TLS. In WordPress, an SMTP plugin does this; in other programs, set SMTP instead of mail() as the way to send. The mail service of ${own} then signs with DKIM and sets an envelope sender that passes SPF.`,
  };
}
