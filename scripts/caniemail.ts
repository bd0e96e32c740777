/** Generates the table of features that popular email clients do not support, from the caniemail data. */

import { readFileSync } from 'node:fs';

const PACKAGE = new URL('../node_modules/caniemail/', import.meta.url);

/** The name of an email client in the table, and its family and platform in the data. */
const CLIENTS: [name: string, family: string, platform: string][] = [
  ['Gmail', 'gmail', 'desktop-webmail'],
  ['Gmail for Android', 'gmail', 'android'],
  ['Outlook for Windows', 'outlook', 'windows'],
  ['Outlook.com', 'outlook', 'outlook-com'],
  ['Apple Mail', 'apple-mail', 'macos'],
  ['Apple Mail for iOS', 'apple-mail', 'ios'],
  ['Yahoo', 'yahoo', 'desktop-webmail'],
  ['Thunderbird', 'thunderbird', 'macos'],
  ['Samsung Email', 'samsung-email', 'android'],
];

interface Feature {
  slug: string;
  title: string;
  category: string;
  keywords: string | null;
  /** By family, platform and version, oldest first: `y`, `a #1` (partial), `n`, `u` (unknown). */
  stats: Record<string, Record<string, Record<string, string>>>;
}

/** Features that leave no sign in the inspected parts, or whose absence does no harm. */
const IGNORED = new Set([
  'amp',
  'bimi',
  'css-comments',
  'html-comments',
  'html-doctype',
  'image-hdr',
  // These depend on the value of an attribute.
  'html-button-reset',
  'html-meta-color-scheme',
  'html-mailto-links',
  ...['checkbox', 'hidden', 'radio', 'reset', 'submit', 'text'].map((type) => `html-input-${type}`),
  // Clients without it open every link in a new window.
  'html-target',
]);

/**
 * The signs of features that do not follow from their names: `<element>`, `[attribute]`, `property`,
 * `property:word`, `word x`, `function()`, `unit x`, `@rule`, `@media(feature)`, `:pseudo-class`,
 * `::pseudo-element`, `selector x`, `image x`, `link x`.
 */
const SIGNS: Record<string, string> = {
  'css-at-media-device-pixel-ratio':
    '@media(device-pixel-ratio), @media(min-device-pixel-ratio), @media(max-device-pixel-ratio)',
  'css-at-media-hover': '@media(hover), @media(any-hover)',
  'css-at-media-orientation': '@media(orientation)',
  'css-at-media-prefers-color-scheme': '@media(prefers-color-scheme)',
  'css-at-media-prefers-reduced-motion': '@media(prefers-reduced-motion)',
  'css-animation': 'animation, animation-name',
  'css-block-inline-size': 'block-size',
  'css-border-image': 'border-image, border-image-source',
  'css-border-radius-logical':
    'border-start-start-radius, border-start-end-radius, border-end-start-radius, border-end-end-radius',
  'css-border-inline-block-individual':
    'border-inline-color, border-inline-style, border-inline-width, border-block-color, border-block-style, border-block-width',
  'css-border-inline-block-longhand':
    'border-inline-start, border-inline-end, border-block-start, border-block-end, border-inline-start-color, border-inline-end-color, border-block-start-color, border-block-end-color',
  'css-border-inline-block': 'border-inline, border-block',
  'css-column-layout-properties': 'columns, column-fill, column-rule, column-span, column-width',
  'css-display-flex': 'display:flex, display:inline-flex',
  'css-display-grid': 'display:grid, display:inline-grid',
  'css-display-none': 'display:none',
  'css-gap': 'gap, column-gap, row-gap',
  'css-grid-template':
    'grid-template, grid-template-areas, grid-template-columns, grid-template-rows',
  'css-important': 'word !important',
  'css-inert-attribute': '[inert]',
  'css-intrinsic-size': 'word fit-content, word min-content, word max-content',
  'css-left-right-top-bottom': 'left, right, top, bottom',
  'css-margin-block-start-end': 'margin-block-start, margin-block-end',
  'css-margin-inline-block': 'margin-inline, margin-block',
  'css-margin-inline-start-end': 'margin-inline-start, margin-inline-end',
  'css-modern-color': 'lch(), oklch(), lab(), oklab()',
  'css-nesting': 'selector nested',
  'css-padding-block-start-end': 'padding-block-start, padding-block-end',
  'css-padding-inline-block': 'padding-inline, padding-block',
  'css-padding-inline-start-end': 'padding-inline-start, padding-inline-end',
  'css-pseudo-class-lang': ':lang',
  'css-scroll-snap': 'scroll-snap-type, scroll-snap-align',
  'css-selector-adjacent-sibling': 'selector +',
  'css-selector-attribute': 'selector []',
  'css-selector-chaining': 'selector .a.b',
  'css-selector-child': 'selector >',
  'css-selector-class': 'selector .a',
  'css-selector-descendant': 'selector a b',
  'css-selector-general-sibling': 'selector ~',
  'css-selector-grouping': 'selector a,b',
  'css-selector-id': 'selector #',
  'css-selector-type': 'selector a',
  'css-selector-universal': 'selector *',
  'css-sytem-ui':
    'word system-ui, word ui-serif, word ui-sans-serif, word ui-rounded, word ui-monospace',
  'css-transition': 'transition, transition-property',
  'css-unit-calc': 'calc()',
  'css-unit-initial': 'word initial',
  'css-unit-percent': 'unit %',
  'css-variables': '--*, var()',
  'html-address': '<address>',
  'html-anchor-links': 'link #',
  'html-base': '<base>',
  'html-button-submit': '<button>',
  'html-h1-h6': '<h1>, <h2>, <h3>, <h4>, <h5>, <h6>',
  'html-image-maps': '<map>',
  'html-lists': '<ul>, <ol>, <dl>',
  'html-semantics':
    '<article>, <aside>, <details>, <figcaption>, <figure>, <footer>, <header>, <main>, <mark>, <nav>, <section>, <summary>, <time>',
  'html-srcset': '[srcset]',
  'html-svg': '<svg>',
  'image-base64': 'image base64',
  'image-heif': 'image heif, image heic',
  'image-jpg': 'image jpeg',
};

