/** `client_support`: which HTML and CSS of the message large mail programs lack. */

import { type Check, type Context, type Finding, info, skipped } from '../check.ts';
import { CLIENT_SUPPORT_UPDATED, CLIENTS, FEATURES } from './client-support.generated.ts';
import { cssSigns } from './css-signs.ts';
import { type HtmlFacts, htmlFacts } from './html-facts.ts';

const FEATURES_SHOWN = 20;

/**
 * Tells no points: that Outlook has no rounded corners harms nobody. Features that all the programs
 * have, or have in part, are not in the table.
 */
export const clientSupport: Check = {
  id: 'client_support',
  category: 'content',
  points: 0,
  label: 'Support in mail programs',
  reference: { name: 'Can I email', url: 'https://www.caniemail.com/' },
  run(context) {
    const facts = context.fact(htmlFacts);
    if (facts === null)
      return skipped('There is no HTML to look at.', 'Your message is plain text.');
    const { signs, truncated } = signsOf(context, facts);
    const lacking = FEATURES.filter(([, , wanted]) => wanted.some((sign) => signs.has(sign)));
    return describe(lacking, truncated);
  },
};

type Feature = (typeof FEATURES)[number];

const KNOWN_SIGNS = new Set(FEATURES.flatMap(([, , signs]) => signs));

/** The signs of the table that are in the message. */
function signsOf({ message }: Context, facts: HtmlFacts) {
  const signs = new Set<string>();
  const add = (sign: string) => void (KNOWN_SIGNS.has(sign) && signs.add(sign));
  for (const name of Object.keys(facts.elements)) add(`<${name}>`);
  for (const name of Object.keys(facts.attributes)) add(name.slice(name.indexOf('[')));
  for (const { href } of facts.links) if (/^#./.test(href)) add('link #');
  const types = new Map(message.parts.map(({ contentId, type }) => [contentId, type]));
  for (const { src } of facts.images) add(`image ${imageFormat(src, types)}`);
  const more = cssSigns(facts.styleSheet, facts.inlineStyles, add);
  return { signs, truncated: more || facts.truncated };
}

const FORMATS: Record<string, string> = {
  'svg+xml': 'svg',
  'x-icon': 'ico',
  'vnd.microsoft.icon': 'ico',
  tif: 'tiff',
};

/** By the type of the part that `cid:` names, or by the ending of the address. */
function imageFormat(src: string, types: Map<string | null, string>): string {
  if (/^data:[^,]*;base64/i.test(src)) return 'base64';
  const type = /^cid:/i.test(src) ? types.get(src.slice(4).trim()) : undefined;
  const ending = /\.([a-z0-9]{2,5})(?:[?#]|$)/i.exec(src.slice(0, 2000))?.[1];
  const format = type?.startsWith('image/') ? type.slice(6) : (ending?.toLowerCase() ?? '');
  return FORMATS[format] ?? format;
}

const withLevel = (levels: string, wanted: string): string[] =>
  CLIENTS.filter((_, i) => levels[i] === wanted);

function describe(lacking: Feature[], truncated: boolean): Finding {
  const evidence = { data_of: CLIENT_SUPPORT_UPDATED, clients: CLIENTS };
  const rest = truncated ? ' There is more HTML or CSS than is looked at.' : '';
  if (lacking.length === 0)
    return info(
      'The large mail programs have all the HTML and CSS that your message uses.',
      `As far as the tests of Can I email know them.${rest}`,
      evidence,
    );
  const worst = lacking.toSorted(([, , , a], [, , , b]) => weight(b) - weight(a));
  const [, title, , levels] = worst[0]!;
  const one = lacking.length === 1;
  return info(
    `Your message uses ${lacking.length} HTML or CSS feature${one ? '' : 's'} that not all large mail programs have.`,
    `Where one is missing, your message is shown without it, so look whether it reads well all the same. ${one ? 'It is' : 'Missing in most of them:'} ${title} (not in ${withLevel(levels, 'n').join(', ')}).${rest}`,
    {
      ...evidence,
      features_used: lacking.length,
      features: worst.slice(0, FEATURES_SHOWN).map(toEvidence),
    },
  );
}

/** By how many programs lack it, then by how many have it in part. */
const weight = (levels: string): number =>
  withLevel(levels, 'n').length * 100 + withLevel(levels, 'a').length;

const toEvidence = ([slug, title, , levels]: Feature) => ({
  feature: title,
  missing_in: withLevel(levels, 'n'),
  partly_in: withLevel(levels, 'a'),
  url: `https://www.caniemail.com/features/${slug}/`,
});
