/** Header fields that bulk email services and programs add: a hint, but no proof of marketing mail. */

import type { Message } from './mime/message.ts';

/** Field names in lower case. A final `*` matches any rest. */
const BULK_FIELDS = [
  // Any service: feedback loops, complaints, campaigns.
  'feedback-id',
  'x-feedback-id',
  'x-csa-complaints',
  'x-report-abuse*',
  'x-campaign*',
  'x-mailing-id',
  'x-mailingid',
  'x-newsletter*',
  'x-bulkmail',
  'x-list-unsubscribe*',
  // SendGrid, Mailchimp and Mandrill, Mailgun, Mailjet, Brevo, Postmark, SparkPost, Amazon SES.
  'x-sg-*',
  'x-mc-user',
  'x-mandrill-user',
  'x-mailgun-*',
  'x-mj-*',
  'x-mailjet-*',
  'x-sib-id',
  'x-mailin-*',
  'x-pm-message-id',
  'x-msys-api',
  'x-ses-outgoing',
  // Salesforce, Eloqua, Marketo, Responsys, Constant Contact, Klaviyo, CleverReach, Inxmail, phpList.
  'x-sfmc-stack',
  'x-elqpod',
  'x-elqsiteid',
  'x-mktmailingid',
  'x-mktarchive',
  'x-rpcampaign',
  'x-roving-*',
  'x-ctct-*',
  'x-kmail-*',
  'x-cr-*',
  'x-inx*',
  'x-messageid-phplist',
  'x-listmember',
];

const EXACT = new Set(BULK_FIELDS.filter((name) => !name.endsWith('*')));
const PREFIXES = BULK_FIELDS.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));

// Every email client adds X-Mailer. Only these names belong to bulk email services and programs.
const BULK_MAILER =
  /\b(?:acymailing|activecampaign|brevo|campaign ?monitor|cleverreach|createsend|customer\.io|getresponse|hubspot|inxmail|klaviyo|mailchimp|mailerlite|mailjet|mailpoet|marketo|mautic|newsletter2go|phplist|rapidmail|sendgrid|sendinblue|sendy|xmailing)\b/i;

/** The name, as written, of the first field that a bulk email service adds; null if there is none. */
export function bulkSenderField({ headers }: Message): string | null {
  return headers.find(({ key, value }) => isBulkField(key, value))?.name ?? null;
}

/** Shortens the field names in the sentences of `kind.ts` if they may contain text of the sender. */
export const shortenBulkFields = (sentence: string): string =>
  sentence.replace(
    /(?<=\bthe field )\S{1,2000}(?=, which bulk email services add|, but no unsubscribe link)/g,
    (name) => {
      const key = name.toLowerCase();
      if (EXACT.has(key) || key === 'x-mailer') return name;
      const prefix = PREFIXES.find((each) => key.startsWith(each)) ?? '';
      return `${name.slice(0, prefix.length)}…`;
    },
  );

function isBulkField(key: string, value: string): boolean {
  if (EXACT.has(key)) return true;
  if (key === 'x-mailer') return BULK_MAILER.test(value.slice(0, 200));
  return key.startsWith('x-') && PREFIXES.some((prefix) => key.startsWith(prefix));
}