/** The signs in a message that the feature is used; throws for an unknown feature. */
function signsOf({ slug, title }: Feature): string[] {
  const [kind, ...words] = slug.split('-');
  const name = words.join('-');
  if (SIGNS[slug]) return SIGNS[slug].split(', ');
  if (kind === 'image') return [`image ${name}`];
  if (kind === 'html') {
    if (title === `<${name}> element`) return [`<${name}>`];
    if (title.endsWith(' attribute')) return [`[${title.split(' ')[0]}]`];
  }
  if (kind === 'css') {
    if (name.startsWith('at-')) return [`@${name.slice(3)}`];
    if (name.startsWith('pseudo-class-')) return [`:${name.slice(13)}`];
    if (name.startsWith('pseudo-element-')) return [`::${name.slice(15)}`];
    if (name.startsWith('unit-')) return [`unit ${name.slice(5)}`];
    if (title.endsWith('()')) return [title];
    if (title.split(/[ :]/)[0] === name) return [name];
  }
  throw new Error(`caniemail: unknown signs of ${slug} (${title})`);
}

/** The support level in the newest tested version. */
function levelOf({ stats }: Pick<Feature, 'stats'>, family: string, platform: string): string {
  const newest = Object.values(stats[family]?.[platform] ?? {}).at(-1);
  return newest?.charAt(0) ?? 'u';
}

/** The percent of all tested clients, in their newest versions, with full and with partial support. */
function shares({ stats }: Feature): [full: number, partial: number] {
  const levels = Object.entries(stats)
    .flatMap(([family, platforms]) => Object.keys(platforms).map((name) => [family, name] as const))
    .map(([family, platform]) => levelOf({ stats }, family, platform))
    .filter((level) => level !== 'u');
  const percent = (wanted: string) =>
    Math.round((100 * levels.filter((level) => level === wanted).length) / levels.length);
  return [percent('y'), percent('a')];
}

/** The text of `src/analysis/html/client-support.generated.ts`: features that at least one client lacks. */
export function clientSupportModule(): string {
  const read = (path: string) => readFileSync(new URL(path, PACKAGE), 'utf8');
  const data: { last_update_date: string; data: Feature[] } = JSON.parse(
    read('data/caniemail.json'),
  );
  const rows = data.data
    .filter(({ slug }) => !IGNORED.has(slug))
    .map((feature) => ({
      ...feature,
      signs: signsOf(feature),
      levels: CLIENTS.map(([, family, platform]) => levelOf(feature, family, platform)).join(''),
    }))
    .filter(({ levels }) => levels.includes('n'))
    .map((feature) => {
      const { slug, title, signs, levels } = feature;
      return JSON.stringify([slug, title.trim(), signs, levels, ...shares(feature)]);
    });
  const license = read('LICENSE').trim().replace(/^/gm, ' * ').replace(/ +$/gm, '');
  return `/**
 * Features that popular email clients lack, from the data of caniemail.com. Generated by
 * \`npm run generate\`; do not edit.
 *
${license}
 */

/** The date of the data. */
export const CLIENT_SUPPORT_UPDATED = '${data.last_update_date.slice(0, 10)}';

export const CLIENTS = ${JSON.stringify(CLIENTS.map(([name]) => name))};

/**
 * Slug at caniemail.com, title, signs of the feature in a message, a letter for each of CLIENTS
 * (y supported, a partly supported, n not supported, u unknown), and the percent of all clients tested
 * there that support it in full and in part.
 */
export const FEATURES: readonly (readonly [
  string,
  string,
  readonly string[],
  string,
  number,
  number,
])[] = [
  ${rows.join(',\n  ')},
];
`;
}
