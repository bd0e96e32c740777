/** What a reader sees of an element: its own style together with what it inherits. */

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
  MAX_COLOR,
  readLength,
  type ValueOf,
} from './visibility.ts';

export interface ComputedStyle {
  /** Why the element and all in it is hidden, whatever its children declare. */
  box: string | null;
  /** What is in it is no text to read: `title`, `script`, `template`. */
  silent: boolean;
  /** Some readers see it and some do not: those with a small screen, in dark mode, who click. */
  partial: boolean;
  invisible: boolean;
  /** In pixels. */
  fontSize: number;
  farIndent: boolean;
  color: Color;
  background: Color;
  /** Why its text is not seen, by all of the above; null where it is. */
  hides: string | null;
  /** The same object for all that is hidden by one cause. */
  cause: object | null;
}

/** An element without any style in a window of unknown colour. */
const PLAIN: ComputedStyle = {
  box: null,
  silent: false,
  partial: false,
  invisible: false,
  fontSize: 16,
  farIndent: false,
  color: null,
  background: null,
  hides: null,
  cause: null,
};

const SILENT = new Set(
  'title script style template iframe noembed noframes datalist desc metadata'.split(' '),
);

/** What a window is painted with where nothing else is said. */
const WHITE = 0xffffff;

/** Declarations looked at for different looks, in all. */
const MAX_WORK = 1_000_000;
/** What a look without declarations counts for. */
const WORK_OF_LOOK = 5;

/** Styles remembered, short ones only, so that a message cannot fill the memory. */
const MAX_REMEMBERED_ATTRIBUTES = 2000;
const MAX_REMEMBERED_ATTRIBUTE_LENGTH = 1000;

interface ComputedStyleReader {
  /** Of what is in no element. */
  document: ComputedStyle;
  /** The same object as the parent's where nothing changes. */
  of(parent: ComputedStyle, tag: string, attributes: Attributes): ComputedStyle;
  /** The work went beyond what is done for one message: the last look is not to be trusted. */
  isSpent(): boolean;
}

/** Looks by a style sheet. */
export function computedStyleReader(sheet: StyleSheet): ComputedStyleReader {
  const ofStyle = rememberStyles();
  const memory = computedStyleMemory();
  let work = MAX_WORK;
  const of = (parent: ComputedStyle, tag: string, attributes: Attributes): ComputedStyle => {
    const styles = sheet.of(tag, attributes);
    const style = attributes.get('style');
    const own = style ? ofStyle(style) : NOTHING;
    const { certain, possible, conditional } = styles;
    const declares = certain.size + possible.size + conditional.size + own.size;
    if (declares === 0 && !changesByItself(parent, tag, attributes)) return parent;
    return memory.remember(parent, [styles, own], tag, attributes, () => {
      work -= declares + WORK_OF_LOOK;
      return work < 0 ? parent : computeLook(parent, tag, attributes, styles, own);
    });
  };
  return { document: documentLook(sheet, of), of, isSpent: () => work < 0 || sheet.isSpent() };
}

/** White, unless rules for `html` and `body` say more; these hold also where the tags are missing. */
function documentLook(sheet: StyleSheet, of: ComputedStyleReader['of']): ComputedStyle {
  const none: Attributes = new Map();
  const window: ComputedStyle = { ...PLAIN, background: sheet.complete ? WHITE : null };
  return { ...window, background: of(of(window, 'html', none), 'body', none).background };
}

const NOTHING: ReadonlyDeclarations = new Map();

function computeLook(
  parent: ComputedStyle,
  tag: string,
  attributes: Attributes,
  { certain, possible, conditional }: Styles,
  style: ReadonlyDeclarations,
): ComputedStyle {
  const declared = both(certain, style);
  const look = inherit(parent, tag, attributes, declared, possible);
  if (BACKGROUNDS.some((name) => possible.has(name) || mayWin(name, conditional, declared)))
    look.background = null;
  const own = hidingOf(tag, declared) ?? hidingAttribute(attributes, declared);
  return settle(parent, look, own, (hiding) =>
    [possible, conditional].some((other) => isShownBy(other, hiding, declared)),
  );
}

