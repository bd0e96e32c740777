/** The message of a notification for an incoming webhook of Slack. */

import { truncate } from '../../lib/format/plain-text.ts';
import type { Notification } from '../alert-text.ts';
import type { Step } from '../conditions/condition.ts';
import {
  cleanText,
  fitText,
  headingOf,
  type Markup,
  referenceOf,
  type TextLimits,
  wholeText,
  withoutMarkup,
} from './text.ts';

/** Slack's limit is 150 UTF-16 code units, so a character outside the BMP counts twice. */
const MAX_HEADER_LENGTH = 140;
/** Slack rejects the whole message if one text exceeds 3,000 characters. */
const MAX_TEXT_LENGTH = 2900;

interface SlackMessage {
  /** Shown where blocks aren't, such as in desktop notifications. */
  text: string;
  /** Slack formats `text` unless this is false. */
  mrkdwn: false;
  unfurl_links: false;
  unfurl_media: false;
  blocks: object[];
}

/**
 * Names, subjects and records come from outside. They are in `plain_text` only, which Slack doesn't format,
 * except in the code block of a record.
 */
export function slackMessage(
  notification: Notification,
  { showsBlocks = true }: { showsBlocks?: boolean } = {},
): SlackMessage {
  const { kind, title, lead, facts, steps, followUp: after, link } = notification;
  return {
    text: showsBlocks
      ? escapeText(withoutMarkup(`${kind}: ${title}. ${lead}`), MAX_TEXT_LENGTH)
      : wholeText({ ...notification, lead: `${kind}: ${title}. ${lead}` }, MARKDOWN, WHOLE_TEXT),
    mrkdwn: false,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      {
        type: 'header',
        text: plain(headingOf(notification), MAX_HEADER_LENGTH, MAX_HEADER_LENGTH),
      },
      section(plain(lead)),
      ...factSections(facts),
      ...(steps.length === 0 ? [] : [{ type: 'divider' }, section(markdown('*What to do*'))]),
      ...steps.flatMap((step, index) =>
        stepSections(step, steps.length > 1 ? `${index + 1}. ` : ''),
      ),
      ...(link === null
        ? []
        : [section(markdown(`*<${linkTarget(link.url)}|${escapeText(link.label)}>*`))]),
      ...(after === null ? [] : [context(plain(after))]),
      context(plain(referenceOf(notification))),
    ],
  };
}

/** Rocket.Chat rejects messages above 5,000 characters by default. */
const WHOLE_TEXT: TextLimits = { max: 4800, without: ['heading'] };

/** Of programs that format `text` as Markdown, whatever `mrkdwn` says. A backslash does not escape in all of them. */
export const inert = (text: string): string =>
  withoutMarkup(text)
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replace(/\](?=[([])/g, '］');

const MARKDOWN: Markup = {
  plain: inert,
  bold: (text) => `**${inert(text)}**`,
  // Both programs may find mentions and links even in code.
  code: (text) =>
    `\`${text
      .replaceAll('`', 'ˋ')
      .replaceAll('@', '＠')
      .replaceAll('#', '＃')
      .replace(/:(?=\/\/)/g, '∶')}\``,
  block: (lines) => ['```', ...lines.map((line) => line.replaceAll('`', 'ˋ')), '```'].join('\n'),
  link: (label, url) => `${inert(label)}: ${url}`,
};

/** Slack allows ten fields in a section: five labels, each with its value beside it. */
const MAX_FACTS_PER_SECTION = 5;

function factSections(facts: Notification['facts']): object[] {
  const sections: object[] = [];
  for (let start = 0; start < facts.length; start += MAX_FACTS_PER_SECTION) {
    const fields = facts
      .slice(start, start + MAX_FACTS_PER_SECTION)
      .flatMap(([label, value]) => [
        markdown(`*${escapeText(withoutMarkup(label))}*`),
        plain(value, 300),
      ]);
    sections.push({ type: 'section', fields });
  }
  return sections;
}

function stepSections({ title, text, record }: Step, number: string): object[] {
  const heading = title === '' ? '' : `${truncate(title, 300)} `;
  const step = section(plain(`${number}${heading}${truncate(text, 800)}`));
  if (!record) return [step];
  const code = `${codeText(`${record.name} ${record.type}`, 800)}\n${codeText(record.value, 2000)}`;
  return [step, section(markdown(`\`\`\`${code}\`\`\``))];
}

/** Backticks would end the code block. */
const codeText = (text: string, maxEscapedLength: number): string =>
  escapeText(text.replaceAll('`', ''), 500, maxEscapedLength);

/** `verbatim` keeps Slack from turning words into links and mentions. */
const markdown = (text: string): object => ({ type: 'mrkdwn', text, verbatim: true });
const section = (text: object): object => ({ type: 'section', text });
const context = (text: object): object => ({ type: 'context', elements: [text] });

/** Text that Slack shows as it is. Without `emoji: false`, Slack would turn `:smile:` into a picture. */
function plain(text: string, maxLength = MAX_TEXT_LENGTH, maxCodeUnits = MAX_TEXT_LENGTH): object {
  const fitting = fitText(withoutControls(text), maxLength, maxCodeUnits, (each) => each);
  // An empty text object is invalid, and Slack would reject the whole message.
  return { type: 'plain_text', text: fitting || '–', emoji: false };
}

/** The beginning of a link. Plain text should not contain any, in case Slack reads it. */
const CONTROL_SEQUENCE = /<(?=[a-z][a-z+.-]*:)/gi;

const withoutControls = (text: string): string => cleanText(text).replace(CONTROL_SEQUENCE, '‹');

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Escapes Slack's three special characters. Truncates first, so that no entity is split. */
const escapeText = (text: string, maxLength = 200, maxEscapedLength = MAX_TEXT_LENGTH): string =>
  fitText(withoutControls(text), maxLength, maxEscapedLength, (each) =>
    each.replace(/[&<>]/g, (character) => ENTITIES[character]!),
  );

const linkTarget = (url: string): string => new URL(url).href.replaceAll('|', '%7C');
