/** `merge_tags`: no merge tag such as `{{name}}` was left unfilled. */

import { type Check, type Context, fail, pass, unknown } from '../check.ts';
import { type HtmlFacts, htmlFacts } from '../html/facts.ts';
import { fields } from '../mime/message.ts';
import { senderPart } from '../quotes/sender-part.ts';
import type { LocatedTag, Template } from '../templates/template.ts';

type Place =
  | 'subject'
  | 'preheader'
  | 'HTML'
  | 'text part'
  | 'header fields'
  | 'unsubscribe addresses'
  | 'links'
  | 'images';

/** Where recipients do not see the tag, but the address does not work. */
const URL_PLACES: Place[] = ['unsubscribe addresses', 'links', 'images'];

/** Fields that a template fills in, and that people or mailbox providers read. */
const HEADER_FIELDS = ['from', 'sender', 'reply-to', 'to', 'cc', 'list-id', 'feedback-id'];
const UNSUBSCRIBE_FIELDS = ['list-unsubscribe', 'list-help', 'list-archive'];
const MAX_FIELD_LENGTH = 64 * 1024;

const MAX_TAGS_SHOWN = 10;
const MAX_URLS = 2000;

/**
 * Fails for a tag in text, in a header field or in a URL, which does not work then. In a message with code (`pre` or
 * `code` elements, fences), its text may be about placeholders and is not checked.
 */
export const mergeTags: Check = {
  id: 'merge_tags',
  category: 'content',
  points: 2,
  label: 'Merge tags',
  issueTitle: 'Merge tags were not filled in',
  reference: {
    name: 'Mailchimp: merge tags',
    url: 'https://mailchimp.com/help/all-the-merge-tags-cheat-sheet/',
  },
  publicEvidence: {
    subject: 'shown',
    preheader: 'shown',
    html: 'shown',
    text_part: 'shown',
    header_fields: 'shown',
    unsubscribe_addresses: 'shown',
    links: 'shown',
    images: 'shown',
    tags: 'shown',
    broken: { tag: 'shown', problem: 'shown', place: 'shown' },
  },
  run(context) {
    const { message, template } = context;
    if (template) return templateTags(template);
    const facts = context.fact(htmlFacts);
    const found = tagsByPlace(context, facts);
    const places = [...found.keys()];
    if (places.length > 0) return reportUnfilled(found, places);
    const isTruncated = facts?.truncated || (context.fact(senderPart).text?.length ?? 0) > MAX_TEXT;
    if (isTruncated || message.exceededLimits.length > 0)
      return unknown(
        'Could not search your whole message for merge tags.',
        `No merge tags found in the part that was searched, but your message has ${message.exceededLimits.join('; ') || 'more text than that'}.`,
      );
    return pass(
      'Your message has no unfilled merge tags.',
      'No template placeholder is left in the header, text, HTML or URLs.',
    );
  },
};

/** The number of further broken tags to explain; the evidence has more. */
const MAX_TAGS_EXPLAINED = 4;

/** Merge tags are expected in a template; each must be complete. */
function templateTags({ tags, broken }: Template) {
  const evidence = {
    tags: tags.slice(0, MAX_TAGS_SHOWN).map((tag) => tag.slice(0, 100)),
    broken: broken
      .slice(0, MAX_TAGS_SHOWN)
      .map(({ text, problem, place }) => ({ tag: text, problem, place })),
  };
  const [first, ...others] = broken;
  if (!first)
    return pass(
      tags.length === 0 ? 'Your template has no merge tags.' : 'Your merge tags are complete.',
      'Every tag and every block is closed. Field names were not checked.',
      evidence,
    );
  const more = others.length > 0 ? `, and ${others.length} more` : '';
  const next = others
    .slice(0, MAX_TAGS_EXPLAINED)
    .map(({ text, problem, place }) => ` ${text} ${problem} (${place}).`)
    .join('');
  return fail({
    title: `A merge tag is broken: ${first.text}${more}.`,
    detail: `It ${first.problem} (${first.place}).${next} Your sending system stops with an error, or recipients see the tag.`,
    fix: fixOf(first),
    evidence,
  });
}

const fixOf = ({ text, problem }: LocatedTag): string =>
  /without quotes/.test(problem)
    ? `Put quotes around the value: ${text.replace('=', '="')}". Otherwise, a space in the value ends the attribute.`
    : `Fix ${text}, then render the template with test data.`;

