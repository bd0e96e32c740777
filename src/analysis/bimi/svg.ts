/** What keeps an SVG image from being a BIMI logo: the rules of SVG Tiny Portable/Secure. */

import { gunzipSync } from 'node:zlib';
import { Parser } from 'htmlparser2';

/** The BIMI Group's guidance: the image has at most 32 kilobytes. */
const MAX_BYTES = 32 * 1024;
/** What is larger, unpacked, is not looked at. */
const MAX_SVG_BYTES = 64 * 1024;
/** Far deeper than any drawing; a document made to be costly ends here. */
const MAX_DEPTH = 200;
const SLICE = 4096;
const MAX_PROBLEMS = 12;

interface SvgLogo {
  /** Octets, unpacked. */
  bytes: number;
  title: string | null;
  viewBox: string | null;
  /** Sentences, each once. */
  problems: string[];
}

/** Elements that the profile (draft-svg-tiny-ps-abrotman §2), or SVG Tiny 1.2 itself, does not have. */
const FORBIDDEN: Record<string, string[]> = {
  scripts: ['script', 'handler', 'listener'],
  animation: ['animate', 'animateColor', 'animateMotion', 'animateTransform', 'set', 'discard'],
  'an image inside of it': ['image', 'feImage'],
  'a link': ['a'],
  'sound or film': ['audio', 'video', 'animation'],
  'other documents inside of it': ['foreignObject', 'iframe', 'prefetch'],
  'a style sheet': ['style'],
  'filters or masks': ['filter', 'mask', 'clipPath', 'pattern', 'marker', 'symbol'],
};

const KIND_OF = new Map(
  Object.entries(FORBIDDEN).flatMap(([kind, names]) =>
    names.map((name) => [name.toLowerCase(), kind] as const),
  ),
);

/** The image itself where it is compressed (`.svgz`); null where that cannot be read. */
export function unpackSvg(bytes: Uint8Array): Uint8Array | null {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_SVG_BYTES });
  } catch {
    return null;
  }
}

/** Judges the (unpacked) image; at most 64 KiB of it are looked at. */
export function judgeSvg(bytes: Uint8Array): SvgLogo {
  const seen = readSvg(Buffer.from(bytes.subarray(0, MAX_SVG_BYTES)).toString('utf8'));
  const { root } = seen;
  const problems = new Set<string>();
  if (bytes.length > MAX_BYTES)
    problems.add(`The logo has ${bytes.length} bytes; at most ${MAX_BYTES} are allowed.`);
  if (root?.name !== 'svg') problems.add('The logo is not an SVG image.');
  else for (const problem of rootProblems(root.attributes)) problems.add(problem);
  if (root?.name === 'svg' && !seen.title) problems.add('The logo has no title element.');
  for (const problem of seen.problems) problems.add(problem);
  return {
    bytes: bytes.length,
    title: seen.title?.slice(0, 200) ?? null,
    viewBox: root?.attributes.viewBox?.slice(0, 100) ?? null,
    problems: [...problems].slice(0, MAX_PROBLEMS),
  };
}

type Attributes = Record<string, string>;

function rootProblems(attributes: Attributes): string[] {
  const problems: string[] = [];
  if (attributes.baseProfile !== 'tiny-ps')
    problems.push('The logo does not say baseProfile="tiny-ps".');
  if (attributes.version !== '1.2') problems.push('The logo does not say version="1.2".');
  if (attributes.xmlns !== 'http://www.w3.org/2000/svg')
    problems.push('The logo does not name the SVG namespace (xmlns).');
  if ('x' in attributes || 'y' in attributes)
    problems.push('The logo has x or y at its svg element, where they are not allowed.');
  return [...problems, ...shapeProblems(attributes)];
}

function shapeProblems({ viewBox, width, height }: Attributes): string[] {
  const numbers = (viewBox ?? '')
    .trim()
    .split(/[\s,]+/, 5)
    .map(Number);
  const box = numbers.length === 4 && numbers.every(Number.isFinite) ? numbers : null;
  const square = box ? box[2] === box[3] && box[2]! > 0 : width !== undefined && width === height;
  if (square) return [];
  return [box ? 'The logo is not square (viewBox).' : 'The logo has no usable viewBox.'];
}

interface Seen {
  root: { name: string; attributes: Attributes } | null;
  title: string | null;
  problems: string[];
}

function readSvg(text: string): Seen {
  const seen: Seen = { root: null, title: null, problems: [] };
  const open: string[] = [];
  let atEnd = false;
  const torn = () => seen.problems.push('The logo is not well-formed XML.');
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        seen.root ??= { name, attributes };
        open.push(name);
        if (open.length === 2 && name === 'title') seen.title = '';
        seen.problems.push(...elementProblems(name, attributes));
      },
      ontext(piece) {
        if (open.length === 2 && open[1] === 'title' && seen.title !== null)
          seen.title = `${seen.title}${piece}`.trimStart().slice(0, 1000);
      },
      onclosetag(name, implied) {
        const isEmpty = implied && text.startsWith('/>', parser.endIndex - 1);
        if ((implied && (!isEmpty || atEnd)) || open.pop() !== name) torn();
      },
      onprocessinginstruction(name, data) {
        if (/^\?xml-stylesheet/i.test(name)) seen.problems.push('The logo has a style sheet.');
        if (/<!ENTITY/i.test(data)) seen.problems.push('The logo declares entities.');
      },
    },
    { xmlMode: true },
  );
  // In slices, so that it can be given up: closing a tag costs more the deeper it lies.
  for (let at = 0; at < text.length; at += SLICE) {
    parser.write(text.slice(at, at + SLICE));
    if (open.length > MAX_DEPTH) {
      torn();
      return seen;
    }
  }
  atEnd = true;
  parser.end();
  return seen;
}

function elementProblems(name: string, attributes: Attributes): string[] {
  const kind = KIND_OF.get(name.toLowerCase());
  const problems = kind ? [`The logo has ${kind} (${name}).`] : [];
  for (const [key, value] of Object.entries(attributes)) {
    if (/^on[a-z]/i.test(key)) problems.push(`The logo has scripts (${key.slice(0, 40)}).`);
    const isReference = /^(?:xlink:)?(?:href|src)$/i.test(key) && !value.trim().startsWith('#');
    if ((isReference && value.trim() !== '') || /url\(['"\s]*[^#'"\s]/i.test(value))
      problems.push('The logo refers to something outside of it.');
  }
  return problems;
}
