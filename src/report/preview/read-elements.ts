/** What a screen reader announces of headings, links, images, tables and lists, and what is wrong with them. */

import { altProblem } from '../../analysis/checks/image-alt.ts';
import type { ComputedStyle } from '../../analysis/html/computed-style.ts';
import { type HtmlFacts, isTiny } from '../../analysis/html/facts.ts';
import type { Attributes } from '../../analysis/html/tokens.ts';
import { isGenericText } from '../../analysis/links/generic-text.ts';
import { hasVisibleText } from '../../analysis/text.ts';
import { formatCount } from '../../lib/format/numbers.ts';
import type { ProblemList } from './accessibility-problems.ts';
import type { Font } from './font.ts';
import type { ItemCollector, ReadPlace } from './read-items.ts';

const MAX_URL = 200;

interface Table {
  rows: number;
  cells: number;
  columns: number;
  /** It has header cells or a caption. */
  isData: boolean;
  hasDataCells: boolean;
}

interface List {
  items: number;
}

/** What an element inherits. */
export interface Place extends ReadPlace {
  style: ComputedStyle;
  font: Font;
  isSilent: boolean;
  isTitle: boolean;
  table: Table | null;
  list: List | null;
}

interface OpenContext {
  out: ItemCollector;
  problems: ProblemList;
  facts: HtmlFacts;
  counts: { images: number; links: number };
}

/** Sets what the content of the element inherits. Returns what to do at its end, or null. */
export function openPlace(
  place: Place,
  name: string,
  attributes: Attributes,
  line: number,
  context: OpenContext,
): (() => void) | null {
  const role = attributes.get('role')?.trim().toLowerCase() ?? '';
  if (name === 'img') return openImage(place, attributes, line, context);
  if ((name === 'a' || name === 'area') && attributes.has('href'))
    return openLink(place, name, line, context);
  const level = headingLevel(name, role, attributes);
  if (level !== null) return openHeading(place, level, line, context);
  if (name === 'table') return openTable(place, role, line, context);
  if (name === 'ul' || name === 'ol') return openList(place, role, line, context);
  if (name === 'li' && place.list) place.list.items += 1;
  if (place.table) countTablePart(place.table, name, attributes);
  return null;
}

function headingLevel(name: string, role: string, attributes: Attributes): number | null {
  if (role === 'heading') {
    const level = Number(attributes.get('aria-level'));
    return level >= 1 && level <= 6 ? Math.floor(level) : 2;
  }
  return /^h[1-6]$/.test(name) && !/^(?:presentation|none)$/.test(role) ? Number(name[1]) : null;
}

function openHeading(place: Place, level: number, line: number, { problems }: OpenContext) {
  const heading = { level, line, hasContent: false };
  place.heading = heading;
  const { isSilent: silent } = place;
  return () => {
    if (silent || heading.hasContent) return;
    problems.add({
      kind: 'headings',
      key: 'empty heading',
      line,
      text: '',
      detail: (count) =>
        count === 1
          ? `A heading of level ${level} is empty. Use spacing instead.`
          : `${formatCount(count)} headings are empty. Use spacing instead.`,
    });
  };
}

/** Missing and useless texts are found by the same rules as in the checks. */
function openLink(place: Place, name: string, line: number, context: OpenContext) {
  const { out, problems, facts, counts } = context;
  const found = facts.links[counts.links];
  counts.links += 1;
  if (!found) return null;
  const link = { href: found.href.slice(0, MAX_URL), hasContent: false, isReported: false };
  place.link = link;
  if (place.isSilent) return null;
  const text = found.text || found.label;
  if (text !== '' && found.label === '' && isGenericText(text))
    problems.add({
      kind: 'link_text',
      key: `link ${text.toLowerCase()}`,
      line,
      text,
      detail: (count) =>
        `${count === 1 ? 'The link text does' : `${formatCount(count)} links have this text, which does`} not say where it leads. Screen readers list links without the text around them.`,
    });
  else if (URL_TEXT.test(text))
    problems.add({
      kind: 'link_text',
      key: 'link url',
      line,
      text,
      detail: (count) =>
        `${count === 1 ? 'A link has' : `${formatCount(count)} links have`} a URL as text, which screen readers spell out. Use words.`,
    });
  if (name === 'area') out.item('text', text, place, line);
  return () => {
    if (link.hasContent || name === 'area') return;
    if (text !== '') {
      out.item('text', text, place, line);
      return;
    }
    out.item('text', link.href, place, line);
    if (link.isReported) return;
    problems.add({
      kind: 'link_text',
      key: 'link empty',
      line,
      text: link.href,
      detail: (count) =>
        `${count === 1 ? 'A link has' : `${formatCount(count)} links have`} no text, so screen readers read the URL.`,
    });
  };
}

const URL_TEXT = /^<?(?:https?:\/\/\S{4,}|www\.\S{30,})$/i;

