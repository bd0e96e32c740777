/** `merge_tags`: placeholders such as `{{name}}` that were not filled in. */

import { type Check, type Context, fail, pass, unknown, warn } from '../check.ts';
import { type HtmlFacts, htmlFacts } from '../html/facts.ts';

type Place = 'subject' | 'preheader' | 'HTML' | 'text part' | 'links';

const TAGS_SHOWN = 10;
const MAX_ADDRESSES = 2000;

/**
 * Fails where people read it, warns where it is only in addresses. A message that shows code, in
 * `pre` or `code` elements or between fences, is judged by its subject, preheader and addresses
 * alone: in such a text a placeholder may be the very thing it speaks of.
 */
export const mergeTags: Check = {
  id: 'merge_tags',
  category: 'content',
  points: 2,
  label: 'Merge tags',
  issueTitle: 'Placeholders were not filled in',
  reference: {
    name: 'Mailchimp: merge tags',
    url: 'https://mailchimp.com/help/all-the-merge-tags-cheat-sheet/',
  },
  publicEvidence: {
    subject: 'shown',
    preheader: 'shown',
    html: 'shown',
    text_part: 'shown',
    links: 'shown',
  },
  run(context) {
    const { message } = context;
    const facts = context.fact(htmlFacts);
    const found = tagsByPlace(context, facts);
    const places = [...found.keys()];
    if (places.length > 0) return unfilled(found, places);
    const cut = facts?.truncated || (message.text?.length ?? 0) > MAX_TEXT;
    if (cut || message.limits.length > 0)
      return unknown(
        'Not all of your message could be searched for merge tags.',
        `There was none in what was looked at; your message has ${message.limits.join('; ') || 'more text than that'}.`,
      );
    return pass(
      'Your message has no merge tags left.',
      'Every placeholder that your mailing program fills in has been filled in.',
    );
  },
};

function tagsByPlace({ message }: Context, facts: HtmlFacts | null): Map<Place, string[]> {
  const text = (message.text ?? '').slice(0, MAX_TEXT);
  const preheader = (facts?.hidden ?? []).filter((hidden) => hidden.preheader);
  const showsCode = hasCode(text, facts);
  const found: [Place, string[]][] = [
    ['subject', tagsInText(message.subject ?? '')],
    ['preheader', tagsInText(preheader.map((hidden) => hidden.text).join('\n'))],
    ['HTML', showsCode ? [] : tagsInText(facts?.text ?? '')],
    ['text part', showsCode ? [] : tagsInText(withoutCode(text.replace(ADDRESS, ' ')))],
    ['links', linkTags(text, facts)],
  ];
  return new Map(found.filter(([, tags]) => tags.length > 0));
}

