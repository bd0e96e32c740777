/** Checks an SVG image against the rules for BIMI logos: SVG Tiny Portable/Secure. */

import { gunzipSync } from 'node:zlib';
import { Parser } from 'htmlparser2';

/** The BIMI Group's guidance: at most 32 kilobytes. */
const MAX_BYTES = 32 * 1024;
/** Decompressed; the rest of a larger image is not read. */
const MAX_SVG_BYTES = 64 * 1024;
/** Far deeper than any real logo: stops documents that are crafted to be slow to parse. */
const MAX_DEPTH = 200;
const SLICE = 4096;
const MAX_PROBLEMS = 12;

interface SvgLogo {
  /** Bytes after decompression. */
  bytes: number;
  title: string | null;
  viewBox: string | null;
  /** Full sentences, without duplicates. */
  problems: string[];
}

/** Elements that the profile (draft-svg-tiny-ps-abrotman §2) or SVG Tiny 1.2 itself does not allow. */
const FORBIDDEN: Record<string, string[]> = {
  scripts: ['script', 'handler', 'listener'],
  animation: ['animate', 'animateColor', 'animateMotion', 'animateTransform', 'set', 'discard'],
  'an embedded image': ['image', 'feImage'],
  'a link': ['a'],
  'audio or video': ['audio', 'video', 'animation'],
  'embedded documents': ['foreignObject', 'iframe', 'prefetch'],
  'a style sheet': ['style'],
  'filters or masks': ['filter', 'mask', 'clipPath', 'pattern', 'marker', 'symbol'],
};

const KIND_OF = new Map(
  Object.entries(FORBIDDEN).flatMap(([kind, names]) =>
    names.map((name) => [name.toLowerCase(), kind] as const),
  ),
);

/** Decompresses a `.svgz` image and returns any other unchanged; null if decompression fails. */
export function unpackSvg(bytes: Uint8Array): Uint8Array | null {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_SVG_BYTES });
  } catch {
    return null;
  }
}

/** Evaluates a decompressed image; reads no more than its first MAX_SVG_BYTES. */
export function evaluateSvg(bytes: Uint8Array): SvgLogo {
  const content = readSvg(Buffer.from(bytes.subarray(0, MAX_SVG_BYTES)).toString('utf8'));
  const { root } = content;
  const problems = new Set<string>();
  if (bytes.length > MAX_BYTES)
    problems.add(`The logo has ${bytes.length} bytes; the limit is ${MAX_BYTES}.`);
  if (root?.name !== 'svg') problems.add('The logo is not an SVG image.');
  else for (const problem of rootProblems(root.attributes)) problems.add(problem);
  if (root?.name === 'svg' && !content.title) problems.add('The logo has no title element.');
  for (const problem of content.problems) problems.add(problem);
  return {
    bytes: bytes.length,
    title: content.title?.slice(0, 200) ?? null,
    viewBox: root?.attributes.viewBox?.slice(0, 100) ?? null,
    problems: [...problems].slice(0, MAX_PROBLEMS),
  };
}

type Attributes = Record<string, string>;

function rootProblems(attributes: Attributes): string[] {
  const problems: string[] = [];
  if (attributes.baseProfile !== 'tiny-ps')
    problems.push('The logo does not set baseProfile="tiny-ps".');
  if (attributes.version !== '1.2') problems.push('The logo does not set version="1.2".');
  if (attributes.xmlns !== 'http://www.w3.org/2000/svg')
    problems.push('The logo does not declare the SVG namespace (xmlns).');
  if ('x' in attributes || 'y' in attributes)
    problems.push('The svg element of the logo has x or y attributes, which are not allowed.');
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
  return [box ? 'The logo is not square (viewBox).' : 'The logo has no valid viewBox.'];
}

interface SvgContent {
  root: { name: string; attributes: Attributes } | null;
  title: string | null;
  problems: string[];
}

function readSvg(text: string): SvgContent {
  const content: SvgContent = { root: null, title: null, problems: [] };
  const open: string[] = [];
  let atEnd = false;
  const reportMalformed = () => content.problems.push('The logo is not well-formed XML.');
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        content.root ??= { name, attributes };
        open.push(name);
        if (open.length === 2 && name === 'title') content.title = '';
        content.problems.push(...elementProblems(name, attributes));
      },
      ontext(chunk) {
        if (open.length === 2 && open[1] === 'title' && content.title !== null)
          content.title = `${content.title}${chunk}`.trimStart().slice(0, 1000);
      },
      onclosetag(name, implied) {
        const isEmpty = implied && text.startsWith('/>', parser.endIndex - 1);
        if ((implied && (!isEmpty || atEnd)) || open.pop() !== name) reportMalformed();
      },
      onprocessinginstruction(name, data) {
        if (/^\?xml-stylesheet/i.test(name))
          content.problems.push('The logo contains a style sheet.');
        if (/<!ENTITY/i.test(data)) content.problems.push('The logo declares XML entities.');
      },
    },
    { xmlMode: true },
  );
  // In slices, so that parsing can stop early: closing a tag costs more the deeper it is nested.
  for (let at = 0; at < text.length; at += SLICE) {
    parser.write(text.slice(at, at + SLICE));
    if (open.length > MAX_DEPTH) {
      reportMalformed();
      return content;
    }
  }
  atEnd = true;
  parser.end();
  return content;
}

function elementProblems(name: string, attributes: Attributes): string[] {
  // Any prefix can stand for the namespace of SVG.
  const kind = KIND_OF.get(name.toLowerCase().replace(/^.*:/, ''));
  const problems = kind ? [`The logo contains ${kind} (${name}).`] : [];
  for (const [key, value] of Object.entries(attributes)) {
    if (/^on[a-z]/i.test(key)) problems.push(`The logo contains scripts (${key.slice(0, 40)}).`);
    const isReference = /^(?:.*:)?(?:href|src)$/i.test(key) && !value.trim().startsWith('#');
    if ((isReference && value.trim() !== '') || /url\(['"\s]*[^#'"\s]/i.test(value))
      problems.push('The logo has external references.');
  }
  return problems;
}
