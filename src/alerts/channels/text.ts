/** The words of a notification for chats: names and subjects come from outside, and each service has its own limits. */

import { truncate } from '../../lib/format/plain-text.ts';
import { printable } from '../../lib/log.ts';
import type { Notification } from '../alert-text.ts';
import type { Step } from '../conditions/condition.ts';

/** Chats have no text colors that work everywhere. */
const ICONS: Record<Notification['kind'], string> = {
  Alert: '🔴',
  Reminder: '🔴',
  Resolved: '✅',
  Sample: '⚪',
};

/** "🔴 Alert: Mail from example.com scored 38, below 75". */
export const headingOf = ({ kind, title }: Notification): string =>
  `${ICONS[kind]} ${kind}: ${title}`;

/** "Rule “Low score” (alt_…) · incident inc_…": tells duplicates from news. */
export const referenceOf = ({ rule, incident }: Notification): string =>
  `Rule ${rule}${incident === null ? '' : ` · incident ${incident}`}`;

/** Shown as nothing, so text can hide in them. Variation selectors of emoji stay. */
const INVISIBLE = /(?![\ufe00-\ufe0f])\p{Default_Ignorable_Code_Point}/gu;

/**
 * What mentions people in any service, with a look-alike of its first character. Programs that take the messages of Slack
 * find mentions even in code and in fields that Slack does not format. An @ within a mailbox address stays.
 */
