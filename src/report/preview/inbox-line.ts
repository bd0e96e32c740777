/** How sender, subject and preview text of a message appear in the lists of email clients. */

import { hasCode, tagsInText } from '../../analysis/checks/merge-tags.ts';
import { scanHtml } from '../../analysis/html/facts.ts';
import { type PreviewText, previewText } from '../../analysis/html/preview-text.ts';
import { mentionsUnsubscribe } from '../../analysis/links/unsubscribe.ts';
import { collapseSpace, plainWords, stripFiller, withoutControls } from '../../analysis/text.ts';
import { INBOX_LISTS, type InboxList } from './inbox-lists.ts';
import { fitText, graphemesOf } from './text-width.ts';

export interface InboxText {
  /** With an ellipsis if it is cut; empty if there is no space for it. */
  shown: string;
  isCut: boolean;
}

export interface InboxLine {
  /** The client: "Gmail", "Apple Mail on iPhone". */
  list: string;
  sender: InboxText;
  subject: InboxText;
  preview: InboxText;
  /** The CSS pixels that subject and preview have. */
  width: number;
  previewLines: number;
  /** Subject and preview share one line: a long subject leaves no space for the preview. */
  sharesLine: boolean;
  /** One or two letters for the sender, as this client draws them; `?` without a sender. */
  initials: string;
  /** What the widths rest on, as a sentence. */
  basis: string;
}

export interface InboxInput {
  fromName: string | null;
  fromAddress: string | null;
  subject: string | null;
  html: string | null;
  text: string | null;
  /** For people outside the team: changes the preview text. */
  publicText?: (text: string) => string;
}

export interface InboxLines {
  lines: InboxLine[];
  /** Where the preview text starts. */
  previewSource: 'preheader' | 'text' | 'alt' | 'text_part' | 'none';
  /** Why the lines are probably not what the author meant, as sentences. */
  warnings: string[];
}

/** Characters of the sender, the subject and the text part that are read. */
const MAX_INPUT = 2000;

/** Never throws. Takes linear time. */
export function inboxLines(input: InboxInput): InboxLines {
  const name = clean(input.fromName);
  const address = clean(input.fromAddress);
  const subject = clean(input.subject);
  const preview = previewOf(input);
  return {
    lines: INBOX_LISTS.map((list) =>
      lineIn(list, { name, address, subject, preview: preview.text }),
    ),
    previewSource: preview.source,
    warnings: warningsAbout({ name, subject, preview }),
  };
}

const clean = (text: string | null): string =>
  collapseSpace(withoutControls((text ?? '').slice(0, MAX_INPUT))).trim();

interface Preview {
  text: string;
  /** The hidden text that it starts with; empty if there is none. */
  preheader: string;
  source: InboxLines['previewSource'];
  browserLine: PreviewText['browserLine'];
  /** Whether the message has examples of code, which may be about merge tags. */
  showsCode: boolean;
}

function previewOf({ html, text, publicText = (shown) => shown }: InboxInput): Preview {
  const facts = html === null ? null : scanHtml(html);
  const showsCode = hasCode((text ?? '').slice(0, MAX_CODE_SEARCH), facts);
  if (facts) {
    const { source, browserLine, ...found } = previewText(facts);
    const preheader = publicText(clean(found.preheader));
    return { text: publicText(clean(found.text)), preheader, source, browserLine, showsCode };
  }
  const shown = stripFiller(clean(text)).text;
  const source = shown === '' ? 'none' : 'text_part';
  return { text: publicText(shown), preheader: '', source, browserLine: null, showsCode };
}

const MAX_CODE_SEARCH = 1_000_000;

interface Shown {
  name: string;
  address: string;
  subject: string;
  preview: string;
}

function lineIn(list: InboxList, { name, address, subject, preview }: Shown): InboxLine {
  const nameless =
    list.namelessSender === 'local_part' ? address.replace(/(?!^)@[^@]*$/, '') : address;
  const sender = fitText(name || nameless, { width: list.sender.width, lines: 1 }, list.sender);
  const title = fitText(
    subject || list.noSubject,
    { width: list.subject.width, lines: 1 },
    list.subject,
  );
  const width = list.sharesLine
    ? list.preview.width - title.lastLineWidth - SEPARATOR_WIDTH
    : list.preview.width;
  const text = preview.slice(0, list.preview.maxCharacters);
  const snippet =
    width < MIN_PREVIEW_WIDTH
      ? { shown: '', isCut: text !== '' }
      : fitText(text, { width, lines: list.preview.lines }, list.preview);
  return {
    list: list.name,
    sender: { shown: sender.shown, isCut: sender.isCut },
    subject: { shown: title.shown, isCut: title.isCut },
    preview: { shown: snippet.shown, isCut: snippet.isCut || text.length < preview.length },
    width: list.preview.width,
    previewLines: list.preview.lines,
    sharesLine: list.sharesLine,
    initials: graphemesOf(initialsOf(name, address)).slice(0, list.initials).join(''),
    basis: list.basis,
  };
}

