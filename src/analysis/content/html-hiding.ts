/** The ways in which an element is hidden by what is declared for itself, without regard to others. */

import type { ReadonlyDeclarations } from './html-declarations.ts';

/** What is declared for a property; empty where nothing is. */
export type ValueOf = (property: string) => string;

/** How it is hidden, with the properties that would show it again if a rule changed them. */
export interface Hiding {
  how: string;
  by: string[];
}

/** Further than any layout moves what is to be seen, in pixels. */
const FAR = 900;

/** Elements that a height or width of 0 does not hide: cells grow with their content. */
const GROWING = new Set(['table', 'tbody', 'thead', 'tfoot', 'tr', 'td', 'th', 'caption']);
/** Elements that have no height of their own unless a style makes them blocks. */
const INLINE_ELEMENTS = new Set(
  'a abbr b bdi bdo big cite code em font i label s small span strike strong sub sup tt u'.split(
    ' ',
  ),
);

/** The first that applies, of those that hide the element and all that is in it; null where none does. */
export function hidingOf(tag: string, declared: ReadonlyDeclarations): Hiding | null {
  const value = (property: string) => declared.get(property)?.value ?? '';
  if (value('display') === 'none') return { how: 'display:none', by: ['display'] };
  if (readOpacity(value('opacity')) < 0.02) return { how: 'opacity:0', by: ['opacity'] };
  if (NO_OPACITY.test(withoutSpace(value('filter')))) return { how: 'opacity:0', by: ['filter'] };
  if (NO_SCALE.test(withoutSpace(value('transform'))))
    return { how: 'transform:scale(0)', by: ['transform'] };
  return squeezed(tag, value) ?? offScreen(value);
}

const NO_OPACITY = /opacity\((?:0{1,9}|0{0,9}\.0{1,9})%?\)/;
const NO_SCALE = /scale(?:3d|x|y)?\((?:0{1,9}|0{0,9}\.0{1,9})[,)]/;
const TRANSLATE = /translate(?:3d|x|y)?\(([^(),]{1,30})(?:,([^(),]{1,30}))?[,)]/;

const withoutSpace = (text: string): string => text.replace(/\s+/g, '');

/** From 0 to 1; 1 for what is no number. */
function readOpacity(text: string): number {
  const match = /^(\d{1,10}(?:\.\d{0,10})?|\.\d{1,10})(%?)$/.exec(text);
  return match ? Number(match[1]) / (match[2] === '' ? 1 : 100) : 1;
}

function squeezed(tag: string, value: ValueOf): Hiding | null {
  if (!/^(?:hidden|clip)\b/.test(value('overflow') || value('overflow-y') || value('overflow-x')))
    return null;
  const display = value('display');
  const positioned = /^(?:absolute|fixed)$/.test(value('position'));
  if (GROWING.has(tag) && display === '') return null;
  if (INLINE_ELEMENTS.has(tag) && !positioned && !/block|flex|grid/.test(display)) return null;
  // A box of no height with a padding is the common way to keep the proportions of an image.
  const padded = (side: string) => {
    const padding = value(`padding-${side}`) || value('padding');
    return /[1-9]/.test(padding);
  };
  const by = ['max-height', 'height', 'max-width', 'width', 'overflow', 'display'];
  for (const property of ['max-height', 'height'])
    if (isNothing(value(property)) && !padded('top') && !padded('bottom'))
      return { how: `${property}:0`, by };
  for (const property of ['max-width', 'width'])
    if (isNothing(value(property)) && !padded('left') && !padded('right'))
      return { how: `${property}:0`, by };
  return null;
}

/** At most one pixel. */
const isNothing = (length: string): boolean => {
  const pixels = readLength(length, 16);
  return pixels !== null && pixels <= 1;
};

function offScreen(value: ValueOf): Hiding | null {
  const far = (property: string) => (readLength(value(property), 16) ?? 0) <= -FAR;
  const positioned = /^(?:absolute|fixed|relative)$/.test(value('position'));
  const moved = ['left', 'top', 'right'].find((property) => positioned && far(property));
  const margin = ['margin-left', 'margin-top'].find(far);
  const by = moved ?? margin;
  if (by) return { how: 'a position outside of the screen', by: [by, 'position'] };
  const shift = TRANSLATE.exec(withoutSpace(value('transform'))) ?? [];
  if (shift.slice(1).some((length) => (readLength(length ?? '', 16) ?? 0) <= -FAR))
    return { how: 'a position outside of the screen', by: ['transform'] };
  const clipped =
    (positioned && /^rect\(\s*(?:[01](?:px)?[\s,]*){4}\)$/.test(value('clip'))) ||
    /^(?:inset\(\s*(?:50|100)%|circle\(\s*0)/.test(value('clip-path'));
  return clipped ? { how: 'a clip of no size', by: ['clip', 'clip-path', 'position'] } : null;
}

/** Whether an indent moves the text out of sight. */
export const isFarIndent = (indent: string): boolean =>
  Math.abs(readLength(indent, 16) ?? 0) >= FAR;

const UNITS: Record<string, number> = {
  '': 1,
  px: 1,
  pt: 4 / 3,
  pc: 16,
  in: 96,
  cm: 96 / 2.54,
  mm: 96 / 25.4,
  q: 96 / 101.6,
};

/**
 * A length in pixels; `em` and `%` are of `base`. Null for what is none (`auto`) or depends on more
 * than that, unless it is zero.
 */
export function readLength(text: string, base: number): number | null {
  const match = /^([+-]?(?:\d{1,10}(?:\.\d{0,10})?|\.\d{1,10}))([a-z]{0,4}|%)$/.exec(text.trim());
  if (!match) return null;
  const number = Number(match[1]);
  const unit = match[2]!;
  if (number === 0) return 0;
  if (Object.hasOwn(UNITS, unit)) return number * UNITS[unit]!;
  if (unit === 'em' || unit === 'ex') return number * base;
  if (unit === 'rem') return number * 16;
  return unit === '%' ? (number / 100) * base : null;
}
