/**
 * What mailbox providers, gateways and blocklists mean by their replies, in our own words. Only replies that
 * their operator documents or that they send unchanged for years; others are explained by RFC 3463.
 */

/** The checks of a test whose finding explains the reply, the most likely cause first. */
type CheckIds = readonly string[];

export interface PolicyReply {
  /** Subject and detail of the enhanced status code, in permanent and temporary replies. `7.26` is 5.7.26 and 4.7.26. */
  status?: string | RegExp;
  /** What the reply says. With a code, both must match. */
  text?: RegExp;
  meaning: string;
  checks: CheckIds;
}

export interface ReplyGroup {
  name: string;
  /** The base domains of its mail servers and mailboxes. */
  domains: readonly string[];
  /** Shows who replied if the bounce does not name the server. */
  marks: RegExp;
  reference: string | null;
  /** The first one that matches counts. */
  replies: readonly PolicyReply[];
}

const AUTHENTICATION = [
  'dkim',
  'spf',
  'dmarc',
  'dkim_alignment',
  'spf_alignment',
  'dkim_key',
  'spf_record',
  'dmarc_record',
  'dmarc_policy',
];
const SPF = ['spf', 'spf_record'];
const DKIM = ['dkim', 'dkim_key'];
const DMARC = ['dmarc', 'dkim_alignment', 'spf_alignment', 'dkim', 'spf'];
const REVERSE_DNS = ['ptr', 'fcrdns'];
const TLS = ['tls'];
const ADDRESS_LISTED = ['ip_blocklists'];
const CONTENT = [
  'link_blocklists',
  'domain_blocklists',
  'spamassassin',
  'rspamd',
  'link_shorteners',
];
const FORMAT = ['from', 'message_id', 'header_duplicates', 'date', 'line_length'];
const LINKS = ['link_blocklists', 'domain_blocklists', 'link_shorteners', 'link_status'];

const COMPLAINTS: CheckIds = ['list_unsubscribe', 'one_click', 'unsubscribe_link'];