function tagsByPlace(context: Context, facts: HtmlFacts | null): Map<Place, string[]> {
  const { message } = context;
  const own = context.fact(senderPart);
  const text = (own.text ?? '').slice(0, MAX_TEXT);
  const preheader = (facts?.hidden ?? []).filter((hidden) => hidden.preheader);
  const showsCode = hasCode(text, facts);
  const found: [Place, string[]][] = [
    ['subject', tagsInText(own.subject)],
    ['preheader', tagsInText(preheader.map((hidden) => hidden.text).join('\n'))],
    [
      'HTML',
      showsCode ? [] : [...new Set([facts?.text ?? '', altTexts(facts)].flatMap(tagsInText))],
    ],
    ['text part', showsCode ? [] : tagsInPlainText(text)],
    ['header fields', headerTags(message, HEADER_FIELDS, tagsInText)],
    ['unsubscribe addresses', headerTags(message, UNSUBSCRIBE_FIELDS, tagsInUrl)],
    ['links', linkTags(text, facts)],
    ['images', imageTags(facts)],
  ];
  return new Map(found.filter(([, tags]) => tags.length > 0));
}

function headerTags(
  message: Context['message'],
  names: string[],
  tagsIn: (text: string) => string[],
): string[] {
  const values = names.flatMap((name) => fields(message, name).slice(0, 5));
  return [...new Set(values.flatMap(({ value }) => tagsIn(value.slice(0, MAX_FIELD_LENGTH))))];
}

const altTexts = (facts: HtmlFacts | null): string =>
  (facts?.images ?? [])
    .filter(({ hidden }) => !hidden)
    .map(({ alt }) => alt ?? '')
    .join('\n');

function imageTags(facts: HtmlFacts | null): string[] {
  const urls = [...(facts?.images ?? []).map(({ src }) => src), ...(facts?.backgrounds ?? [])];
  return [...new Set(urls.slice(0, MAX_URLS).flatMap(tagsInUrl))];
}

