/** What a reader sees of an element: its own style together with what it inherits. */

import { type Color, isSameColor } from './html-colors.ts';
import {
  type Declarations,
  INLINE,
  mergeDeclarations,
  type ReadonlyDeclarations,
  readStyleAttribute,
} from './html-declarations.ts';
import { type Hiding, hidingOf, isFarIndent, readLength, type ValueOf } from './html-hiding.ts';
import { lookMemory } from './html-look-memory.ts';
import { BACKGROUNDS, backgroundOf, colorOf } from './html-paint.ts';
import type { StyleSheet, Styles } from './html-style-sheet.ts';
import type { Attributes } from './html-tokens.ts';

export interface Look {
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
const PLAIN: Look = {
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
const MAX_REMEMBERED = 2000;
const MAX_REMEMBERED_LENGTH = 1000;

interface LookReader {
  /** Of what is in no element. */
  document: Look;
  /** The same object as the parent's where nothing changes. */
  of(parent: Look, tag: string, attributes: Attributes): Look;
  /** The work went beyond what is done for one message: the last look is not to be trusted. */
  isSpent(): boolean;
}

/** Looks by a style sheet. */
export function lookReader(sheet: StyleSheet): LookReader {
  const ofStyle = rememberStyles();
  const memory = lookMemory();
  let work = MAX_WORK;
  const of = (parent: Look, tag: string, attributes: Attributes): Look => {
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
function documentLook(sheet: StyleSheet, of: LookReader['of']): Look {
  const none: Attributes = new Map();
  const window: Look = { ...PLAIN, background: sheet.complete ? WHITE : null };
  return { ...window, background: of(of(window, 'html', none), 'body', none).background };
}

const NOTHING: ReadonlyDeclarations = new Map();

function computeLook(
  parent: Look,
  tag: string,
  attributes: Attributes,
  { certain, possible, conditional }: Styles,
  style: ReadonlyDeclarations,
): Look {
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

function changesByItself(parent: Look, tag: string, attributes: Attributes): boolean {
  if (SILENT.has(tag) || (tag === 'a' && parent.color !== null)) return true;
  return ['hidden', 'bgcolor', 'background', 'color', 'text'].some((name) => attributes.has(name));
}

/** Without the verdict whether it is hidden. */
function inherit(
  parent: Look,
  tag: string,
  attributes: Attributes,
  declared: ReadonlyDeclarations,
  possible: ReadonlyDeclarations,
): Look {
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
  parent: Look,
  look: Look,
  own: Hiding | null,
  isShownToSome: (hiding: Hiding) => boolean,
): Look {
  const ofText = textHiding(look);
  const reason = parent.box === null ? (own ?? ofText) : null;
  const shownToSome = reason !== null && isShownToSome(reason);
  const box = parent.box ?? (shownToSome ? null : (own?.how ?? null));
  const hides = box ?? (shownToSome ? null : (ofText?.how ?? null));
  const settled: Look = { ...look, box, hides };
  // Its children are seen by the same readers, so they do not inherit what hides it.
  if (shownToSome)
    Object.assign(settled, { partial: true, invisible: false, fontSize: 16, farIndent: false });
  const cause = hides === null ? null : hides === parent.hides ? parent.cause : settled;
  return Object.assign(settled, { cause });
}

/** What hides text alone; an image in it is still seen, but for `visibility`. */
function textHiding(look: Look): Hiding | null {
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

function fontSize(parent: Look, value: ValueOf): number {
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
    if (known.size < MAX_REMEMBERED && style.length <= MAX_REMEMBERED_LENGTH)
      known.set(style, declared);
    return declared;
  };
}