function both(certain: ReadonlyDeclarations, own: ReadonlyDeclarations): ReadonlyDeclarations {
  if (own.size === 0) return certain;
  if (certain.size === 0) return own;
  const declared: Declarations = new Map(certain);
  mergeDeclarations(declared, own);
  return declared;
}

function changesByItself(parent: ComputedStyle, tag: string, attributes: Attributes): boolean {
  if (SILENT.has(tag) || (tag === 'a' && parent.color !== null)) return true;
  return ['hidden', 'bgcolor', 'background', 'color', 'text'].some((name) => attributes.has(name));
}

/** Without the verdict whether it is hidden. */
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
    silent: parent.silent || SILENT.has(tag),
    invisible:
      visibility === '' ? parent.invisible : visibility === 'hidden' || visibility === 'collapse',
    fontSize: possible.has('font-size') || possible.has('font') ? 16 : fontSize(parent, value),
    farIndent: declared.has('text-indent') ? isFarIndent(value('text-indent')) : parent.farIndent,
    color: possible.has('color') ? null : colorOf(parent.color, tag, attributes, value),
    background: backgroundOf(parent.background, tag, attributes, value),
  };
}

const hidingAttribute = (attributes: Attributes, declared: ReadonlyDeclarations): Hiding | null =>
  attributes.has('hidden') && !declared.has('display')
    ? { how: 'the attribute “hidden”', by: ['display'] }
    : null;

/** The verdict. What some readers see is neither visible nor hidden text. */
function settle(
  parent: ComputedStyle,
  look: ComputedStyle,
  own: Hiding | null,
  isShownToSome: (hiding: Hiding) => boolean,
): ComputedStyle {
  const ofText = textHiding(look);
  const reason = parent.box === null ? (own ?? ofText) : null;
  const shownToSome = reason !== null && isShownToSome(reason);
  const box = parent.box ?? (shownToSome ? null : (own?.how ?? null));
  const hides = box ?? (shownToSome ? null : (ofText?.how ?? null));
  const settled: ComputedStyle = { ...look, box, hides };
  // Its children are seen by the same readers, so they do not inherit what hides it.
  if (shownToSome)
    Object.assign(settled, { partial: true, invisible: false, fontSize: 16, farIndent: false });
  const cause = hides === null ? null : hides === parent.hides ? parent.cause : settled;
  return Object.assign(settled, { cause });
}

/** What hides text alone; an image in it is still seen, but for `visibility`. */
function textHiding(look: ComputedStyle): Hiding | null {
  if (look.invisible) return { how: 'visibility:hidden', by: ['visibility'] };
  if (look.fontSize <= 1)
    return {
      how: look.fontSize === 0 ? 'font-size:0' : `font-size:${look.fontSize.toFixed(1)}px`,
      by: ['font-size', 'font'],
    };
  if (look.farIndent) return { how: 'text-indent', by: ['text-indent'] };
  if (look.color === 'transparent') return { how: 'transparent text', by: [] };
  if (isSameColor(look.color, look.background))
    return { how: 'text in the colour of its background', by: [] };
  return null;
}

/** Whether a rule that holds for some readers undoes what hides. */
const isShownBy = (
  other: ReadonlyDeclarations,
  { by }: Hiding,
  declared: ReadonlyDeclarations,
): boolean =>
  by.some(
    (property) => mayWin(property, other, declared) && shows(property, other.get(property)!.value),
  );

/** Whether a rule that holds for some readers changes the property for them. */
function mayWin(
  property: string,
  other: ReadonlyDeclarations,
  declared: ReadonlyDeclarations,
): boolean {
  const change = other.get(property);
  const there = declared.get(property);
  if (!change) return false;
  if (!there || (change.important && !there.important)) return true;
  return change.important === there.important && there.rank !== INLINE;
}

