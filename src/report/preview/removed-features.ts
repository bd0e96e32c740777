/** Collects what a mail client removes from a message: which features, where, and who else lacks them. */

import { CLIENTS, FEATURES } from '../../analysis/html/client-support.generated.ts';
import { truncate } from '../../lib/format/plain-text.ts';
import { type PreviewClient, tableIndex } from './clients.ts';

export interface RemovedFeature {
  /** The name at caniemail.com, or of one of the rules below. */
  slug: string;
  title: string;
  /** Where the public source describes it. */
  url: string;
  /** The first places, with the line in the HTML part as decoded. */
  places: { line: number; text: string }[];
  count: number;
  /** The clients of the table that lack it. */
  missingIn: string[];
  /** The percent of the clients tested by caniemail.com; null for rules that it does not test. */
  support: { full: number; partial: number } | null;
}

export type FeatureInfo = Omit<RemovedFeature, 'places' | 'count'>;

const GMAIL_CLIENTS = ['Gmail', 'Gmail for Android'];

/** What clients do that the table of caniemail.com does not say. */
export const RULES = {
  // The author of caniemail, in its issue 144: with more than 16 KB of CSS rules, "the style tags that
  // reach this overall limit will be removed". Also email-bugs issue 90.
  styleLimit: {
    slug: 'gmail-style-limit',
    title: 'Styles over 16 KB',
    url: 'https://github.com/hteumeuleu/email-bugs/issues/90',
    missingIn: GMAIL_CLIENTS,
    support: null,
  },
  // "If Gmail sees an @ within a @ rule, it will strip the entire style tag" (the same issue 144). The
  // same happens where braces do not match.
  unreadableStyle: {
    slug: 'gmail-unreadable-style',
    title: 'Style element with an at-rule in an at-rule, or with unmatched braces',
    url: 'https://github.com/hteumeuleu/caniemail/issues/144',
    missingIn: GMAIL_CLIENTS,
    support: null,
  },
  // A note of caniemail.com on its feature `html-style`.
  styleInBody: {
    slug: 'gmail-style-in-body',
    title: 'Style element in the body',
    url: 'https://www.caniemail.com/features/html-style/',
    missingIn: GMAIL_CLIENTS,
    support: null,
  },
  // Outlook for Windows draws all of it.
  vml: {
    slug: 'vml',
    title: 'VML (the preview draws only rectangles)',
    url: 'https://learn.microsoft.com/en-us/windows/win32/vml/web-workshop---specs---standards----introduction-to-vector-markup-language--vml-',
    missingIn: [],
    support: null,
  },
} satisfies Record<string, FeatureInfo>;

/** The features that a client lacks, by each of their markers. */
export function lackedFeatures(client: PreviewClient): ReadonlyMap<string, FeatureInfo> {
  const cached = cache.get(client.id);
  if (cached) return cached;
  const index = tableIndex(client);
  const lacked = new Map<string, FeatureInfo>();
  for (const [slug, title, markers, levels, full, partial] of FEATURES) {
    if (levels[index] !== 'n') continue;
    const feature: FeatureInfo = {
      slug,
      title,
      url: `https://www.caniemail.com/features/${slug}/`,
      missingIn: CLIENTS.filter((_, i) => levels[i] === 'n'),
      support: { full, partial },
    };
    for (const marker of markers) lacked.set(marker, feature);
  }
  cache.set(client.id, lacked);
  return lacked;
}

const cache = new Map<string, ReadonlyMap<string, FeatureInfo>>();

export interface RemovedCollector {
  /** `position` in the HTML; `text` is what stood there. */
  add(feature: FeatureInfo, position: number, text: string): void;
  /** In the order of their first places. */
  list(): RemovedFeature[];
}

const MAX_PLACES = 5;
const MAX_TEXT = 120;

export function collectRemoved(lineAt: (position: number) => number): RemovedCollector {
  const features = new Map<string, RemovedFeature>();
  return {
    add(feature, position, text) {
      let removed = features.get(feature.slug);
      if (!removed) {
        removed = { ...feature, places: [], count: 0 };
        features.set(feature.slug, removed);
      }
      removed.count += 1;
      if (removed.places.length < MAX_PLACES)
        removed.places.push({ line: lineAt(position), text: excerpt(text) });
    },
    list: () => [...features.values()],
  };
}

// Cut first: an attribute can have megabytes.
const excerpt = (text: string): string => truncate(text.slice(0, 1000), MAX_TEXT);

/** Returns the 1-based line of a position. */
export function lineFinder(html: string): (position: number) => number {
  let breaks: number[] | null = null;
  return (position) => {
    if (breaks === null) {
      breaks = [];
      for (let i = html.indexOf('\n'); i >= 0; i = html.indexOf('\n', i + 1)) breaks.push(i);
    }
    let low = 0;
    let high = breaks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (breaks[middle]! < position) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}
