/** Makes CSS of a message safe to write out again: it loads nothing and cannot end early. */

/** Functions that load or run something. */
const LOADING = /^(?:url|src|image|image-set|cross-fade|element|expression|paint|url-prefix)$/i;

/** Stands for an image that is shown, in text that is checked. */
const PLACEHOLDER = /\ue000(\d+)\ue001/g;

/**
 * Replaces `url(…)` by what `imageAt` returns, or by `none`. Returns null if the text is not safe. The
 * data URIs of `imageAt` must have no quotes or white space.
 */
export function withSafeUrls(text: string, imageAt: (src: string) => string | null): string | null {
  const images: string[] = [];
  const replaced = text
    .replace(/[\ue000\ue001\0]/g, '')
    .replace(URL_FUNCTION, (_, double?: string, single?: string, bare?: string) => {
      const image = imageAt((double ?? single ?? bare ?? '').trim());
      if (image === null) return 'none';
      images.push(image);
      return `\ue000${images.length - 1}\ue001`;
    });
  if (!isSelfContained(replaced)) return null;
  return replaced.replace(PLACEHOLDER, (_, index) => `url("${images[Number(index)]}")`);
}

const URL_FUNCTION =
  /(?<![\w-])url\(\s{0,50}(?:"([^"\\\n]*)"\s{0,50}\)|'([^'\\\n]*)'\s{0,50}\)|([^"'()\\\s]*)\s{0,50}\))/gi;

/**
 * Whether a declaration, a selector or the start of an at-rule loads nothing, and ends where it seems to.
 * If quotes and brackets are closed, a browser reads what follows as new text.
 */
export function isSelfContained(text: string): boolean {
  const open: string[] = [];
  let quote = '';
  // The name before a parenthesis: where it starts, and whether it has an escape.
  let name = -1;
  let escaped = false;
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i]!;
    if (char === '\\') {
      if (i + 1 >= text.length || /[\n\r\f]/.test(text[i + 1]!)) return false;
      i += 1;
      escaped = true;
      if (name < 0) name = i;
      continue;
    }
    if (quote !== '') {
      if (char === '\n' || char === '\r' || char === '\f') return false;
      if (char === quote) quote = '';
      name = -1;
      continue;
    }
    if (/[\w-]/.test(char) || char > '\x7f') {
      if (name < 0) {
        name = i;
        escaped = false;
      }
      continue;
    }
    if (char === '(' && name >= 0) {
      const functionName = text.slice(name, i).replace(/^-(?:webkit|moz|ms|o)-/i, '');
      if (escaped || LOADING.test(functionName)) return false;
    }
    name = -1;
    escaped = false;
    if (char === '"' || char === "'") quote = char;
    else if (char === '(' || char === '[') open.push(char === '(' ? ')' : ']');
    else if (char === ')' || char === ']') {
      if (open.pop() !== char) return false;
    } else if (char === '{' || char === '}' || char === ';') return false;
    else if (char === '/' && text[i + 1] === '*') return false;
    else if (char === '@' && i > 0) return false;
    else if (char === '<' && !/[\s\d=.(]/.test(text[i + 1] ?? '')) return false;
  }
  return quote === '' && open.length === 0;
}

/** Keeps `</style` out of strings; the rest of the CSS has no `<` before a letter. */
export const withoutTags = (css: string): string => css.replace(/<(?=[a-z/!?])/gi, '\\3c ');

/** Splits a list of selectors at its commas. */
export function splitSelectors(list: string): string[] {
  const selectors: string[] = [];
  let start = 0;
  let depth = 0;
  let quote = '';
  for (let i = 0; i <= list.length; i += 1) {
    const char = list[i];
    if (char === '\\') i += 1;
    else if (quote !== '' && char !== undefined) {
      if (char === quote) quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if (char === '(' || char === '[') depth += 1;
    else if (char === ')' || char === ']') depth = Math.max(0, depth - 1);
    else if ((char === ',' && depth === 0) || char === undefined) {
      selectors.push(list.slice(start, i).trim());
      start = i + 1;
    }
  }
  return selectors;
}
