/** Computes whether readers see an element, from its own style and what it inherits. */

import {
  type Declarations,
  INLINE,
  mergeDeclarations,
  type ReadonlyDeclarations,
  readStyleAttribute,
} from './css.ts';
import type { StyleSheet, Styles } from './style-sheet.ts';
import type { Attributes } from './tokens.ts';
import {
  BACKGROUNDS,
  backgroundOf,
  type Color,
  colorOf,
  type Hiding,
  hidingOf,
  isFarIndent,
  isSameColor,
  MAX_COLOR_LENGTH,
  readLength,
  type ValueOf,
} from './visibility.ts';

export interface ComputedStyle {
  /** Why the element and everything in it is hidden, whatever its children declare; null if it is not. */
  boxHiddenBy: string | null;
  /** Its content is not readable text: `title`, `script`, `template`. */
  hasNoText: boolean;
  /** Only some readers see it, for example on small screens, in dark mode, or after a click. */
  partial: boolean;
  invisible: boolean;
  /** In pixels. */
  fontSize: number;
  farIndent: boolean;
  color: Color;
  background: Color;
  /** Why its text is hidden, considering everything above; null if it is visible. */
  textHiddenBy: string | null;
  /** The same object for everything that one cause hides. */
  cause: object | null;
}

/** An element without any style, on a background of unknown color. */
const DEFAULT_STYLE: ComputedStyle = {
  boxHiddenBy: null,
  hasNoText: false,
  partial: false,
  invisible: false,
  fontSize: 16,
  farIndent: false,
  color: null,
  background: null,
  textHiddenBy: null,
  cause: null,
};

const WITHOUT_TEXT = new Set(
  'title script style template iframe noembed noframes datalist desc metadata'.split(' '),
);

/** The default background of an email. */
const WHITE = 0xffffff;

/** Declarations evaluated per message. */
const MAX_WORK = 1_000_000;
/** The cost of a computed style without declarations. */
const WORK_PER_STYLE = 5;

/** Limits of the cache of parsed `style` attributes, so that a message cannot exhaust the memory. */
const MAX_CACHED_ATTRIBUTES = 2000;
const MAX_CACHED_ATTRIBUTE_LENGTH = 1000;

interface ComputedStyleReader {
  /** The style of text outside all elements. */
  document: ComputedStyle;
  /** The computed style of an element. Returns the parent's object if nothing changes. */
  styleOf(parent: ComputedStyle, tag: string, attributes: Attributes): ComputedStyle;
  /** The work limit is exceeded: the last style returned may be wrong. */
  isOverLimit(): boolean;
}

/** Creates a reader of computed styles for a style sheet. */
export function computedStyleReader(sheet: StyleSheet): ComputedStyleReader {
  const readStyle = cachedStyleReader();
  let work = MAX_WORK;
  const cache = computedStyleCache((parent, tag, attributes, styles, inlineStyle) => {
    work -= declarationCount(styles, inlineStyle) + WORK_PER_STYLE;
    return work < 0 ? parent : computeStyle(parent, tag, attributes, styles, inlineStyle);
  });
  const of = (parent: ComputedStyle, tag: string, attributes: Attributes): ComputedStyle => {
    const styles = sheet.stylesOf(tag, attributes);
    const style = attributes.get('style');
    const inlineStyle = style ? readStyle(style) : NO_DECLARATIONS;
    const isPlain = declarationCount(styles, inlineStyle) === 0;
    if (isPlain && !changesWithoutDeclarations(parent, tag, attributes)) return parent;
    return cache.get(parent, tag, attributes, styles, inlineStyle);
  };
  return {
    document: documentStyle(sheet, of),
    styleOf: of,
    isOverLimit: () => work < 0 || sheet.isOverLimit(),
  };
}

/** White, unless rules for `html` or `body` set another color. They apply even if the tags are missing. */
function documentStyle(sheet: StyleSheet, of: ComputedStyleReader['styleOf']): ComputedStyle {
  const noAttributes: Attributes = new Map();
  const canvas: ComputedStyle = { ...DEFAULT_STYLE, background: sheet.complete ? WHITE : null };
  return {
    ...canvas,
    background: of(of(canvas, 'html', noAttributes), 'body', noAttributes).background,
  };
}

const NO_DECLARATIONS: ReadonlyDeclarations = new Map();

const declarationCount = (
  { certain, possible, conditional }: Styles,
  inlineStyle: ReadonlyDeclarations,
): number => certain.size + possible.size + conditional.size + inlineStyle.size;

/** The style of an element in `parent`, with what style sheets and its own attribute declare. */
type StyleFunction = (
  parent: ComputedStyle,
  tag: string,
  attributes: Attributes,
  styles: Styles,
  inlineStyle: ReadonlyDeclarations,
) => ComputedStyle;

