/** `client_support`: HTML and CSS in the message that major email clients do not support. */

import { type Check, type Context, type Finding, info, skipped } from '../check.ts';
import { CLIENT_SUPPORT_UPDATED, CLIENTS, FEATURES } from '../html/client-support.generated.ts';
import { type HtmlFacts, htmlFacts } from '../html/facts.ts';
import {
  ANCHOR_MARKER,
  attributeMarker,
  collectCssMarkers,
  elementMarker,
  imageMarker,
  isAnchorLink,
  KNOWN_MARKERS,
} from '../html/feature-markers.ts';

const MAX_SHOWN = 20;

/**
 * Scores no points: most gaps are cosmetic, such as square corners. The table omits features
 * that every client supports at least in part.
 */
export const clientSupport: Check = {
  id: 'client_support',
  category: 'content',
  points: 0,
  label: 'Email client support',
  reference: { name: 'Can I email', url: 'https://www.caniemail.com/' },
  publicEvidence: {
    data_of: 'shown',
    clients: 'shown',
    features_used: 'shown',
    features: { feature: 'shown', missing_in: 'shown', partly_in: 'shown', url: 'our-page' },
  },
  run(context) {
    const facts = context.fact(htmlFacts);
    if (facts === null)
      return skipped('Your message has no HTML.', 'Not checked: the message has no HTML part.');
    const { markers, truncated } = collectMarkers(context, facts);
    const unsupported = FEATURES.filter(([, , featureMarkers]) =>
      featureMarkers.some((marker) => markers.has(marker)),
    );
    return evaluateFeatures(unsupported, truncated);
  },
};

type Feature = (typeof FEATURES)[number];

/** The markers of the table that occur in the message. */
function collectMarkers({ message }: Context, facts: HtmlFacts) {
  const markers = new Set<string>();
  const add = (marker: string) => void (KNOWN_MARKERS.has(marker) && markers.add(marker));
  for (const name of Object.keys(facts.elements)) add(elementMarker(name));
  for (const name of Object.keys(facts.attributes))
    add(attributeMarker(name.slice(name.indexOf('[') + 1, -1)));
  for (const { href } of facts.links) if (isAnchorLink(href)) add(ANCHOR_MARKER);
  const types = new Map(message.parts.map(({ contentId, type }) => [contentId, type]));
  for (const { src } of facts.images) add(imageMarker(src, (id) => types.get(id)));
  const isCssTruncated = collectCssMarkers(facts.styleSheet, facts.inlineStyles, add);
  return { markers, truncated: isCssTruncated || facts.truncated };
}

const clientsWithLevel = (levels: string, level: string): string[] =>
  CLIENTS.filter((_, i) => levels[i] === level);

function evaluateFeatures(unsupported: Feature[], truncated: boolean): Finding {
  const evidence = { data_of: CLIENT_SUPPORT_UPDATED, clients: CLIENTS };
  const truncationNote = truncated ? ' Your HTML or CSS is too long to check in full.' : '';
  if (unsupported.length === 0)
    return info(
      'All major email clients support the HTML and CSS in your message.',
      `This is based on test results from Can I email.${truncationNote}`,
      evidence,
    );
  const worst = unsupported.toSorted(([, , , a], [, , , b]) => weight(b) - weight(a));
  const [, title, , levels] = worst[0]!;
  const isSingle = unsupported.length === 1;
  return info(
    `Your message uses ${unsupported.length} HTML or CSS feature${isSingle ? '' : 's'} that not all major email clients support.`,
    `Check that your message still reads well without ${isSingle ? 'it' : 'them'}. ${isSingle ? 'Feature' : 'Least supported feature'}: ${title} (not supported in ${clientsWithLevel(levels, 'n').join(', ')}).${truncationNote}`,
    {
      ...evidence,
      features_used: unsupported.length,
      features: worst.slice(0, MAX_SHOWN).map(toEvidence),
    },
  );
}

/** Sorts by the number of clients without support, then by those with partial support. */
const weight = (levels: string): number =>
  clientsWithLevel(levels, 'n').length * 100 + clientsWithLevel(levels, 'a').length;

const toEvidence = ([slug, title, , levels]: Feature) => ({
  feature: title,
  missing_in: clientsWithLevel(levels, 'n'),
  partly_in: clientsWithLevel(levels, 'a'),
  url: `https://www.caniemail.com/features/${slug}/`,
});
