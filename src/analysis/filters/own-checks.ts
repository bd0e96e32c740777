/** Which rules of the engines judge what a check here judges already. */

/**
 * Parts of names, between underscores, that say what a rule of either engine is about: SPF, DKIM,
 * DMARC and ARC; lists of addresses and names in the DNS; the client's name and what it calls itself.
 */
const SUBJECTS = new Set([
  ...['SPF', 'DKIM', 'DKIMWL', 'DKIMDOMAIN', 'ADSP', 'DMARC', 'ARC'],
  ...['DNSBL', 'RBL', 'DNSWL', 'URIBL', 'SURBL', 'SBL', 'XBL', 'PBL', 'ZEN'],
  ...['PTR', 'RDNS', 'NORDNS', 'FCRDNS', 'HELO'],
]);

/** Names of SpamAssassin's rules that the parts do not tell. */
const SPAMASSASSIN = [
  // DNS lists of addresses, and whether the sender's domain has MX or address.
  /^RCVD_IN_/,
  /^NO_DNS_FOR_FROM$/,
  // The engine's trust in its own network, which no other receiver shares.
  /^ALL_TRUSTED$/,
];

const RSPAMD = [
  // DNS lists: prefixes for the client, earlier hops, allow lists, DKIM domains, and the DBL.
  /^(?:RBL|RECEIVED|RWL|DWL|DBL|SPAMHAUS|MAILSPIKE|BLOCKLISTDE)(?:_|$)/,
  /^AUTH_NA/,
  // Names in HELO, in the reverse DNS, and whether the sender's domain has MX or address.
  /^HFILTER_(?:HELO|HOSTNAME|FROMHOST)_/,
];

const names = (rule: string, patterns: RegExp[]): boolean =>
  rule.split('_').some((part) => SUBJECTS.has(part)) ||
  patterns.some((pattern) => pattern.test(rule));

export const checkedHereOfSpamassassin = (rule: string): boolean => names(rule, SPAMASSASSIN);

export const checkedHereOfRspamd = (symbol: string): boolean => names(symbol, RSPAMD);