function computeStyle(
  parent: ComputedStyle,
  tag: string,
  attributes: Attributes,
  { certain, possible, conditional }: Styles,
  style: ReadonlyDeclarations,
): ComputedStyle {
  const declared = mergeInline(certain, style);
  const computed = inherit(parent, tag, attributes, declared, possible);
  if (
    BACKGROUNDS.some(
      (name) => mayWin(name, possible, declared) || mayWin(name, conditional, declared),
    )
  )
    computed.background = null;
  const boxHiding = hidingOf(tag, declared) ?? hidingAttribute(attributes, declared);
  return applyHiding(parent, computed, boxHiding, (hiding) =>
    [possible, conditional].some((other) => isShownBy(other, hiding, declared)),
  );
}

function mergeInline(
  certain: ReadonlyDeclarations,
  inlineStyle: ReadonlyDeclarations,
): ReadonlyDeclarations {
  if (inlineStyle.size === 0) return certain;
  if (certain.size === 0) return inlineStyle;
  const declared: Declarations = new Map(certain);
  mergeDeclarations(declared, inlineStyle);
  return declared;
}

function changesWithoutDeclarations(
  parent: ComputedStyle,
  tag: string,
  attributes: Attributes,
): boolean {
  if (WITHOUT_TEXT.has(tag) || (tag === 'a' && parent.color !== null)) return true;
  return STYLE_ATTRIBUTES.some((name) => attributes.has(name));
}

const STYLE_ATTRIBUTES = ['hidden', 'bgcolor', 'background', 'color', 'text'];

/** The inherited and declared properties, without `boxHiddenBy`, `textHiddenBy` and `cause`. */
function inherit(
  parent: ComputedStyle,
  tag: string,
  attributes: Attributes,
  declared: ReadonlyDeclarations,
  possible: ReadonlyDeclarations,
): ComputedStyle {
  const value = (property: string) => declared.get(property)?.value ?? '';
  const visibility = value('visibility');
  return {
    ...parent,
    hasNoText: parent.hasNoText || WITHOUT_TEXT.has(tag),
    invisible:
      visibility === '' ? parent.invisible : visibility === 'hidden' || visibility === 'collapse',
    fontSize: possible.has('font-size') || possible.has('font') ? 16 : fontSize(parent, value),
    farIndent: declared.has('text-indent') ? isFarIndent(value('text-indent')) : parent.farIndent,
    color: mayWin('color', possible, declared)
      ? null
      : colorOf(parent.color, tag, attributes, value),
    background: backgroundOf(parent.background, tag, attributes, value),
  };
}

const hidingAttribute = (attributes: Attributes, declared: ReadonlyDeclarations): Hiding | null =>
  attributes.has('hidden') && !declared.has('display')
    ? { how: 'the “hidden” attribute', properties: ['display'] }
    : null;

/** Sets why the element is hidden. Text that only some readers see is neither visible nor hidden. */
function applyHiding(
  parent: ComputedStyle,
  computed: ComputedStyle,
  boxHiding: Hiding | null,
  isShownToSome: (hiding: Hiding) => boolean,
): ComputedStyle {
  const ownTextHiding = textHiding(computed);
  const hiding = parent.boxHiddenBy === null ? (boxHiding ?? ownTextHiding) : null;
  const shownToSome = hiding !== null && isShownToSome(hiding);
  const boxHiddenBy = parent.boxHiddenBy ?? (shownToSome ? null : (boxHiding?.how ?? null));
  const textHiddenBy = boxHiddenBy ?? (shownToSome ? null : (ownTextHiding?.how ?? null));
  const result: ComputedStyle = { ...computed, boxHiddenBy, textHiddenBy };
  // The same readers see its children, so these do not inherit what hides it.
  if (shownToSome)
    Object.assign(result, { partial: true, invisible: false, fontSize: 16, farIndent: false });
  const cause =
    textHiddenBy === null ? null : textHiddenBy === parent.textHiddenBy ? parent.cause : result;
  return Object.assign(result, { cause });
}

/** What hides only the text. Except for `visibility`, images in the element stay visible. */
function textHiding(style: ComputedStyle): Hiding | null {
  if (style.invisible) return { how: 'visibility:hidden', properties: ['visibility'] };
  if (style.fontSize <= 1)
    return {
      how: style.fontSize === 0 ? 'font-size:0' : `font-size:${style.fontSize.toFixed(1)}px`,
      properties: ['font-size', 'font'],
    };
  if (style.farIndent) return { how: 'text-indent', properties: ['text-indent'] };
  if (style.color === 'transparent') return { how: 'transparent text', properties: [] };
  if (isSameColor(style.color, style.background))
    return { how: 'text in the color of its background', properties: [] };
  return null;
}

/** Whether a rule that applies to some readers makes the element visible. */
const isShownBy = (
  other: ReadonlyDeclarations,
  { properties: by }: Hiding,
  declared: ReadonlyDeclarations,
): boolean =>
  by.some(
    (property) =>
      mayWin(property, other, declared) && makesVisible(property, other.get(property)!.value),
  );

/** Whether a rule that applies to some readers, or may apply, overrides the property. A `style` attribute wins. */
function mayWin(
  property: string,
  other: ReadonlyDeclarations,
  declared: ReadonlyDeclarations,
): boolean {
  const override = other.get(property);
  const current = declared.get(property);
  if (!override) return false;
  if (!current || (override.important && !current.important)) return true;
  return override.important === current.important && current.rank !== INLINE;
}