/** The " - " between subject and preview. */
const SEPARATOR_WIDTH = 14;
/** A preview with less space is not shown. */
const MIN_PREVIEW_WIDTH = 30;

/** Scripts in which the first character of a name is its family name. */
const FAMILY_NAME_FIRST = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u;

/** The first letters of the first and the last word of the name, else the first letter of the address. */
function initialsOf(name: string, address: string): string {
  const words = name.split(/[^\p{L}\p{M}\p{N}'’]+/u).filter((word) => /^[\p{L}\p{N}]/u.test(word));
  const first = words[0];
  if (first === undefined) {
    const letter = /[\p{L}\p{N}]/u.exec(address)?.[0];
    return letter?.toUpperCase() ?? '?';
  }
  const isSingle = words.length === 1 || name.includes('@') || FAMILY_NAME_FIRST.test(first);
  return [first, ...(isSingle ? [] : [words.at(-1)!])]
    .map((word) => graphemesOf(word.slice(0, 50))[0]!.toUpperCase())
    .join('');
}

/** Characters of the preview that any list can show. */
const MAX_SHOWN = 140;

/** Text that templates bring along, to be replaced. */
const TEMPLATE_TEXT =
  /\blorem ipsum\b|\b(?:pre-?header|preview|teaser)(?: text)?(?: goes)? here\b|\bthis is (?:the |your |a )?(?:pre-?header|preview text)\b|\b(?:insert|enter|add|write|type) (?:your |a |the )?(?:pre-?header|preview|teaser|text here)\b|\byour (?:pre-?header|preview text|headline|text|logo) here\b|^(?:pre-?header|preview text|untitled|test)\.?$/i;
const URL_START = /^[<([]?(?:https?:\/\/|www\.)\S/i;

function warningsAbout({
  name,
  subject,
  preview,
}: {
  name: string;
  subject: string;
  preview: Preview;
}): string[] {
  const warnings: string[] = [];
  const shown = preview.text.slice(0, MAX_SHOWN);
  const start = `“${graphemesOf(shown).slice(0, 60).join('').trim()}”`;
  const warn = (isTrue: boolean, sentence: string) => {
    if (isTrue) warnings.push(sentence);
  };
  warn(subject === '', 'Your message has no subject.');
  warn(name === '', 'Your From field has no name, so lists show the address or a part of it.');
  const tags = [
    ...tagsInText(name),
    ...tagsInText(subject),
    ...tagsInText(preview.showsCode ? preview.preheader : shown),
  ];
  warn(
    tags.length > 0,
    `The line shows an unfilled merge tag: ${tags[0]?.slice(0, 60)}. Set a default value for it.`,
  );
  warn(
    TEMPLATE_TEXT.test(subject),
    `The subject contains text of the template: “${subject.slice(0, 60)}”.`,
  );
  if (preview.source === 'none')
    return [
      ...warnings,
      'Your message has no text for a preview, so lists show the subject alone.',
    ];
  return [...warnings, ...previewWarnings(preview, subject, shown, start)];
}

function previewWarnings(
  { source, browserLine }: Preview,
  subject: string,
  shown: string,
  start: string,
): string[] {
  const found: [isTrue: boolean, sentence: string][] = [
    [
      browserLine === 'start',
      `The preview is the link to the web version: ${start}. Put a preview sentence before it, in a hidden element.`,
    ],
    [
      browserLine === 'after_preheader',
      'Your hidden preview text is so short that the link to the web version follows it.',
    ],
    [source === 'alt', `The preview starts with the alt text of an image: ${start}.`],
    [URL_START.test(shown), `The preview starts with a URL: ${start}.`],
    [
      mentionsUnsubscribe(shown.slice(0, 80)),
      `The preview offers to unsubscribe: ${start}. Put a preview sentence before it.`,
    ],
    [
      TEMPLATE_TEXT.test(shown),
      `The preview contains text of the template: “${TEMPLATE_TEXT.exec(shown)?.[0]}”. Replace it.`,
    ],
    [repeats(subject, shown), 'The preview repeats the subject, so it tells readers nothing new.'],
  ];
  return found.filter(([isTrue]) => isTrue).map(([, sentence]) => sentence);
}

/** Whether the preview starts with all words of the subject. */
function repeats(subject: string, shown: string): boolean {
  const words = plainWords(subject, MAX_SHOWN).trim();
  return words !== '' && ` ${plainWords(shown, MAX_SHOWN).trim()} `.startsWith(` ${words} `);
}