const MENTIONS: [RegExp, string][] = [
  // Not \b, because a channel replaces a following underscore with a look-alike.
  [/(?:<|&lt;)(?=[!@#&:]|\/?(?:at|users?)(?![a-z0-9]))/gi, '‹'],
  [/(?<![\p{L}\p{N}])@(?=[\p{L}\p{N}_&!<])/gu, '＠'],
  // Some services find these within words too. In a mailbox address, a dot follows.
  [/@(?=(?:everyone|here|channel|all)(?![\p{L}\p{N}_-]*\.?[\p{L}\p{N}_]))/giu, '＠'],
];

/** One line without control characters and invisible ones, which mentions nobody. */
export const cleanText = (text: string): string =>
  withoutMentions(
    printable(text.toWellFormed().replace(/\s+/g, ' ').replace(INVISIBLE, '')).trim(),
  );

const withoutMentions = (text: string): string =>
  MENTIONS.reduce((result, [pattern, lookalike]) => result.replace(pattern, lookalike), text);

/** Truncates to `maxLength` characters; further if the converted text has more than `maxCodeUnits`. */
export function fitText(
  text: string,
  maxLength: number,
  maxCodeUnits: number,
  convert: (text: string) => string,
): string {
  const converted = convert(truncate(text, maxLength));
  return converted.length <= maxCodeUnits
    ? converted
    : fitText(text, Math.floor(maxLength / 2), maxCodeUnits, convert);
}

/** Look-alikes for characters that format, mention or link where a service formats text nevertheless. */
const LOOKALIKES: [RegExp, string][] = [
  [/\*/g, '∗'],
  [/_/g, 'ˍ'],
  [/~/g, '∼'],
  [/`/g, 'ˋ'],
  [/@/g, '＠'],
  [/#/g, '＃'],
  [/^>/g, '›'],
  [/:(?=[^\s:]+:)|:(?=\/\/)|(?<=(?:mailto|tel)):/g, '∶'],
];

export const withoutMarkup = (text: string): string =>
  LOOKALIKES.reduce((result, [pattern, lookalike]) => result.replace(pattern, lookalike), text);

/** How a service writes text. Each takes clean text from outside, of limited length. */
export interface Markup {
  plain(text: string): string;
  bold(text: string): string;
  /** A value in one line, to copy. */
  code(text: string): string;
  /** Several lines to copy. */
  block(lines: string[]): string;
  link(label: string, url: string): string;
}

const asItIs = (text: string): string => text;

/** For services that do not format text. */
export const PLAIN: Markup = {
  plain: asItIs,
  bold: asItIs,
  code: asItIs,
  block: (lines) => lines.join('\n'),
  link: (label, url) => `${label}: ${url}`,
};

const MAX = { heading: 250, lead: 600, label: 60, value: 250, title: 250, text: 600, code: 600 };

/** Clean text of limited length: what a notification has at least room for in every service. */
export const clip = (text: string, part: keyof typeof MAX): string =>
  truncate(cleanText(text), MAX[part]);

/** "1. DMARC fails. Sign with…", and the record to publish. */
export function stepTexts(
  { title, text, record }: Step,
  index: number,
  count: number,
): { text: string; record: string[] | null } {
  const number = count > 1 ? `${index + 1}. ` : '';
  const heading = title === '' ? '' : `${clip(title, 'title')} `;
  return {
    text: `${number}${heading}${clip(text, 'text')}`,
    record: record && [clip(`${record.name} ${record.type}`, 'code'), clip(record.value, 'code')],
  };
}

export interface TextLimits {
  max: number;
  /** What counts; by default, UTF-16 code units. */
  sizeOf?(text: string): number;
  /** What the service shows elsewhere. */
  without?: ('heading' | 'link')[];
}

/**
 * The whole notification as one text. What happened, the link and the incident are always in it; then as many facts
 * and steps as fit.
 */
export function wholeText(
  notification: Notification,
  markup: Markup,
  { max, sizeOf = (text) => text.length, without = [] }: TextLimits,
): string {
  const { plain, bold } = markup;
  const { lead, link } = notification;
  const heading = without.includes('heading')
    ? []
    : [bold(clip(headingOf(notification), 'heading'))];
  const after = [
    ...(link === null || without.includes('link')
      ? []
      : [markup.link(link.label, new URL(link.url).href)]),
    plain(clip(referenceOf(notification), 'value')),
  ];
  const join = (maxLead: number, parts: string[]): string =>
    [...heading, plain(truncate(clip(lead, 'lead'), maxLead)), ...parts, ...after].join('\n\n');
  const optional = optionalParts(notification, markup);
  const cut = optional.findIndex(
    (_, index) => sizeOf(join(MAX.lead, [...optional.slice(0, index + 1), '…'])) > max,
  );
  const parts = cut === -1 ? optional : [...optional.slice(0, cut), '…'];
  let maxLead = MAX.lead;
  while (sizeOf(join(maxLead, parts)) > max && maxLead > 1) maxLead = Math.floor(maxLead / 2);
  return join(maxLead, parts);
}

function optionalParts(
  { facts, steps, followUp }: Notification,
  { plain, bold, code, block }: Markup,
): string[] {
  return [
    facts
      .map(([label, value]) => `${bold(clip(label, 'label'))}: ${code(clip(value, 'value'))}`)
      .join('\n'),
    ...(steps.length > 0 ? [bold('What to do')] : []),
    ...steps.map((step, index) => {
      const { text, record } = stepTexts(step, index, steps.length);
      return record === null ? plain(text) : `${plain(text)}\n${block(record)}`;
    }),
    ...(followUp === null ? [] : [plain(clip(followUp, 'lead'))]),
  ].filter((part) => part !== '');
}

/** What texts are shortened to, one after the other, until the message fits. */
const SHORTER = [200, 80, 30];

/** The first message of at most `maxBytes` as JSON, with texts as long as possible. */
export function fitMessage(
  notification: Notification,
  build: (notification: Notification) => object,
  maxBytes: number,
): object {
  let message = build(notification);
  for (const maxLength of SHORTER) {
    if (Buffer.byteLength(JSON.stringify(message)) <= maxBytes) break;
    message = build(shorten(notification, maxLength));
  }
  return message;
}

function shorten(notification: Notification, maxLength: number): Notification {
  const cut = (text: string): string => truncate(cleanText(text), maxLength);
  const { title, lead, facts, steps, followUp, rule } = notification;
  return {
    ...notification,
    title: cut(title),
    lead: cut(lead),
    rule: cut(rule),
    facts: facts.map(([label, value]) => [cut(label), cut(value)]),
    steps: steps.map((step) => ({
      title: cut(step.title),
      text: cut(step.text),
      // A part of a record is of no use.
      record: step.record && step.record.value.length <= maxLength ? step.record : null,
    })),
    followUp: followUp && cut(followUp),
  };
}
