/** Header fields that bulk email services and programs add: a hint at marketing mail, not proof. */

import type { HeaderField, Message } from './mime/message.ts';

/** Field names in lower case. A trailing `*` matches any suffix. */
const CAMPAIGN_FIELDS = [
  // Any tool for newsletters and campaigns.
  'x-campaign*',
  'x-mailing-id',
  'x-mailingid',
  'x-newsletter*',
  'x-bulkmail',
  // Mailchimp, Eloqua, Marketo, Responsys, Constant Contact, Klaviyo, CleverReach, Inxmail, phpList.
  'x-mc-user',
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

/** Fields of services that send both campaigns and notices such as password resets. */
const SERVICE_FIELDS = [
  // Any service: feedback loops, complaints.
  'feedback-id',
  'x-feedback-id',
  'x-csa-complaints',
  'x-report-abuse*',
  'x-list-unsubscribe*',
  // SendGrid, Mandrill, Mailgun, Mailjet, Brevo, Postmark, SparkPost, Amazon SES, Salesforce.
  'x-sg-*',
  'x-mandrill-user',
  'x-mailgun-*',
  'x-mj-*',
  'x-mailjet-*',
  'x-sib-id',
  'x-mailin-*',
  'x-pm-message-id',
  'x-msys-api',
  'x-ses-outgoing',
  'x-sfmc-stack',
];

// Every email client adds X-Mailer. Only these names belong to bulk email services and programs.
const CAMPAIGN_MAILER =
  /\b(?:acymailing|activecampaign|campaign ?monitor|cleverreach|createsend|getresponse|inxmail|klaviyo|mailchimp|mailerlite|mailpoet|marketo|mautic|newsletter2go|phplist|rapidmail|sendy|xmailing)\b/i;
const SERVICE_MAILER = /\b(?:brevo|customer\.io|hubspot|mailjet|sendgrid|sendinblue)\b/i;

interface FieldNames {
  exact: Set<string>;
  prefixes: string[];
  mailer: RegExp;
}

const namesOf = (names: string[], mailer: RegExp): FieldNames => ({
  exact: new Set(names.filter((name) => !name.endsWith('*'))),
  prefixes: names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1)),
  mailer,
});

const CAMPAIGN = namesOf(CAMPAIGN_FIELDS, CAMPAIGN_MAILER);
const SERVICE = namesOf(SERVICE_FIELDS, SERVICE_MAILER);

type Field = Pick<HeaderField, 'key' | 'value'>;

function matches({ exact, prefixes, mailer }: FieldNames, { key, value }: Field): boolean {
  if (exact.has(key)) return true;
  if (key === 'x-mailer') return mailer.test(value.slice(0, 200));
  return key.startsWith('x-') && prefixes.some((prefix) => key.startsWith(prefix));
}

/** Whether only tools for newsletters and campaigns add the field. */
export const isCampaignField = (field: Field): boolean => matches(CAMPAIGN, field);

/** The name, as written, of the first field of a campaign tool; null if there is none. */
export const campaignField = ({ headers }: Message): string | null =>
  headers.find(isCampaignField)?.name ?? null;

/** The name, as written, of the first field of a service that sends mail of any kind; null if there is none. */
export const serviceField = ({ headers }: Message): string | null =>
  headers.find((field) => matches(SERVICE, field))?.name ?? null;

/** Shortens the field names in the sentences of `kind/signs.ts` if they may contain text from the sender. */
export const shortenBulkFields = (sentence: string): string =>
  sentence.replace(
    /(?<=\bthe field )\S{1,2000}(?=, which (?:bulk email services|campaign tools) add)/g,
    (name) => {
      const key = name.toLowerCase();
      if (CAMPAIGN.exact.has(key) || SERVICE.exact.has(key) || key === 'x-mailer') return name;
      const prefixes = [...CAMPAIGN.prefixes, ...SERVICE.prefixes];
      const prefix = prefixes.find((candidate) => key.startsWith(candidate)) ?? '';
      return `${name.slice(0, prefix.length)}…`;
    },
  );