function makesVisible(property: string, value: string): boolean {
  if (property === 'display') return value !== 'none';
  if (property === 'visibility') return value === 'visible';
  if (property === 'opacity') return Number.parseFloat(value) > 0.02;
  if (property === 'overflow') return !/^(?:hidden|clip)/.test(value);
  return !/^0?\.?0+(?:[a-z]+|%)?$/.test(value);
}

const FONT_SIZE = /(?:^|\s)(0|[\d.]+(?:px|pt|pc|in|cm|mm|r?em|ex|%))(?=[\s/])/;

function fontSize(parent: ComputedStyle, value: ValueOf): number {
  const size = value('font-size') || (FONT_SIZE.exec(value('font'))?.[1] ?? '');
  if (size === '' || /^(?:inherit|smaller|larger)$/.test(size)) return parent.fontSize;
  return readLength(size, parent.fontSize) ?? 16;
}

/** Caches parsed `style` attributes, because messages often repeat them. */
function cachedStyleReader(): (style: string) => ReadonlyDeclarations {
  const cache = new Map<string, ReadonlyDeclarations>();
  return (style) => {
    const cached = cache.get(style);
    if (cached) return cached;
    const declared = readStyleAttribute(style);
    if (cache.size < MAX_CACHED_ATTRIBUTES && style.length <= MAX_CACHED_ATTRIBUTE_LENGTH)
      cache.set(style, declared);
    return declared;
  };
}

// Caches computed styles, because messages often repeat the same declarations in the same context.

interface ComputedStyleCache {
  /**
   * The cached style for this parent, tag, attributes and declarations, else the result of `compute`.
   * Declarations are compared by identity. An element that is hidden by its own style gets a new
   * `cause` each time.
   */
  get: StyleFunction;
}

/** Distinct visible styles that are shared. */
const MAX_SHARED_STYLES = 5000;
/** Cached styles, and sets of declarations that have an id. */
const MAX_CACHED_STYLES = 5000;
const MAX_IDS = 10_000;

function computedStyleCache(compute: StyleFunction): ComputedStyleCache {
  const children = new WeakMap<ComputedStyle, Map<string, ComputedStyle>>();
  const shared = new Map<string, ComputedStyle>();
  const ids = new WeakMap<object, number>();
  let lastId = 0;
  let cachedCount = 0;
  const idOf = (object: object): number | undefined => {
    let id = ids.get(object);
    if (id === undefined && lastId < MAX_IDS) {
      lastId += 1;
      id = lastId;
      ids.set(object, id);
    }
    return id;
  };
  /** One object for all equal styles. */
  const share = (style: ComputedStyle, parent: ComputedStyle): ComputedStyle => {
    if (style.cause !== null && style.cause !== parent.cause) return style;
    const key = keyOf(style);
    if (key === keyOf(parent) && style.cause === parent.cause) return parent;
    if (style.cause !== null) return style;
    const existing = shared.get(key);
    if (!existing && shared.size < MAX_SHARED_STYLES) shared.set(key, style);
    return existing ?? style;
  };
  return {
    get(parent, tag, attributes, styles, inlineStyle) {
      const a = idOf(styles);
      const b = idOf(inlineStyle);
      if (a === undefined || b === undefined)
        return share(compute(parent, tag, attributes, styles, inlineStyle), parent);
      const key = `${a} ${b} ${tag} ${attributeKey(attributes)}`;
      const siblings = children.get(parent);
      const existing = siblings?.get(key);
      if (existing) return existing.cause === existing ? withNewCause(existing) : existing;
      const style = share(compute(parent, tag, attributes, styles, inlineStyle), parent);
      cachedCount += 1;
      if (cachedCount > MAX_CACHED_STYLES) return style;
      if (siblings) siblings.set(key, style);
      else children.set(parent, new Map([[key, style]]));
      return style;
    },
  };
}

const keyOf = (style: ComputedStyle): string =>
  `${style.boxHiddenBy} ${style.hasNoText} ${style.partial} ${style.invisible} ${style.fontSize} ${style.farIndent} ${style.color} ${style.background} ${style.textHiddenBy}`;

function withNewCause(style: ComputedStyle): ComputedStyle {
  const copy = { ...style };
  copy.cause = copy;
  return copy;
}

const NAMES_IN_KEY = ['hidden', 'background', 'href'];
const VALUES_IN_KEY = ['bgcolor', 'color', 'text'];

/** A key of the attributes that affect the style. The lengths of values keep keys unambiguous. */
function attributeKey(attributes: Attributes): string {
  let key = '';
  for (const name of NAMES_IN_KEY) if (attributes.has(name)) key += `${name} `;
  for (const name of VALUES_IN_KEY) {
    const value = attributes.get(name)?.slice(0, MAX_COLOR_LENGTH);
    if (value !== undefined) key += `${name} ${value.length} ${value} `;
  }
  return key;
}