function hasCode(text: string, facts: HtmlFacts | null): boolean {
  const elements = ['pre', 'code', 'samp', 'kbd', 'textarea'];
  return (
    elements.some((name) => Object.hasOwn(facts?.elements ?? {}, name)) ||
    /^[ \t]{0,3}```/m.test(text)
  );
}

/** Without lines that are set in and without what stands in backquotes, as code does in plain text. */
const withoutCode = (text: string): string =>
  text.replace(/^(?: {4}|\t).*$/gm, ' ').replace(/`[^`\n]{1,200}`/g, ' ');

/** Addresses in text have rules of their own. */
const ADDRESS = /\b(?:https?:\/\/|www\.)[^\s<>"]{1,4000}/gi;

function linkTags(text: string, facts: HtmlFacts | null): string[] {
  const addresses = [
    ...(facts?.links ?? []).map(({ href }) => href),
    ...(text.match(ADDRESS) ?? []),
  ];
  return [...new Set(addresses.slice(0, MAX_ADDRESSES).flatMap(tagsInAddress))];
}

function unfilled(found: Map<Place, string[]>, places: Place[]) {
  const all = [...new Set([...found.values()].flat())];
  const readByPeople = places.some((place) => place !== 'links');
  const first = found.get(places[0]!)![0]!;
  const evidence = Object.fromEntries(
    places.map((place) => [
      place.replace(' ', '_').toLowerCase(),
      found
        .get(place)!
        .slice(0, TAGS_SHOWN)
        .map((tag) => tag.slice(0, 100)),
    ]),
  );
  const more = all.length > 1 ? `, and ${all.length - 1} more` : '';
  const where = `Found in: ${places.join(', ')}.`;
  const fix = `Check the names of the fields in your template, and give each a value for recipients without one. Begin with ${all.slice(0, 3).join(', ').slice(0, 200)}.`;
  if (!readByPeople)
    return warn({
      title: `Your links hold a placeholder that was not filled in: ${first.slice(0, 60)}${more}.`,
      detail: `Such a link leads to the wrong page or nowhere. ${where}`,
      fix,
      evidence,
    });
  return fail({
    title: `Your message shows a placeholder that was not filled in: ${first.slice(0, 60)}${more}.`,
    detail: `Readers see that the mail was made for many and take it for spam. ${where}`,
    fix,
    evidence,
  });
}

// What placeholders of mailing programs look like where nothing was filled in.

/** A name as people give fields: `first_name`, `contact.FirstName`. */
const NAME = '[\\p{L}_][\\p{L}\\p{N}_.-]{0,60}';
/** Names that are fields even between signs that mean nothing by themselves. */
const PERSON =
  '(?:(?:first|last|full|user|your|recipient|customer|contact|company|business)[ _-]?name|fname|lname)';
const FIELD = `(?:${PERSON}|email(?:[ _-]?address)?|unsubscribe(?:[ _-]?(?:link|url))?)`;

const either = (...patterns: string[]): RegExp => new RegExp(patterns.join('|'), 'giu');

/**
 * All bounded, so that no text makes them slow. Each begins with signs that are rare in honest text;
 * where they are not, the name is one of a few or all in capitals.
 */
const TAGS = either(
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

/** %FIRSTNAME% or %first_name%: not after a digit, where it is a percentage. */
const PERCENT =
  /(?<![\p{L}\p{N}%])%(?:[A-Z][A-Z0-9_]{2,40}|[a-z]{1,30}_[a-z_]{1,40})%(?![\p{L}\p{N}%])/gu;
/** Variables of Windows, which instructions may name. */
const WINDOWS =
  /^%(?:APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES|PROGRAMW6432|COMMONPROGRAMFILES|SYSTEMROOT|SYSTEMDRIVE|WINDIR|TEMP|TMP|PATH|PATHEXT|COMSPEC|USERPROFILE|USERNAME|USERDOMAIN|COMPUTERNAME|HOMEDRIVE|HOMEPATH|PUBLIC|ALLUSERSPROFILE)%$/;
/** Variables of shells, which are no fields of a mailing list. */
const SHELL = /^\$\{(?:HOME|PATH|USER|PWD|SHELL|LANG|EDITOR|TERM|\w{0,20}_(?:HOME|PATH|DIR))\}$/;

/** As much of a text as is looked at, in characters, and tags that are kept of it. */
const MAX_TEXT = 1_000_000;
const MAX_TAGS = 50;

/** The different tags in a text that people read, in their order; at most 50. */
function tagsInText(text: string): string[] {
  const cut = text.slice(0, MAX_TEXT);
  const found = new Set<string>();
  for (const pattern of [TAGS, PERCENT])
    for (const [tag] of cut.matchAll(pattern)) {
      if (WINDOWS.test(tag) || SHELL.test(tag)) continue;
      found.add(tag);
      if (found.size >= MAX_TAGS) break;
    }
  return [...found];
}

/**
 * The same in an address, where `%20` is a space: the brackets and bars of tags are decoded, and what
 * could be a percent-encoded octet is no tag.
 */
function tagsInAddress(address: string): string[] {
  const decoded = address
    .slice(0, 4000)
    .replace(/%(?:7[bcd]|5[bd]|2a|24|3[ce])/gi, (code) => decodeURIComponent(code))
    .replace(/%[0-9a-f]{2}/gi, ' ');
  return tagsInText(decoded);
}