/** Whether the message shows code, in which tags may be examples. */
export function hasCode(text: string, facts: HtmlFacts | null): boolean {
  const elements = ['pre', 'code', 'samp', 'kbd', 'textarea'];
  return (
    elements.some((name) => Object.hasOwn(facts?.elements ?? {}, name)) ||
    /^[ \t]{0,3}```/m.test(text)
  );
}

const tagsInPlainText = (text: string): string[] =>
  MAY_HAVE_TAGS.test(text) ? tagsInText(withoutCode(text.replace(URL_PATTERN, ' '))) : [];

/** Removes code from plain text: indented lines and text in backticks. */
const withoutCode = (text: string): string =>
  text.replace(/^(?: {4}|\t).*$/gm, ' ').replace(/`[^`\n]{1,200}`/g, ' ');

/** URLs in text are searched separately, by `tagsInUrl`. */
const URL_PATTERN = /\b(?:https?:\/\/|www\.)[^\s<>"]{1,4000}/gi;

function linkTags(text: string, facts: HtmlFacts | null): string[] {
  const urls = [
    ...(facts?.links ?? []).map(({ href }) => href),
    ...((MAY_HAVE_TAGS.test(text) ? text.match(URL_PATTERN) : null) ?? []),
  ];
  return [...new Set(urls.slice(0, MAX_URLS).flatMap(tagsInUrl))];
}

function reportUnfilled(found: Map<Place, string[]>, places: Place[]) {
  const all = [...new Set([...found.values()].flat())];
  const isVisible = places.some((place) => !URL_PLACES.includes(place));
  const first = found.get(places[0]!)![0]!;
  const evidence = Object.fromEntries(
    places.map((place) => [
      place.replaceAll(' ', '_').toLowerCase(),
      found
        .get(place)!
        .slice(0, MAX_TAGS_SHOWN)
        .map((tag) => tag.slice(0, 100)),
    ]),
  );
  const more = all.length > 1 ? `, and ${all.length - 1} more` : '';
  const where = `Found in: ${places.join(', ')}.`;
  const fix = `Check the field names in your template, and set a default value for recipients without one. Start with ${all.slice(0, 3).join(', ').slice(0, 200)}.`;
  if (!isVisible)
    return fail({
      title: `Your ${places[0]} contain an unfilled merge tag: ${first.slice(0, 60)}${more}.`,
      detail: `Such an address opens the wrong page or does not work. ${where}`,
      fix,
      evidence,
    });
  return fail({
    title: `Your message shows an unfilled merge tag: ${first.slice(0, 60)}${more}.`,
    detail: `Recipients see that it is a mass mailing and treat it as spam. ${where}`,
    fix,
    evidence,
  });
}

// The syntax of merge tags in common email services and template languages.

/** A field name: `first_name`, `contact.FirstName`. */
const NAME = '[\\p{L}_][\\p{L}\\p{N}_.-]{0,60}';
/** Names that count as fields even between ambiguous delimiters such as single brackets. */
const PERSON =
  '(?:(?:first|last|full|user|your|recipient|customer|contact|company|business)[ _-]?name|fname|lname)';
const FIELD = `(?:${PERSON}|email(?:[ _-]?address)?|unsubscribe(?:[ _-]?(?:link|url))?)`;

const anyOf = (...patterns: string[]): RegExp => new RegExp(patterns.join('|'), 'giu');

/**
 * All repetitions are bounded, so that no text can make them slow. Each pattern starts with characters
 * that are rare in normal text, or allows only a few names or upper-case names.
 */
const TAGS = anyOf(
  // Handlebars, Liquid, Mustache, Jinja: {{name}}, {{{name}}}, {{ name | default: "x" }}, {{#if name}}.
  `\\{\\{\\{?[ \\t]{0,5}[#/^&>~]?[ \\t]{0,5}${NAME}(?:[ \\t]{1,3}${NAME}){0,3}[ \\t]{0,5}(?:\\|[^{}\\n]{0,80})?\\}\\}\\}?`,
  '\\{%-?[ \\t]{0,5}(?:if|elsif|elif|else|endif|unless|endunless|for|endfor|case|when|endcase|assign|set)\\b[^{}%\\n]{0,100}%\\}',
  // Mailchimp.
  '\\*\\|[A-Z][A-Z0-9_:. -]{0,60}\\|\\*',
  // Salesforce: %%FirstName%%, %%=v(@name)=%%.
  '(?<![\\p{N}%])%%=?[ \\t]?[\\p{L}_@][\\p{L}\\p{N}_@.() -]{0,60}=?%%',
  // ERB, EJS, ASP: <%= name %>.
  '<%=?[ \\t]{0,5}[\\p{L}_@$][^%<>\\n]{0,80}%>',
  // JSP, Velocity, Freemarker, template strings.
  `\\$\\{[ \\t]{0,3}${NAME}(?:\\[[^\\]\\n]{0,40}\\])?(?:![^{}\\n]{0,40})?[ \\t]{0,3}\\}`,
  `(?<!#)##${NAME}##(?!#)`,
  `\\[\\[[ \\t]{0,3}(?:data:)?(?:${FIELD}|[a-z]{1,30}_[a-z_]{1,30})[ \\t]{0,3}\\]\\]`,
  `[[{«][ \\t]{0,3}${PERSON}[ \\t]{0,3}[\\]}»]`,
  `(?<![\\p{L}\\p{N}%])%${FIELD}%(?![\\p{L}\\p{N}%])`,
);

/** %FIRSTNAME% or %first_name%, but not after a digit, where % is a percent sign. */
const PERCENT =
  /(?<![\p{L}\p{N}%])%(?:[A-Z][A-Z0-9_]{2,40}|[a-z]{1,30}_[a-z_]{1,40})%(?![\p{L}\p{N}%])/gu;
/** Windows environment variables, which instructions may mention. */
const WINDOWS =
  /^%(?:APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES|PROGRAMW6432|COMMONPROGRAMFILES|SYSTEMROOT|SYSTEMDRIVE|WINDIR|TEMP|TMP|PATH|PATHEXT|COMSPEC|USERPROFILE|USERNAME|USERDOMAIN|COMPUTERNAME|HOMEDRIVE|HOMEPATH|PUBLIC|ALLUSERSPROFILE)%$/;
/** Shell variables, which are not merge tags. */
const SHELL = /^\$\{(?:HOME|PATH|USER|PWD|SHELL|LANG|EDITOR|TERM|\w{0,20}_(?:HOME|PATH|DIR))\}$/;

/** The characters that every tag has, so that most texts need only one search. */
const MAY_HAVE_TAGS = /[{[«%]|\*\||##/;

/** Limits per text: characters that are searched, and tags that are kept. */
const MAX_TEXT = 1_000_000;
const MAX_TAGS = 50;

/** The distinct tags in visible text, in order; at most 50. */
export function tagsInText(text: string): string[] {
  if (!MAY_HAVE_TAGS.test(text)) return [];
  const searched = text.slice(0, MAX_TEXT);
  const found = new Set<string>();
  for (const pattern of [TAGS, PERCENT])
    for (const [tag] of searched.matchAll(pattern)) {
      if (WINDOWS.test(tag) || SHELL.test(tag)) continue;
      found.add(tag);
      if (found.size >= MAX_TAGS) break;
    }
  return [...found];
}

/**
 * The distinct tags in a URL. The brackets and bars of tags are decoded first; any other
 * percent-encoded octet becomes a space, so that it is not read as a tag.
 */
export function tagsInUrl(url: string): string[] {
  if (!MAY_HAVE_TAGS.test(url)) return [];
  const decoded = url
    .slice(0, 4000)
    .replace(/%(?:7[bcd]|5[bd]|2a|24|3[ce])/gi, (code) => decodeURIComponent(code))
    .replace(/%[0-9a-f]{2}/gi, ' ');
  return tagsInText(decoded);
}
