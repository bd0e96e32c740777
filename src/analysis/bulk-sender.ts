/** Header fields that programs and services for bulk mail write: a hint, never a proof of marketing. */

import type { Message } from './mime/message.ts';

/** Field names in lower case; what ends in `*` stands for all names that begin so. */
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

// Every mail program writes an X-Mailer; only these names are those of programs for bulk mail.
const BULK_MAILER =
  /\b(?:acymailing|activecampaign|brevo|campaign ?monitor|cleverreach|createsend|customer\.io|getresponse|hubspot|inxmail|klaviyo|mailchimp|mailerlite|mailjet|mailpoet|marketo|mautic|newsletter2go|phplist|rapidmail|sendgrid|sendinblue|sendy|xmailing)\b/i;

/** The name, as written, of the first field that tells of a sender of bulk mail; null where there is none. */
export function bulkSenderField({ headers }: Message): string | null {
  return headers.find(({ key, value }) => isBulkField(key, value))?.name ?? null;
}

/** Names of such fields in the reasons for the kind of a message, cut where they may hold text of the sender. */
export const cutBulkFields = (sentence: string): string =>
  sentence.replace(
    /(?<=\bthe field )\S{1,2000}(?=, as services for bulk mail write it| alone says nothing)/g,
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