function openImage(place: Place, attributes: Attributes, line: number, context: OpenContext) {
  const { out, problems, facts, counts } = context;
  const image = facts.images[counts.images];
  counts.images += 1;
  if (!image || image.hidden || place.isSilent) return null;
  const alt = attributes.get('alt') ?? null;
  const problem = isTiny(image) ? null : altProblem(image);
  const file = fileName(image.src);
  const consequence =
    alt === null
      ? 'Screen readers may read the file name.'
      : place.link
        ? 'Screen readers read the URL of the link.'
        : 'Screen readers skip it.';
  if (problem !== null) {
    problems.add({
      kind: 'alt',
      key: `alt ${problem}`,
      line,
      text: file,
      detail: (count) =>
        `${count === 1 ? 'An image has' : `${formatCount(count)} images have`} ${problem}. ${consequence}`,
    });
  } else if (alt !== null && isFileName(alt, file))
    problems.add({
      kind: 'alt',
      key: 'alt file name',
      line,
      text: alt,
      detail: (count) =>
        `${count === 1 ? 'An alt text is' : `${formatCount(count)} alt texts are`} a file name. Describe what the image shows.`,
    });
  if (place.link && problem !== null) place.link.isReported = true;
  const text = alt ?? (isTiny(image) ? '' : file);
  if (hasVisibleText(text)) out.item(alt === null ? 'file_name' : 'image', text, place, line);
  return null;
}

const isFileName = (alt: string, file: string): boolean =>
  /^[^\s/]{1,100}\.(?:png|jpe?g|gif|svg|webp|bmp|avif)$/i.test(alt.trim()) ||
  /^(?:IMG|DSC|image|img|picture|photo)[-_ ]?\d{1,8}$/i.test(alt.trim()) ||
  (file.length > 8 && alt.trim() === file.replace(/\.\w{2,5}$/, '') && /[-_\d]/.test(alt));

/** The last part of the path, as screen readers read it of an image without alt text. */
function fileName(src: string): string {
  if (/^(?:data|cid):/i.test(src)) return src.slice(0, 40);
  const path = src.split(/[?#]/, 1)[0]!;
  return path.slice(path.lastIndexOf('/') + 1).slice(0, 100);
}

function openTable(place: Place, role: string, line: number, { out, problems }: OpenContext) {
  const isPresentation = role === 'presentation' || role === 'none';
  if (isPresentation || place.isSilent) {
    place.table = null;
    return null;
  }
  const mark = out.item('table', '', { ...place, heading: null, link: null }, line);
  const table: Table = { rows: 0, cells: 0, columns: 0, isData: false, hasDataCells: false };
  place.table = table;
  return () => {
    const rows = Math.max(table.rows, 1);
    const columns = Math.max(table.columns, 1);
    // Browsers tell screen readers that a table of one row or column is for layout.
    const isAnnounced = table.isData || (table.rows > 1 && table.columns > 1);
    if (!table.isData)
      problems.add({
        kind: 'table',
        key: 'table',
        line,
        text: '',
        detail: (count) =>
          `${count === 1 ? 'A table has' : `${formatCount(count)} tables have`} no role="presentation", so screen readers may announce rows and columns. If it holds data, mark its headings with th.`,
      });
    else if (!table.hasDataCells)
      problems.add({
        kind: 'table',
        key: 'table of headings',
        line,
        text: '',
        detail: (count) =>
          `${count === 1 ? 'A table has' : `${formatCount(count)} tables have`} only th cells, so screen readers announce a table of headings. For layout, use td and role="presentation".`,
      });
    if (isAnnounced && mark) {
      mark.text = `${formatCount(columns, 'column')}, ${formatCount(rows, 'row')}`;
      out.item('end_of_table', '', { ...place, heading: null, link: null }, line);
    } else if (mark) out.remove(mark);
  };
}

const MAX_SPAN = 1000;

function countTablePart(table: Table, name: string, attributes: Attributes): void {
  if (name === 'th' || name === 'caption' || name === 'thead') table.isData = true;
  if (name === 'tr') {
    table.rows += 1;
    table.cells = 0;
  }
  if (name !== 'td' && name !== 'th') return;
  if (name === 'td') table.hasDataCells = true;
  const span = Number.parseInt(attributes.get('colspan') ?? '1', 10);
  table.cells += span >= 1 && span <= MAX_SPAN ? span : 1;
  table.columns = Math.max(table.columns, table.cells);
}

function openList(place: Place, role: string, line: number, { out }: OpenContext) {
  place.list = { items: 0 };
  if (role === 'presentation' || role === 'none' || place.isSilent) return null;
  const { list } = place;
  const mark = out.item('list', '', { ...place, heading: null, link: null }, line);
  return () => {
    if (!mark) return;
    mark.text = formatCount(list.items, 'item');
    out.item('end_of_list', '', { ...place, heading: null, link: null }, line);
  };
}
