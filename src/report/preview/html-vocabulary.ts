/** The elements and attributes that the preview writes; all others have no effect in a mail client. */

const words = (text: string): Set<string> => new Set(text.trim().split(/\s+/));

/** Elements that are written as they are. */
export const KEPT_ELEMENTS = words(`
  a abbr acronym address article aside b bdi bdo big blockquote br caption center cite code col
  colgroup dd del details dfn dialog dir div dl dt em fieldset figcaption figure font footer h1 h2 h3 h4
  h5 h6 head header hgroup hr html i img ins kbd label legend li main map mark menu meter nav nobr ol p
  picture pre progress q rb rp rt ruby s samp section small span strike strong sub summary sup table
  tbody td tfoot th thead time tr tt u ul var wbr`);

/** Elements of an embedded image without scripts, links or references. */
export const SVG_ELEMENTS = words(`
  svg g path rect circle ellipse line polyline polygon text tspan defs lineargradient radialgradient stop
  clippath`);

/** Elements that are dropped with their content, in every client. */
export const DROPPED_ELEMENTS = words(
  // `xml` holds settings of Word.
  'datalist iframe math noembed noframes script template title xml',
);

/** Elements that a mail client does not run, written as others that look alike. */
export const REPLACED_ELEMENTS: Readonly<Record<string, string>> = {
  button: 'span',
  form: 'div',
  marquee: 'div',
  textarea: 'span',
  xmp: 'pre',
  plaintext: 'pre',
};

/** Tags that end an SVG image or formula that was never closed (WHATWG HTML §13.2.6.5). */
export const BREAKOUT_ELEMENTS = words(`
  b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li menu meta
  nobr ol p pre ruby s small span strong strike sub sup table tt u ul var`);

/** Elements that do not end the word or address around them. */
export const INLINE_ELEMENTS: ReadonlySet<string> = new Set([
  ...words('a abbr acronym b bdi bdo big cite code del dfn em font i ins kbd mark nobr o:p q'),
  ...words('s samp small span strike strong sub sup tspan tt u var wbr'),
]);

/** Attributes without a URL or script. */
const KEPT_ATTRIBUTES = words(`
  abbr align alt bgcolor border bordercolor cellpadding cellspacing class clear color cols colspan compact
  datetime dir face frame headers height hidden hspace id inert lang max min noshade nowrap open popover
  reversed role rowspan rules scope size span start style summary title type valign value vspace width
  alink bottommargin leftmargin marginheight marginwidth rightmargin text topmargin`);

const SVG_ATTRIBUTES = words(`
  cx cy d dominant-baseline dx dy fill fill-opacity fill-rule clip-rule font-family font-size font-weight
  gradientunits gradienttransform height letter-spacing offset opacity points preserveaspectratio r rx ry
  stop-color stop-opacity stroke stroke-dasharray stroke-linecap stroke-linejoin stroke-miterlimit
  stroke-opacity stroke-width text-anchor transform viewbox width x x1 x2 y y1 y2 fx fy class id style`);

/** Attributes that mean something else on other elements. */
const OWNERS: Record<string, Set<string> | undefined> = {
  type: words('li ol ul'),
  value: words('li meter progress'),
};

export function isKeptAttribute(name: string, tag: string, isSvg: boolean): boolean {
  if (/^aria-[a-z]{1,30}$/.test(name)) return true;
  if (isSvg) return SVG_ATTRIBUTES.has(name);
  return KEPT_ATTRIBUTES.has(name) && (OWNERS[name]?.has(tag) ?? true);
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const escapeText = (text: string): string =>
  text.replaceAll('\0', '').replace(/[&<>"]/g, (char) => ESCAPES[char]!);
