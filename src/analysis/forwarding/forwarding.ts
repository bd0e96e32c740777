/** Recognizes messages that a mailing list or a forwarding server passed on. */

import { addressDomain, normalizeDomain, ownerOf } from '../../lib/domain-names.ts';
import { isSpfOfHelo, MAX_ADDRESS_LENGTH, stripAngleBrackets } from '../../lib/mail.ts';
import type { Context } from '../check.ts';
import { fromDomain, fullHostName } from '../dns/names.ts';
import { parseTagList } from '../dns/tag-list.ts';
import { withoutComments } from '../mime/mail-date.ts';
import { listEntries } from '../mime/mailbox-list.ts';
import { fields, fieldValue, type Message } from '../mime/message.ts';
import { receivedHops } from '../mime/received.ts';

/** What a list or forwarder can change in a message. `header`: a signed field other than the subject. */
export type Change = 'subject' | 'body' | 'from' | 'header';

export interface Forwarding {
  kind: 'direct' | 'forwarded' | 'list';
  /** The domain of the list or forwarding server; null if direct or unknown. */
  by: string | null;
  /** The changes that the message itself shows; `forwardingChanges` also uses its signatures. */
  changed: Change[];
  /** What shows the kind, as sentences. They quote domains and field names only. */
  evidence: string[];
  /** The servers that added an ARC set, oldest first. */
  seals: ArcSealer[];
}

export interface ArcSealer {
  instance: number;
  domain: string;
  /** The results that the server recorded: `spf=pass`. */
  results: string[];
}

/** One fact that shows who passed the message on. */
interface Sign {
  text: string;
  by: string | null;
}

/**
 * A fact: `context.fact(forwarding)`. Sending services add List-Id, ARC sets and envelope senders of
 * their own too, so none of these alone counts.
 */
export function forwarding(context: Context): Forwarding {
  const seals = arcSealers(context.message);
  const signs = { list: listSigns(context), forwarder: forwarderSigns(context, seals) };
  const kind = signs.list.length > 0 ? 'list' : signs.forwarder.length > 0 ? 'forwarded' : 'direct';
  if (kind === 'direct') return { kind, by: null, changed: [], evidence: [], seals };
  const all = [...signs.list, ...signs.forwarder];
  return {
    kind,
    by: all.find(({ by }) => by !== null)?.by ?? null,
    changed: visibleChanges(context.message),
    evidence: all.map(({ text }) => text),
    seals,
  };
}

export const isSameOrganization = (a: string | null, b: string | null): boolean =>
  a !== null && b !== null && ownerOf(a) === ownerOf(b);

// Bounds the work on hostile fields.
const MAX_LENGTH = 2000;
const MAX_FIELDS = 10;

const valuesOf = (message: Message, name: string): string[] =>
  fields(message, name)
    .slice(0, MAX_FIELDS)
    .map(({ value }) => value.slice(0, MAX_LENGTH));

const has = (message: Message, name: string): boolean => fields(message, name).length > 0;