export const REPLY_GROUPS: readonly ReplyGroup[] = [
  {
    name: 'Gmail',
    domains: ['google.com', 'gmail.com', 'googlemail.com'],
    marks: /\bgsmtp\b|support\.google\.com/i,
    // "Gmail SMTP errors and codes", and the codes that the provider rules of the checks name.
    reference: 'https://support.google.com/a/answer/3726730',
    replies: [
      {
        status: '7.1',
        text: /RFC ?5322|multiple (?:addresses|header|from)|messages? missing a valid/i,
        meaning:
          'Gmail rejects messages whose header breaks RFC 5322, such as duplicate fields, an invalid From, or no Message-ID.',
        checks: FORMAT,
      },
      {
        status: '7.1',
        text: /not authorized to send email directly/i,
        meaning:
          'Gmail does not accept mail from this kind of IP address, such as one of a home connection. Send through a mail server of your provider.',
        checks: [...ADDRESS_LISTED, ...REVERSE_DNS],
      },
      {
        status: '7.1',
        text: /low reputation/i,
        meaning:
          'Gmail rejects the message because the sending domain or IP address has a very low reputation.',
        checks: [...ADDRESS_LISTED, 'domain_blocklists', ...COMPLAINTS],
      },
      {
        status: '7.1',
        text: /unsolicited|suspicious|spam/i,
        meaning:
          'Gmail classifies the message as spam, because of its content or the reputation of the sender.',
        checks: [...CONTENT, ...ADDRESS_LISTED],
      },
      {
        status: '7.1',
        text: /policy that prohibited|email policy|gcdp/i,
        meaning:
          'The organization of the recipient has a rule of its own that rejects the message. Ask the recipient to contact their administrator.',
        checks: [],
      },
      {
        status: '7.0',
        text: /security issue|virus|attachment/i,
        meaning:
          'Gmail blocks messages with attachments that can be harmful, such as programs, scripts and archives that it cannot open.',
        checks: ['attachments', 'active_content'],
      },
      {
        status: '7.0',
        text: /TLS required/i,
        meaning: 'The domain of the recipient accepts mail only over TLS.',
        checks: TLS,
      },
      {
        status: /^7\.(?:0|28)$/,
        text: /unusual rate|unsolicited|rate limited/i,
        meaning:
          'Gmail limits mail from your IP address or domain because its users see too much unwanted mail from it. Send less, and only to people who subscribed.',
        checks: [...COMPLAINTS, ...ADDRESS_LISTED],
      },
      {
        status: '7.28',
        meaning:
          'Gmail limits mail from your IP address or domain because its users see too much unwanted mail from it.',
        checks: [...COMPLAINTS, ...ADDRESS_LISTED],
      },
      {
        status: /^7\.(?:23|25)$/,
        meaning:
          'The sending IP address has no PTR record, or its host name does not resolve back to the IP address.',
        checks: REVERSE_DNS,
      },
      {
        status: '7.26',
        text: /DMARC policy/i,
        meaning:
          'The message fails DMARC, and the DMARC policy of the From domain asks receivers to reject it.',
        checks: DMARC,
      },
      {
        status: '7.26',
        meaning:
          'Gmail rejects mail without a passing SPF or DKIM result. Sign with DKIM, or add the sender to your SPF record.',
        checks: AUTHENTICATION,
      },
      {
        status: '7.27',
        meaning: 'SPF does not pass. Gmail requires SPF from bulk senders.',
        checks: SPF,
      },
      {
        status: '7.29',
        meaning: 'The message was sent without TLS, which Gmail requires.',
        checks: TLS,
      },
      {
        status: '7.30',
        meaning: 'DKIM does not pass. Gmail requires DKIM from bulk senders.',
        checks: DKIM,
      },
      {
        status: '7.32',
        meaning:
          'The From domain aligns with neither the SPF nor the DKIM domain. Gmail requires this from bulk senders.',
        checks: DMARC,
      },
      {
        status: '7.40',
        meaning: 'The From domain has no DMARC record. Gmail requires one from bulk senders.',
        checks: ['dmarc_record', 'dmarc_policy'],
      },
      {
        status: '6.0',
        meaning: 'Gmail cannot read the message: its format is broken.',
        checks: FORMAT,
      },
    ],
  },
  {
    name: 'Microsoft',
    domains: ['outlook.com', 'hotmail.com', 'live.com', 'msn.com', 'microsoft.com'],
    marks: /sender\.office\.com|mail\.live\.com|\(S\d{4}\)|\(AS\d+\)/i,
    // "Email non-delivery reports and SMTP errors in Exchange Online", and the postmaster pages of Outlook.com.
    reference:
      'https://learn.microsoft.com/exchange/mail-flow-best-practices/non-delivery-reports-in-exchange-online/non-delivery-reports-in-exchange-online',
    replies: [
      {
        text: /\(S31(?:40|50)\)|on our block list/i,
        meaning:
          'Outlook.com blocks the sending IP address or its network. Ask for delisting in the sender support form of Outlook.com.',
        checks: [...ADDRESS_LISTED, ...REVERSE_DNS],
      },
      {
        status: '7.515',
        meaning:
          'Outlook.com requires SPF, DKIM and an aligned DMARC pass from senders of more than 5,000 messages a day. One of them is missing.',
        checks: AUTHENTICATION,
      },
      {
        status: '7.509',
        meaning:
          'The message fails DMARC, and the DMARC policy of the From domain asks receivers to reject it.',
        checks: DMARC,
      },
      {
        status: /^7\.50[1-3]$/,
        meaning:
          'Microsoft blocks the sender because it saw spam from it. Find out who sends it, and then ask support for delisting.',
        checks: [...CONTENT, ...ADDRESS_LISTED],
      },
      {
        status: '7.506',
        meaning: 'The server introduced itself with a HELO name that Microsoft rejects.',
        checks: ['helo'],
      },
      {
        status: '7.507',
        meaning: 'The IP address or domain is blocked by the organization of the recipient.',
        checks: ADDRESS_LISTED,
      },
      {
        status: '7.510',
        meaning:
          'The domain of the recipient does not accept mail over IPv6. Send to it over IPv4.',
        checks: ['ipv6'],
      },
      {
        status: '7.511',
        meaning:
          'Microsoft has banned the sending IP address. Its reply names the address to write to for delisting.',
        checks: ADDRESS_LISTED,
      },
      {
        status: '7.512',
        meaning: 'The message has no From field with a valid address.',
        checks: FORMAT,
      },
      {
        status: '7.513',
        meaning: 'The organization of the recipient has the sender on a block list of its own.',
        checks: ADDRESS_LISTED,
      },
      {
        status: /^7\.6(?:0[6-9]|[1-4]\d)$/,
        meaning:
          'Microsoft 365 has banned the sending IP address. Remove it in the delist portal, sender.office.com.',
        checks: [...ADDRESS_LISTED, ...REVERSE_DNS],
      },
      {
        status: /^7\.65\d$/,
        meaning:
          'Outlook.com limits mail from the sending IP address because of its reputation. It accepts more as the reputation improves.',
        checks: [...ADDRESS_LISTED, ...COMPLAINTS],
      },
      {
        status: /^7\.[56]\d\d$/,
        text: /server busy|try again later/i,
        meaning:
          'Microsoft 365 sees an unusual amount of mail from the IP address and delays it. This passes on its own.',
        checks: ADDRESS_LISTED,
      },
      {
        status: '7.23',
        meaning: 'SPF fails, and the recipient rejects mail for which it does.',
        checks: SPF,
      },
      {
        status: '7.25',
        meaning: 'Microsoft accepts mail over IPv6 only from addresses with reverse DNS.',
        checks: REVERSE_DNS,
      },
      {
        status: '7.26',
        meaning: 'Microsoft accepts mail over IPv6 only if SPF or DKIM passes.',
        checks: AUTHENTICATION,
      },
      {
        status: '7.64',
        meaning:
          'Microsoft 365 does not handle mail for this recipient on this connection. Its administrator must fix the domain or the connector.',
        checks: [],
      },
      {
        status: /^7\.(?:124|129|133|134|136)$/,
        meaning:
          'The recipient accepts mail only from certain senders, such as members of the organization.',
        checks: [],
      },
      {
        status: /^7\.70[58]$/,
        meaning:
          'Microsoft 365 has blocked sending from your own organization there, because it is new or sends too much.',
        checks: [],
      },
    ],
  },
  {
    name: 'Yahoo',
    domains: [
      'yahoodns.net',
      'yahoo.com',
      'yahooinc.com',
      'aol.com',
      'ymail.com',
      'rocketmail.com',
    ],
    marks: /yahoo(?:inc)?\.com|\[(?:IPTS|TSS?|BL|PH)\d+\]/i,
    // "SMTP Error Codes" on the Yahoo Sender Hub. The codes in brackets stand in the text.
    reference: 'https://senders.yahooinc.com/smtp-error-codes/',
    replies: [
      {
        // Before the rule for delays, which also matches [TS03].
        text: /\[TSS(?:09|1[01])\]|permanently deferred/i,
        meaning:
          'Yahoo no longer accepts mail from the IP address, because of complaints by its users. Stop sending there, then use its contact form.',
        checks: [...COMPLAINTS, ...ADDRESS_LISTED],
      },
      {
        text: /\[(?:IP)?TSS?0[1-7]\]|deferred due to (?:unexpected volume|user complaints)/i,
        meaning:
          'Yahoo delays mail from the IP address because of complaints by its users, or because it sends more than usual.',
        checks: [...COMPLAINTS, ...ADDRESS_LISTED],
      },
      {
        text: /\[BL2\d\]/,
        meaning:
          'Yahoo rejects the sending IP address because a public blocklist, such as Spamhaus, lists it.',
        checks: ADDRESS_LISTED,
      },
      {
        text: /\[PH\d+\]/,
        meaning:
          'Yahoo classifies the content as phishing or otherwise harmful. Links and the domains in them are the usual cause.',
        checks: [...LINKS, 'link_text', ...AUTHENTICATION],
      },
      {
        status: '7.9',
        meaning: 'The message fails DMARC or is not authenticated, so Yahoo rejects it by policy.',
        checks: AUTHENTICATION,
      },
      {
        status: '7.1',
        text: /spamhaus|blocklist|blacklist/i,
        meaning: 'Yahoo rejects the sending IP address because Spamhaus lists it.',
        checks: ADDRESS_LISTED,
      },
    ],
  },
  {
    name: 'Apple iCloud',
    domains: ['icloud.com', 'apple.com', 'me.com', 'mac.com'],
    marks: /support\.apple\.com|\[(?:CS|HM)\d\d\]/,
    // "Postmaster information for iCloud Mail". Apple publishes no list of codes; these are in its replies.
    reference: 'https://support.apple.com/102322',
    replies: [
      {
        text: /DMARC policy/i,
        meaning:
          'The message fails DMARC, and the DMARC policy of the From domain asks receivers to reject it.',
        checks: DMARC,
      },
      {
        text: /spamhaus.{0,20}DBL/i,
        meaning: 'Apple rejects messages that name a domain on the Spamhaus DBL, also in a link.',
        checks: ['link_blocklists', 'domain_blocklists'],
      },
      {
        text: /\[CS\d\d\]/,
        meaning:
          'The filter of iCloud rejects the content of the message. Apple does not say which part.',
        checks: CONTENT,
      },
      {
        text: /\[HM\d\d\]|due to local policy/i,
        meaning:
          'The filter of iCloud rejects the message. The reputation of the IP address or domain is the usual cause, but Apple does not say.',
        checks: [...ADDRESS_LISTED, ...CONTENT, ...AUTHENTICATION],
      },
    ],
  },
  {
    name: 'GMX and WEB.DE',
    domains: ['gmx.net', 'gmx.com', 'gmx.de', 'web.de', 'mail.com'],
    marks: /nemesis ESMTP|postmaster\.(?:gmx|web)\./i,
    // "Error messages" at postmaster.gmx.net. Most replies have no enhanced code.
    reference: 'https://postmaster.gmx.net/en/error-messages',
    replies: [
      {
        text: /DNS PTR/i,
        meaning: 'The sending IP address has no valid PTR record.',
        checks: REVERSE_DNS,
      },
      {
        text: /IP address is (?:black|block) ?listed/i,
        meaning:
          'GMX and WEB.DE block the sending IP address because spam came from it, or a blocklist lists it.',
        checks: ADDRESS_LISTED,
      },
      {
        text: /policy restrictions/i,
        meaning: 'GMX and WEB.DE classify the message as spam, because of its content.',
        checks: CONTENT,
      },
    ],
  },
  {
    name: 'Comcast',
    domains: ['comcast.net'],
    marks: /comcast\.net/i,
    // The codes in "SMTP error codes" at postmaster.comcast.net.
    reference: 'https://postmaster.comcast.net/smtp-error-codes.php',
    replies: [
      {
        text: /\bBL\d{6}\b|comcast block for spam/i,
        meaning: 'Comcast blocks the sending IP address because spam came from it.',
        checks: ADDRESS_LISTED,
      },
      {
        text: /\bRL\d{6}\b/,
        meaning:
          'Comcast limits how much it accepts from the sending IP address, by its reputation. Send more slowly.',
        checks: ADDRESS_LISTED,
      },
      {
        text: /\bPT\d{6}\b|must have a PTR record/i,
        meaning: 'The sending IP address has no valid PTR record, which Comcast requires.',
        checks: REVERSE_DNS,
      },
      {
        text: /\bO?DM\d{5,6}\b|due to DMARC/i,
        meaning:
          'The message fails DMARC, and the DMARC policy of the From domain asks receivers to reject it.',
        checks: DMARC,
      },
    ],
  },
  {
    name: 'T-Online',
    domains: ['t-online.de'],
    marks: /@rx\.t-online\.de/i,
    // "Postmaster FAQ" at postmaster.t-online.de.
    reference: 'https://postmaster.t-online.de/',
    replies: [
      {
        text: /@rx\.t-online\.de/i,
        meaning:
          'T-Online does not know the sending IP address, or saw spam from it. Write to the address in its reply; the host name must show who operates the server.',
        checks: [...REVERSE_DNS, 'helo', ...ADDRESS_LISTED],
      },
    ],
  },
  {
    name: 'Proofpoint',
    domains: ['pphosted.com', 'ppe-hosted.com', 'proofpoint.com'],
    marks: /proofpoint\.com|csi\.cloudmark\.com/i,
    reference: 'https://ipcheck.proofpoint.com/',
    replies: [
      {
        text: /ipcheck\.proofpoint\.com|csi\.cloudmark\.com/i,
        meaning:
          'Proofpoint blocks the sending IP address because of its reputation. Ask for delisting at the address in the reply.',
        checks: ADDRESS_LISTED,
      },
      {
        status: '7.0',
        text: /local policy violation/i,
        meaning:
          'A rule that the organization of the recipient has set up at Proofpoint rejects the message.',
        checks: [...AUTHENTICATION, ...CONTENT],
      },
    ],
  },
  {
    name: 'Mimecast',
    domains: ['mimecast.com', 'mimecast-offshore.com'],
    marks: /mimecast\.(?:com|org)|envelope (?:rejected|blocked)/i,
    // "SMTP error codes" in the Mimecast knowledge base. The replies have no enhanced codes.
    reference: null,
    replies: [
      {
        text: /SPF Sender Invalid/i,
        meaning: 'SPF fails, and Mimecast rejects mail for which it does.',
        checks: SPF,
      },
      {
        text: /DKIM Sender Invalid/i,
        meaning: 'DKIM fails, and Mimecast rejects mail for which it does.',
        checks: DKIM,
      },
      {
        text: /DMARC Sender Invalid/i,
        meaning:
          'The message fails DMARC, and the DMARC policy of the From domain asks receivers to reject it.',
        checks: DMARC,
      },
      {
        text: /anti-?spoofing policy/i,
        meaning:
          'The From domain belongs to the recipient, whose rules allow mail from it only from certain servers.',
        checks: SPF,
      },
      {
        text: /IP Reputation Policy/i,
        meaning: 'Mimecast rejects the sending IP address because of its reputation.',
        checks: ADDRESS_LISTED,
      },
      {
        text: /manually blocked senders|administrative prohibition/i,
        meaning: 'The recipient or its organization has blocked the sender.',
        checks: [],
      },
      {
        text: /rejected due to security policies/i,
        meaning: 'Mimecast classifies the content of the message as spam or harmful.',
        checks: [...CONTENT, 'attachments'],
      },
    ],
  },
  {
    name: 'Barracuda',
    domains: ['barracudanetworks.com'],
    marks: /barracuda/i,
    reference: 'https://www.barracudacentral.org/lookups',
    replies: [
      {
        text: /barracuda ?reputation|barracudanetworks\.com\/reputation|b\.barracudacentral/i,
        meaning: 'The Barracuda Reputation Block List lists the sending IP address.',
        checks: ADDRESS_LISTED,
      },
      {
        text: /permanent failure for one or more recipients.{0,200}:blocked/i,
        meaning:
          'The Barracuda filter of the recipient rejects the message, because of its content or a rule of the organization.',
        checks: CONTENT,
      },
    ],
  },
];