function shows(property: string, value: string): boolean {
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

/** The same styles come again and again in a message. */
function rememberStyles(): (style: string) => ReadonlyDeclarations {
  const known = new Map<string, ReadonlyDeclarations>();
  return (style) => {
    const there = known.get(style);
    if (there) return there;
    const declared = readStyleAttribute(style);
    if (known.size < MAX_REMEMBERED_ATTRIBUTES && style.length <= MAX_REMEMBERED_ATTRIBUTE_LENGTH)
      known.set(style, declared);
    return declared;
  };
}

// Remembers looks: in a message the same declarations meet the same surroundings again and again.

interface ComputedStyleMemory {
  /**
   * What `make` returned for this parent, tag, attributes and declarations, which are told apart by
   * identity. What is hidden by a cause of its own has another cause each time.
   */
  remember(
    parent: ComputedStyle,
    declarations: [object, object],
    tag: string,
    attributes: Attributes,
    make: () => ComputedStyle,
  ): ComputedStyle;
}

/** Visible looks that are told apart; more than these are all new ones. */
const MAX_LOOKS = 5000;

/** What is remembered, and sets of declarations that are told apart: a message made of new ones gains nothing. */
const MAX_REMEMBERED_STYLES = 5000;
const MAX_IDS = 10_000;

function computedStyleMemory(): ComputedStyleMemory {
  const children = new WeakMap<ComputedStyle, Map<string, ComputedStyle>>();
  const visible = new Map<string, ComputedStyle>();
  const ids = new WeakMap<object, number>();
  let lastId = 0;
  let remembered = 0;
  const idOf = (object: object): number | undefined => {
    let id = ids.get(object);
    if (id === undefined && lastId < MAX_IDS) {
      lastId += 1;
      id = lastId;
      ids.set(object, id);
    }
    return id;
  };
  /** The one object for all looks that are the same to see. */
  const theSame = (look: ComputedStyle, parent: ComputedStyle): ComputedStyle => {
    if (look.cause !== null && look.cause !== parent.cause) return look;
    const key = keyOf(look);
    if (key === keyOf(parent) && look.cause === parent.cause) return parent;
    if (look.cause !== null) return look;
    const there = visible.get(key);
    if (!there && visible.size < MAX_LOOKS) visible.set(key, look);
    return there ?? look;
  };
  return {
    remember(parent, [styles, own], tag, attributes, make) {
      const [a, b] = [idOf(styles), idOf(own)];
      if (a === undefined || b === undefined) return theSame(make(), parent);
      const key = `${a} ${b} ${tag} ${attributesThatCount(attributes)}`;
      const known = children.get(parent);
      const there = known?.get(key);
      if (there) return there.cause === there ? causedByItself(there) : there;
      const look = theSame(make(), parent);
      remembered += 1;
      if (remembered > MAX_REMEMBERED_STYLES) return look;
      if (known) known.set(key, look);
      else children.set(parent, new Map([[key, look]]));
      return look;
    },
  };
}

const keyOf = (look: ComputedStyle): string =>
  `${look.box} ${look.silent} ${look.partial} ${look.invisible} ${look.fontSize} ${look.farIndent} ${look.color} ${look.background} ${look.hides}`;

function causedByItself(look: ComputedStyle): ComputedStyle {
  const copy = { ...look };
  copy.cause = copy;
  return copy;
}

/** Those by which an element looks as it does, with the lengths of their values so that none passes for two. */
function attributesThatCount(attributes: Attributes): string {
  let key = '';
  for (const name of ['hidden', 'background', 'href']) if (attributes.has(name)) key += `${name} `;
  for (const name of ['bgcolor', 'color', 'text']) {
    const value = attributes.get(name)?.slice(0, MAX_COLOR);
    if (value !== undefined) key += `${name} ${value.length} ${value} `;
  }
  return key;
}
