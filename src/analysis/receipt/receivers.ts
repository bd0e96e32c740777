/** Mailbox providers as receivers: how their servers name themselves, and which header fields they add. */

import { type Network, parseNetwork } from '../../lib/addresses.ts';

/** What is known about the servers of a receiver. All names are matched in lower case. */
export interface Receiver {
  name: string;
  /** The server that a Received field names behind `by`. */
  servers: RegExp;
  /** The server names in its Authentication-Results fields (RFC 8601 §2.5); null if it writes none. */
  authserv: RegExp | null;
  /** Fields that only its servers add, wherever they are. */
  fields: RegExp;
  /** Networks between its own servers. */
  internal: Network[];
  /** Its servers write the protocol of RFC 3848 and offer STARTTLS to everyone. */
  offersTls: boolean;
  /** Its results are below its Received field, not above. */
  hasResultsBelow?: true;
  /** Its Return-Path is the last one, below the fields of the sender. */
  hasReturnPathBelow?: true;
}

const UNITED_INTERNET = {
  fields: /^(?:x-gmx-|x-ui-filterresults$|x-ui-spam|envelope-to$|x-spam-flag$)/,
  internal: [],
  offersTls: true,
};

export const RECEIVERS: Receiver[] = [
  {
    name: 'Gmail',
    servers: /^(?:mx\.google\.com|2002:a[0-9a-f:]+)$/,
    authserv: /^mx\.google\.com$/,
    fields: /^x-gm-(?:thrid|labels|spam|phishy)$/,
    internal: [],
    offersTls: true,
    hasResultsBelow: true,
  },
  {
    name: 'Outlook.com / Microsoft 365',
    servers: /\.(?:prod\.outlook\.com|protection\.outlook\.com|outlook\.office365\.com)$/,
    authserv: null,
    fields:
      /^(?:x-ms-exchange-(?!senderadcheck)|x-ms-(?:publictraffictype|office365-|traffictypediagnostic|user)|x-sender-ip$|x-microsoft-antispam|x-forefront-|x-eop|x-incoming|x-sid-|x-message-(?:info|delivery)$|authentication-results-original$)/,
    internal: [parseNetwork('2603:1000::/24'), parseNetwork('2a01:111:f400::/48')],
    offersTls: false,
    hasReturnPathBelow: true,
  },
  {
    name: 'Yahoo',
    servers: /\.(?:yahoo\.com|aol\.com)$/,
    authserv: /\.(?:yahoo\.com|aol\.com)$/,
    fields: /^(?:x-ymail|x-apparently-to$|x-originating-ip$|x-yahoo-filtered|content-length$)/,
    internal: [],
    offersTls: true,
  },
  {
    name: 'iCloud',
    servers: /^p\d\d+-(?:icloudmta|mailgateway)|\.(?:icloud|me|apple)\.com$/,
    authserv: /^(?:[\w-]+\.)?icloud\.com$|\.apple\.com$/,
    fields:
      /^(?:x-apple-|x-icl-(?:score|info)$|x-dmarc-|x-arc-info$|x-mantsh$|x-clx-|x-proofpoint-(?:orig-)?guid$|original-recipient$)/,
    internal: [parseNetwork('17.0.0.0/8')],
    offersTls: true,
    hasResultsBelow: true,
  },
  {
    name: 'Fastmail',
    servers: /\.messagingengine\.com$/,
    authserv: /\.messagingengine\.com$/,
    fields: /^(?:x-me-|x-cyrus-|x-sieve$|x-spam-|x-resolved-to$|x-delivered-to$|x-mail-from$)/,
    internal: [],
    offersTls: true,
  },
  {
    name: 'GMX',
    servers: /\.gmx\.(?:net|com)$/,
    authserv: /^(?:[\w.-]+\.)?gmx\.(?:net|com)$/,
    ...UNITED_INTERNET,
  },
  {
    name: 'WEB.DE',
    servers: /\.web\.de$/,
    authserv: /^(?:[\w.-]+\.)?web\.de$/,
    ...UNITED_INTERNET,
  },
  {
    name: 'Proton Mail',
    servers: /\.(?:protonmail\.ch|proton\.ch)$/,
    authserv: /\.(?:protonmail\.ch|proton\.ch|protonmail\.com)$/,
    fields: /^(?:x-pm-|x-attached$|x-rspamd-|x-spamd-)/,
    internal: [],
    offersTls: true,
  },
  {
    name: 'Zoho Mail',
    servers: /^mx\d*\.zoho(?:mail)?\.(?:com|eu|in)$/,
    authserv: /zoho(?:mail)?\.(?:com|eu|in)$/,
    fields: /^(?:x-zoho|x-zm-|x-zmail)/,
    internal: [],
    offersTls: false,
  },
  {
    name: 'IONOS',
    servers: /\.(?:kundenserver\.de|1and1\.(?:com|de)|ionos\.(?:com|de|fr|es|it|co\.uk))$/,
    authserv: /(?:^|\.)(?:kundenserver\.de|1and1\.(?:com|de)|ionos\.(?:com|de|fr|es|it|co\.uk))$/,
    ...UNITED_INTERNET,
  },
  {
    name: 'Yandex',
    servers: /\.yandex\.(?:net|ru)$/,
    authserv: /\.yandex\.(?:net|ru)$/,
    fields: /^(?:x-yandex-|return-path$)/,
    internal: [parseNetwork('2a02:6b8::/32')],
    offersTls: true,
    hasResultsBelow: true,
  },
  {
    name: 'Amazon SES',
    servers: /^inbound-smtp\.[a-z0-9-]+\.amazonaws\.com$/,
    authserv: /^amazonses\.com$/,
    fields: /^x-ses-/,
    internal: [],
    // It writes `with SMTP` for encrypted connections too.
    offersTls: false,
    hasResultsBelow: true,
  },
];

/** Fields that mail servers add next to their Received field, whoever runs them. */
export const DELIVERY_FIELDS =
  /^(?:received-spf|x-spam-.*|x-rspamd-.*|x-spamd-.*|x-virus-.*|x-greylist|(?:open)?dkim-filter|authentication-results-original|x-original-to|delivered-to|envelope-to|x-envelope-to|x-envelope-from|x-return-path|x-md(?:av|arrival|aemon|remote|helo)-?.*)$/;

/** Fields that Exchange servers add anywhere, and remove from what comes from outside. */
export const EXCHANGE_FIELDS = /^x-ms-exchange-organization-/;