/** The domain of the first address in a text, such as `list a@b.example; contact …`. */
function domainIn(text: string): string | null {
  const address = /[^\s<>,;:"'()]{1,64}@([a-z0-9._-]{1,255})/i.exec(text)?.[1];
  return address === undefined ? null : fullHostName(address.replace(/\.+$/, ''));
}

// Mailing lists.

/** Fields that only discussion list software adds, and the program. */
const LIST_SOFTWARE: [field: string, name: string][] = [
  ['X-Mailman-Version', 'Mailman'],
  ['X-BeenThere', 'mailing list software'],
  ['X-Google-Group-Id', 'Google Groups'],
  ['X-Listprocessor-Version', 'ListProc'],
  ['X-ML-Name', 'fml'],
];

function listSigns(context: Context): Sign[] {
  const { message } = context;
  const by = listDomain(message);
  const software = LIST_SOFTWARE.filter(([field]) => has(message, field)).map(([field, name]) => ({
    text: `It has the field ${field}, which ${name} adds.`,
    by: by ?? domainIn(valuesOf(message, field)[0] ?? ''),
  }));
  // The form of ezmlm, Groups.io and Google Groups.
  const mailingList = valuesOf(message, 'mailing-list').find((value) =>
    /^(?:list|contact)\s+\S+@/i.test(value),
  );
  return [
    ...software,
    ...(mailingList === undefined
      ? []
      : [{ text: 'It has a Mailing-List field.', by: by ?? domainIn(mailingList) }]),
    ...postingSigns(context),
    ...addressedListSigns(context),
    ...rewrittenFromSigns(message, by),
  ];
}

/** The domain of the list, from the fields of RFC 2369 and RFC 2919. */
function listDomain(message: Message): string | null {
  const posting = valuesOf(message, 'list-post').map(postingDomain);
  const domain = posting.find((found) => found !== null);
  return domain ?? listIdDomain(message);
}

/** `List-Post: NO` is for lists that only announce (RFC 2369 §3.4). */
const postingDomain = (value: string): string | null => {
  const address = /<mailto:([^>?]{1,320})/i.exec(value)?.[1];
  return address === undefined ? null : domainIn(address);
};

function listIdDomain(message: Message): string | null {
  const value = valuesOf(message, 'list-id')[0];
  if (value === undefined) return null;
  const id = /<([^<>]{1,255})>\s*$/.exec(value)?.[1] ?? value.trim();
  const name = normalizeDomain(id.replace('@', '.'));
  return name?.includes('.') ? name : null;
}

/** Subscribers can post at another organization than the author's: a discussion list. */
function postingSigns(context: Context): Sign[] {
  const from = fromDomain(context);
  const domain = valuesOf(context.message, 'list-post')
    .map(postingDomain)
    .find((found) => found !== null);
  if (!domain || from === null || isSameOrganization(domain, from)) return [];
  return [{ text: `Its List-Post field names ${domain}, not the domain in From.`, by: domain }];
}

/**
 * The message is addressed to the organization in List-Id, which also sent it, but the author is
 * elsewhere. The List-Id of a sending service does not match the recipient.
 */
function addressedListSigns(context: Context): Sign[] {
  const { message } = context;
  const list = listIdDomain(message);
  const from = fromDomain(context);
  if (list === null || from === null || isSameOrganization(list, from)) return [];
  const isAddressed = recipientDomains(message).some((domain) => isSameOrganization(domain, list));
  if (!isAddressed || !isSameOrganization(envelopeDomain(context), list)) return [];
  return [
    {
      text: `It is addressed to the list in its List-Id field, and ${ownerOf(list)} sent it on.`,
      by: ownerOf(list),
    },
  ];
}

/** "Jonas via Team" with the address of the list, as lists write it to satisfy DMARC. */
function rewrittenFromSigns(message: Message, by: string | null): Sign[] {
  if (!isFromRewritten(message) || !has(message, 'list-id')) return [];
  return [{ text: 'Its From field names the author "via" the list.', by }];
}

function isFromRewritten(message: Message): boolean {
  const { name = '', address = '' } = message.from[0] ?? {};
  if (!/\bvia\b/i.test(name.slice(0, MAX_LENGTH))) return false;
  const from = addressDomain(address.slice(0, MAX_ADDRESS_LENGTH));
  const others = ['x-original-from', 'x-original-sender', 'reply-to'].flatMap((field) =>
    valuesOf(message, field).map(domainIn),
  );
  return others.some((domain) => domain !== null && !isSameOrganization(domain, from));
}

export function recipientDomains(message: Message): string[] {
  return ['to', 'cc']
    .flatMap((name) => valuesOf(message, name))
    .flatMap((value) => listEntries(value).slice(0, MAX_FIELDS))
    .map(domainIn)
    .filter((domain) => domain !== null);
}

// Forwarding servers.

function forwarderSigns(context: Context, seals: ArcSealer[]): Sign[] {
  const from = fromDomain(context);
  const signs = [
    ...rewrittenEnvelopeSigns(context),
    ...forwardingFieldSigns(context.message),
    ...relaySigns(context),
    ...deliveredSigns(context),
    ...sealSigns(context, seals),
  ];
  // An organization that passes on its own mail is its author.
  return signs.filter(({ by }) => by === null || !isSameOrganization(by, from));
}

/** SRS, its form in Exchange Online, and the form of Gmail. BATV (`prvs=`) only tags the own address. */
const REWRITTEN: [pattern: RegExp, text: string][] = [
  [/^srs[01][=+-]/i, 'The envelope sender was rewritten for forwarding (SRS).'],
  [/\+srs=/i, 'The envelope sender was rewritten for forwarding (SRS).'],
  [/\+caf_=/i, 'The envelope sender was rewritten by the forwarding of Gmail.'],
];

function rewrittenEnvelopeSigns(context: Context): Sign[] {
  const address = envelopeAddress(context);
  const found = REWRITTEN.find(([pattern]) => pattern.test(address));
  return found ? [{ text: found[1], by: addressDomain(address) }] : [];
}

const envelopeAddress = ({ envelope }: Context): string =>
  stripAngleBrackets(envelope.mail_from ?? '').slice(0, MAX_ADDRESS_LENGTH);

const envelopeDomain = (context: Context): string | null => addressDomain(envelopeAddress(context));

/** Fields of forwarders, all of which name the mailbox that forwards. */
const FORWARDING_FIELDS = [
  'X-Forwarded-For',
  'X-Forwarded-To',
  'Resent-From',
  'Resent-Sender',
  'X-MS-Exchange-ForwardingLoop',
  'X-MS-Exchange-Inbox-Rules-Loop',
];

function forwardingFieldSigns(message: Message): Sign[] {
  return FORWARDING_FIELDS.flatMap((field) => {
    // Web forms use X-Forwarded-For for the IP address of their visitor.
    const domain = valuesOf(message, field)
      .map(domainIn)
      .find((found) => found !== null);
    if (!domain) return [];
    // The destination is not the server that forwards.
    const by = field === 'X-Forwarded-To' ? forwardingMailbox(message) : domain;
    return [{ text: `It has the field ${field}.`, by }];
  });
}

const forwardingMailbox = (message: Message): string | null =>
  domainIn(valuesOf(message, 'delivered-to')[0] ?? '') ??
  domainIn(valuesOf(message, 'x-original-to')[0] ?? '');

/**
 * The server that sent the message here belongs to the organization in To, and one of its hops took
 * the message from another organization.
 */
function relaySigns(context: Context): Sign[] {
  const from = fromDomain(context);
  const helo = fullHostName(context.envelope.helo ?? '');
  if (helo === null || from === null || isSameOrganization(helo, from)) return [];
  if (!recipientDomains(context.message).some((domain) => isSameOrganization(domain, helo)))
    return [];
  const handover = receivedHops(context.message).find(
    (hop) =>
      isSameOrganization(fullHostName(hop.by ?? ''), helo) &&
      isOtherOrganization(fullHostName(hop.from ?? ''), helo),
  );
  if (!handover) return [];
  const by = ownerOf(helo);
  return [{ text: `It was delivered to ${by}, whose server sent it on.`, by }];
}

const isOtherOrganization = (a: string | null, b: string): boolean =>
  a !== null && !isSameOrganization(a, b);

/** A mailbox received the message and its server sent it here. An uploaded message has no such server. */
function deliveredSigns(context: Context): Sign[] {
  const { client_ip, helo } = context.envelope;
  if (client_ip === null) return [];
  const sender = fullHostName(helo ?? '');
  const mailbox = valuesOf(context.message, 'delivered-to')
    .map(domainIn)
    .find((domain) => domain !== null && isSameOrganization(domain, sender));
  return mailbox
    ? [{ text: `It has a Delivered-To field of ${mailbox}, whose server sent it on.`, by: mailbox }]
    : [];
}

/**
 * The envelope sender belongs to the server that sealed the message. Microsoft 365 also seals mail
 * of its own customers.
 */
function sealSigns(context: Context, seals: ArcSealer[]): Sign[] {
  const sender = envelopeDomain(context);
  const sealer = seals.find(({ domain }) => isSameOrganization(domain, sender));
  return sealer
    ? [
        {
          text: `${sealer.domain} added an ARC set and its own envelope sender.`,
          by: sealer.domain,
        },
      ]
    : [];
}

// ARC sets.

/** More are not listed. */
const MAX_SEALS = 10;

function arcSealers(message: Message): ArcSealer[] {
  const results = new Map(
    valuesOf(message, 'arc-authentication-results').map((value) => [
      instanceOf(value),
      resultsIn(value),
    ]),
  );
  return fields(message, 'arc-seal')
    .slice(0, MAX_SEALS)
    .flatMap(({ value }) => {
      const tags = parseTagList(value.slice(0, MAX_LENGTH * 2));
      const domain = normalizeDomain(tags.get('d') ?? '');
      const instance = Number(tags.get('i') ?? Number.NaN);
      return domain !== null && Number.isInteger(instance)
        ? [{ instance, domain, results: results.get(instance) ?? [] }]
        : [];
    })
    .sort((a, b) => a.instance - b.instance);
}

const instanceOf = (value: string): number =>
  Number(/^\s*i\s*=\s*(\d{1,2})\s*;/i.exec(withoutComments(value))?.[1] ?? Number.NaN);

/** Each method once: `spf=pass`, `dkim=fail`. */
function resultsIn(value: string): string[] {
  const found = new Map<string, string>();
  for (const [, method, result, properties] of withoutComments(value).matchAll(
    /;\s*(spf|dkim|dmarc|arc)\s*=\s*([a-z]{1,20})\b([^;]*)/gi,
  ))
    if (!isSpfOfHelo(properties!) && !found.has(method!.toLowerCase()))
      found.set(method!.toLowerCase(), result!.toLowerCase());
  return [...found].map(([method, result]) => `${method}=${result}`);
}

// Changes that the message shows.

const SUBJECT_TAG =
  /^(?:\s*(?:re|fwd?|aw|wg|sv|antw)\s*:)*\s*(?:\[[^\]]{1,60}\]|\*{2,}[^*]{1,60}\*{2,})/i;
/** A signature line of Mailman or Google Groups near the end. */
const FOOTER =
  /^_{20,}\s*\n[\s\S]{0,300}(?:mailing list|listinfo|unsubscribe)|you received this message because you (?:are|were) subscribed|to unsubscribe from this (?:group|list)|to unsubscribe send an email to/im;
const BANNER =
  /^\s*\W{0,5}(?:caution|external|warning|achtung|attention|vorsicht)\b[\s\S]{0,120}?(?:outside|external|extern)/i;
const BANNER_LENGTH = 300;
const FOOTER_LENGTH = 2000;

function visibleChanges(message: Message): Change[] {
  const text = message.text ?? '';
  const isTagged = SUBJECT_TAG.test((message.subject ?? '').slice(0, 200));
  const hasFooter = FOOTER.test(text.slice(-FOOTER_LENGTH).replaceAll('\r', ''));
  const hasBanner = BANNER.test(text.slice(0, BANNER_LENGTH));
  return [
    ...(isTagged ? (['subject'] as const) : []),
    ...(hasFooter || hasBanner ? (['body'] as const) : []),
    ...(isFromRewritten(message) || fieldValue(message, 'x-original-from') !== null
      ? (['from'] as const)
      : []),
  ];
}