/** What any server can reply. The first one that matches counts. */
export const COMMON_REPLIES: readonly PolicyReply[] = [
  {
    // The list refuses the question, and the server takes that for a listing.
    text: /error: open resolver|returnc\/pub/i,
    meaning:
      'The recipient’s server queries Spamhaus through a public resolver, which Spamhaus refuses. You are probably not listed; its administrator must fix this.',
    checks: [],
  },
  {
    text: /dbl\.spamhaus|spamhaus.{0,20}\bDBL\b/i,
    meaning:
      'The Spamhaus DBL lists a domain of the message: of the sender, of the server or of a link.',
    checks: ['domain_blocklists', 'link_blocklists'],
  },
  {
    text: /spamhaus/i,
    meaning: 'Spamhaus lists the sending IP address. Find out why at check.spamhaus.org.',
    checks: [...ADDRESS_LISTED, ...REVERSE_DNS],
  },
  {
    text: /spamcop/i,
    meaning:
      'SpamCop lists the sending IP address because its users reported spam. A listing ends about a day after the last report.',
    checks: ADDRESS_LISTED,
  },
  {
    text: /uceprotect/i,
    meaning: 'UCEPROTECT lists the sending IP address or the network of its provider.',
    checks: ADDRESS_LISTED,
  },
  {
    text: /\b(?:surbl|uribl)\b/i,
    meaning: 'A blocklist lists the domain of a link in the message.',
    checks: LINKS,
  },
  {
    text: /poor reputation/i,
    meaning:
      'The server rejects the sending IP address because of its reputation. Cisco Secure Email replies like this.',
    checks: ADDRESS_LISTED,
  },
  {
    text: /blocked (?:using|by) \S+\.\S+|trend ?micro.{0,60}\brbl|client host .{0,80}blocked/i,
    meaning: 'A blocklist that the reply names lists the sending IP address.',
    checks: ADDRESS_LISTED,
  },
  {
    text: /(?:cannot|could not) find your (?:reverse )?hostname|reverse (?:dns|lookup|hostname)|\bPTR\b/i,
    meaning: 'The sending IP address has no host name, or the name does not resolve back to it.',
    checks: REVERSE_DNS,
  },
  {
    text: /helo command rejected|invalid (?:helo|ehlo)/i,
    meaning: 'The HELO name of your server does not exist or is not a full host name.',
    checks: ['helo'],
  },
  {
    text: /sender address rejected: domain not found|domain of sender address .{0,120}does not (?:exist|resolve)/i,
    meaning: 'The domain of the envelope sender (MAIL FROM) does not exist in DNS.',
    checks: ['return_path', 'mx'],
  },
  {
    text: /\bDMARC\b/,
    meaning: 'The message fails DMARC, and the server rejects it for that.',
    checks: DMARC,
  },
  {
    text: /\bSPF\b|sender policy framework/i,
    meaning: 'SPF does not pass, and the server rejects the message for that.',
    checks: SPF,
  },
  {
    text: /\bDKIM\b/,
    meaning: 'DKIM does not pass, and the server rejects the message for that.',
    checks: DKIM,
  },
  {
    text: /must issue (?:a )?starttls|TLS (?:is )?required|encryption required/i,
    meaning: 'The server accepts mail only over TLS.',
    checks: TLS,
  },
  {
    text: /greylist/i,
    meaning:
      'The server delays mail from senders that it does not know. A later attempt usually succeeds.',
    checks: [],
  },
  {
    text: /virus|malware|infected|blocked attachment|attachment type/i,
    meaning: 'The server classifies an attachment or a link as harmful.',
    checks: ['attachments', 'active_content', 'link_blocklists'],
  },
  {
    text: /relay(?:ing)? (?:access )?denied|not permitted to relay|relaying not/i,
    meaning:
      'The server does not handle mail for the recipient. Either the MX records are wrong, or the server accepts mail only from its own customers.',
    checks: [],
  },
  {
    text: /\bspam\b|unsolicited|junk mail|content rejected|content filter/i,
    meaning:
      'A filter classifies the message as spam, because of its content or the reputation of the sender.',
    checks: [...CONTENT, ...ADDRESS_LISTED],
  },
  // RFC 7372, for codes without a text that says more.
  {
    status: /^7\.2[0-2]$/,
    meaning: 'The message has no DKIM signature that the server accepts.',
    checks: DKIM,
  },
  { status: '7.23', meaning: 'SPF fails.', checks: SPF },
  {
    status: '7.24',
    meaning: 'The server could not evaluate SPF because of an error in the record or in DNS.',
    checks: ['spf_record', 'spf'],
  },
  {
    status: '7.25',
    meaning: 'The sending IP address has no host name, or the name does not resolve back to it.',
    checks: REVERSE_DNS,
  },
  {
    status: '7.26',
    meaning: 'Several authentication checks fail, such as SPF and DKIM.',
    checks: AUTHENTICATION,
  },
];
