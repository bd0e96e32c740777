/** Mail for an own domain that was sent through a private mailbox, such as a free Gmail account. */

import { ownerOf } from '../../lib/domain-names.ts';
import type { Context, Fix } from '../check.ts';
import { fromDomain, mailFromDomain } from '../dns/names.ts';
import { fieldValue } from '../mime/message.ts';
import { freemailProvider } from './freemail.ts';
import { foreignOwner } from './ownership.ts';

/** Addresses with which Gmail forwards messages of others (`user+caf_=other=domain@gmail.com`). */
const FORWARDED = /\+caf_=/i;

/**
 * A fact: the provider of the private mailbox that sent the message, by its envelope sender. Null if none did, or if the
 * domain in From is not the sender's own.
 */
export function privateMailbox(context: Context): string | null {
  const from = fromDomain(context);
  if (from === null || foreignOwner(from) !== null) return null;
  const mailFrom = context.envelope.mail_from ?? fieldValue(context.message, 'return-path') ?? '';
  if (FORWARDED.test(mailFrom)) return null;
  const domain = mailFromDomain(context);
  return domain === null ? null : freemailProvider(domain);
}

/** The service with which the owner of a domain can keep the provider; null if it has none for domains. */
const FOR_DOMAINS: Record<string, string> = {
  Gmail: 'Google Workspace',
  Microsoft: 'Microsoft 365',
  Apple: 'iCloud+ with a custom email domain',
  'Proton Mail': 'a paid plan of Proton Mail',
  'Zoho Mail': 'Zoho Mail for domains',
};

/** The fix for `domain`; null unless a private mailbox sent the message. */
export function privateMailboxFix(context: Context, domain: string): Fix | null {
  const provider = context.fact(privateMailbox);
  if (provider === null) return null;
  const own = ownerOf(domain);
  const upgrade = FOR_DOMAINS[provider];
  const sendAs =
    provider === 'Gmail'
      ? `In Gmail, under Settings, Accounts, “Send mail as”, enter the SMTP server of ${own} for the address. `
      : '';
  return {
    text: `The message was sent from a private mailbox at ${provider}, which cannot sign for ${own}. Send it through the mail service of ${own} instead, with DKIM. ${sendAs}${
      upgrade ? `Or move the mail of ${own} to ${upgrade}.` : ''
    }`.trim(),
  };
}
