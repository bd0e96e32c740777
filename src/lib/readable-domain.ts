/** International domain names as people write them. Names are stored, compared and published with A-labels. */

import { domainToASCII, domainToUnicode } from 'node:url';

/**
 * The name with U-labels (RFC 5890 §2.3.2.1). A label stays encoded if readers could take it for another one. That is so
 * if it mixes scripts, looks like a Latin word under a Latin top-level domain, or has more than letters, marks and digits.
 */
export function readableDomain(name: string): string {
  if (!/(?:^|\.)xn--/i.test(name)) return name;
  const labels = name.split('.');
  const end = labels.at(-1)!;
  return labels.map((label) => readableLabel(label, end)).join('.');
}

/** The readable name with the encoded one beside it; the name alone if they are the same. */
export function bothForms(name: string): string {
  const readable = readableDomain(name);
  return readable === name ? name : `${readable} (${name})`;
}

/** A name on its own: not in an email address, a URL, a term of a record, or a name with an underscore. */
const ENCODED_NAME = /(?<![@/:=\w.-])(?:[a-z0-9-]+\.)*xn--[a-z0-9-]+(?:\.[a-z0-9-]+)*/gi;

/** A sentence with readable names. What people copy, such as the names of records, keeps A-labels. */
export const withReadableNames = (text: string): string =>
  text.includes('xn--') ? text.replace(ENCODED_NAME, readableDomain) : text;

function readableLabel(label: string, topLevel: string): string {
  if (!/^xn--/i.test(label)) return label;
  const readable = domainToUnicode(label);
  if (readable === '' || domainToASCII(readable) !== label.toLowerCase()) return label;
  if (!/^[\p{L}\p{M}\p{Nd}\u00b7\u30fb-]+$/u.test(readable)) return label;
  return deceptiveScripts(readable, topLevel) || mixesScripts(readable) ? label : readable;
}

/** The scripts with letters that look like those of another. */
const SIMILAR_SCRIPTS: [name: string, letter: RegExp][] = [
  ['Latin', /\p{Script=Latin}/u],
  ['Cyrillic', /\p{Script=Cyrillic}/u],
  ['Greek', /\p{Script=Greek}/u],
  ['Armenian', /\p{Script=Armenian}/u],
  ['Cherokee', /\p{Script=Cherokee}/u],
];

/** Cyrillic letters that look the same as Latin ones. */
const LATIN_LOOKALIKE = /^[асԁеһіјӏорԛѕԝху\d-]+$/u;

/**
 * The scripts of a label in Unicode that readers may mistake for another (UTS 39 §5.1): several similar ones, or that of
 * a label that only looks Latin. Null for any other label.
 */
export function deceptiveScripts(label: string, topLevel: string): string[] | null {
  const scripts = SIMILAR_SCRIPTS.filter(([, letter]) => letter.test(label)).map(([name]) => name);
  if (scripts.length > 1) return scripts;
  // Readers expect a Cyrillic name under a Cyrillic top-level domain.
  const isLatin = /^[a-z]+$/.test(topLevel);
  return scripts[0] === 'Cyrillic' && isLatin && LATIN_LOOKALIKE.test(label) ? scripts : null;
}

/** The scripts that are written together: Japanese, Korean, and Chinese with Bopomofo. */
const TOGETHER = [
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]+$/u,
  /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]+$/u,
  /^[\p{Script=Han}\p{Script=Bopomofo}\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]+$/u,
];

/** UTS 39 §5.2, “highly restrictive”: one script, or scripts that one language is written in. */
function mixesScripts(label: string): boolean {
  if (TOGETHER.some((scripts) => scripts.test(label))) return false;
  return !SCRIPTS.some((script) => script.test(label));
}

const SCRIPTS = [
  'Latin',
  'Cyrillic',
  'Greek',
  'Armenian',
  'Hebrew',
  'Arabic',
  'Devanagari',
  'Bengali',
  'Gurmukhi',
  'Gujarati',
  'Oriya',
  'Tamil',
  'Telugu',
  'Kannada',
  'Malayalam',
  'Sinhala',
  'Thai',
  'Lao',
  'Tibetan',
  'Myanmar',
  'Georgian',
  'Ethiopic',
  'Khmer',
].map(
  (script) => new RegExp(`^[\\p{Script=${script}}\\p{Script=Common}\\p{Script=Inherited}]+$`, 'u'),
);
