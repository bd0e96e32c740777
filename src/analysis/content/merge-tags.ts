/** `merge_tags`: placeholders such as `{{name}}` that were not filled in. */

import { type Check, type Context, fail, pass, unknown, warn } from '../check.ts';
import { type HtmlFacts, htmlFacts } from './html-facts.ts';
import { MAX_TEXT, tagsInAddress, tagsInText } from './merge-tag-patterns.ts';

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
  reference: {
    name: 'Mailchimp: merge tags',
    url: 'https://mailchimp.com/help/all-the-merge-tags-cheat-sheet/',
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
