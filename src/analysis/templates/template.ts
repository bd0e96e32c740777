/** A template instead of a sent message: its merge tags, and the message as checks read it. */

import type { HeaderField, Message } from '../mime/message.ts';
import { createStandIns, fillHtml, fillText } from './fill.ts';
import type { BrokenTag } from './syntax.ts';

export interface LocatedTag extends BrokenTag {
  /** `subject`, `HTML line 12`. */
  place: string;
}

export interface Template {
  /** With stand-ins in its subject, text and HTML. */
  message: Message;
  /** The distinct tags, in order. */
  tags: string[];
  broken: LocatedTag[];
  /** It has the HTML only, without fields such as Subject. */
  isBody: boolean;
  /** It includes other files, such as a header, a footer or the content of a layout. */
  isPart: boolean;
  /** The text with the tags as written. */
  restore(text: string): string;
}

/** Fields of a message without a sender, recipient or subject. */
const BODY_FIELDS = /^(?:mime-version|content-[a-z-]+)$/;
const MAX_FIELD = 10_000;
const ADDRESS_FIELDS = ['from', 'sender', 'reply-to', 'to', 'cc', 'list-unsubscribe'];

export function readTemplate(message: Message): Template {
  const standIns = createStandIns();
  const tags = new Set<string>();
  const broken: LocatedTag[] = [];
  const fill = (source: string, place: string, run: typeof fillText = fillText): string => {
    const filled = run(source, standIns);
    for (const { text } of filled.tags) tags.add(text);
    let [line, from] = [1, 0];
    for (const tag of filled.broken.toSorted((a, b) => a.start - b.start)) {
      line += source.slice(from, tag.start).split('\n').length - 1;
      from = tag.start;
      const isOneLine = place === 'subject' || !source.includes('\n');
      broken.push({ ...tag, place: isOneLine ? place : `${place} line ${line}` });
    }
    return filled.text;
  };
  for (const { key, value } of message.headers)
    if (ADDRESS_FIELDS.includes(key)) fill(value.slice(0, MAX_FIELD), key);
  const filledMessage: Message = {
    ...message,
    subject: message.subject === null ? null : fill(message.subject, 'subject'),
    html: message.html === null ? null : fill(message.html, 'HTML', fillHtml),
    text: message.text === null ? null : fill(message.text, 'text part'),
  };
  return {
    message: filledMessage,
    tags: [...tags],
    broken,
    isBody: message.headers.every(({ key }) => BODY_FIELDS.test(key)),
    isPart: [...tags].some((tag) => INCLUDES.test(tag)) || BLADE.test(message.html ?? ''),
    restore: standIns.restore,
  };
}

/** A template as its readers see it, with the names of its values. */
export const shownTemplate = (message: Message): Message => ({
  ...message,
  html: message.html === null ? null : fillHtml(message.html, { of: escapeTag }).text,
  text: message.text === null ? null : fillText(message.text, { of: (tag) => tag }).text,
});

const escapeTag = (tag: string): string =>
  tag.replace(/[<>"]/g, (char) => `&#${char.charCodeAt(0)};`);

/** Tags for the content of another file. */
const INCLUDES =
  /^\{\{[-~#]?\s*(?:>|#>|template\b)|^\{\{\{?\s*(?:body|content|main|children|slot|outlet|yield|\$slot)\s*(?:\|[^}]*)?\}\}|^\{%[-+]?\s*(?:include|extends|import|render|layout|section|block|content_block|module|widget|dnd_area|body)\b|^<%[-=@]?\s*(?:include|render|yield|body|content|partial)\b|^\[\[\s*(?:include|body|content)\b|content_blocks\.\$|^%%=\s*(?:ContentBlock|TreatAsContent)/i;
const BLADE = /^[ \t]*@(?:include|extends|component|yield|section)\s*\(/m;

/** Whether a field has a merge tag, so that its value is not known yet. */
export const isTagged = ({ value }: HeaderField): boolean =>
  AMBIGUOUS.test(value) || fillText(value.slice(0, MAX_FIELD), createStandIns()).tags.length > 0;

/** Syntaxes whose delimiters occur in ordinary text and URLs: `-name-`, `{name}`, `[name]`, `$name$`, `@{url}`. */
const NAME = '[A-Za-z_][\\w.:=-]{0,60}';
const AMBIGUOUS = new RegExp(
  `^-${NAME}-$|[{[][$!%]?\\s?${NAME}\\s?%?[}\\]]|\\$${NAME}\\$|[@#$]\\{|#${NAME}#|^\\$\\w`,
);

/** Whether a URL consists of a merge tag, or has one. */
export const isTaggedUrl = (href: string): boolean =>
  AMBIGUOUS.test(href) || /%7B%7B|%7B%25|\*%7C/i.test(href);

/** The value with all its strings changed. */
export function mapStrings<T>(value: T, change: (text: string) => string): T {
  if (typeof value === 'string') return change(value) as T;
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, mapStrings(item, change)]),
  ) as T;
}
