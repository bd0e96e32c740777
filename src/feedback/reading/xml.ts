/** XML as reports need it: the children of the root, one after the other, within limits. */

import { Parser } from 'htmlparser2';
import { LIMITS, RefusedError } from './limits.ts';
import type { Notes } from './notes.ts';

/** Names are in lower case, without a namespace prefix. */
export interface XmlElement {
  name: string;
  /** Trimmed, without the text of its children. */
  text: string;
  children: XmlElement[];
}

/** The first child with one of the names. */
export const child = (element: XmlElement | null, ...names: string[]): XmlElement | null =>
  element?.children.find(({ name }) => names.includes(name)) ?? null;

export const childrenOf = (element: XmlElement | null, name: string): XmlElement[] =>
  element?.children.filter((one) => one.name === name) ?? [];

/** The text of the first child with one of the names; null if it is missing or empty. */
export const textOf = (element: XmlElement | null, ...names: string[]): string | null =>
  child(element, ...names)?.text || null;

/** Whether a namespace is one of DMARC reports, or empty. */
const isDmarc = (uri: string): boolean => uri === '' || /dmarc(?:-xml|-\d|\.org)/i.test(uri);

/**
 * Calls `onChild` for each child of the root element. Throws RefusedError beyond a limit, for a DOCTYPE, and for a document
 * that is cut off. Ignores elements of other namespaces. Adds what it repairs to `notes`.
 */
export function readXml(
  text: string,
  root: string,
  onChild: (element: XmlElement) => void,
  notes: Notes,
): void {
  const open: XmlElement[] = [];
  /** The latest declaration of each prefix. */
  const namespaces = new Map<string, string>();
  let rootNamespace = '';
  /** The level of the outermost open element of another namespace. */
  let foreignLevel = Number.POSITIVE_INFINITY;
  let attributes = 0;
  let isEnded = false;
  let schemas = 0;
  const parser = new Parser(
    {
      onopentagname(tag) {
        attributes = 0;
        const name = localName(tag);
        if (isSchema(tag)) {
          schemas += 1;
          return;
        }
        if (isEnded) return;
        if (open.length === 0 && name !== root) {
          if (schemas > 0) return;
          // Such as HTML that quotes the message of a stranger.
          throw new RefusedError('not_a_report', `The XML begins with <${name}>, not <${root}>.`);
        }
        // `<email><reports@example.com></email>`: an address that was not escaped.
        if (name.includes('@')) {
          appendText(open.at(-1)!, name);
          notes.add('angle brackets in an address');
          return;
        }
        if (open.length >= LIMITS.xmlDepth)
          throw new RefusedError('too_many', `The XML has more than ${LIMITS.xmlDepth} levels.`);
        open.push({ name, text: '', children: [] });
      },
      onopentag(tag, declared) {
        const name = localName(tag);
        if (isEnded || isSchema(tag) || name.includes('@') || open.at(-1)?.name !== name) return;
        for (const [key, uri] of Object.entries(declared))
          if (key.startsWith('xmlns:')) namespaces.set(key.slice(6).toLowerCase(), uri);
        const uri = tag === name ? declared.xmlns : namespaces.get(tag.slice(0, -name.length - 1));
        if (open.length === 1) rootNamespace = uri ?? '';
        else if (uri !== undefined && uri !== rootNamespace && !isDmarc(uri))
          foreignLevel = Math.min(foreignLevel, open.length - 1);
      },
      onattribute() {
        attributes += 1;
        if (attributes > LIMITS.xmlAttributes)
          throw new RefusedError(
            'too_many',
            `An XML element has more than ${LIMITS.xmlAttributes} attributes.`,
          );
      },
      ontext(data) {
        const element = open.at(-1);
        if (element && !isEnded) appendText(element, data);
      },
      onclosetag(tag, isImplied) {
        const name = localName(tag);
        if (isSchema(tag)) {
          if (!isImplied) schemas -= 1;
          return;
        }
        if (isEnded || name.includes('@') || open.at(-1)?.name !== name) return;
        // `<a/>` counts as implied too.
        if (isImplied && text.slice(parser.endIndex - 1, parser.endIndex + 1) !== '/>')
          throw new RefusedError('unreadable', `The XML is incomplete: <${name}> is not closed.`);
        const element = open.pop()!;
        const isForeign = open.length >= foreignLevel;
        if (open.length === foreignLevel) foreignLevel = Number.POSITIVE_INFINITY;
        if (isForeign) return;
        element.text = clean(element.text, notes);
        if (open.length === 0) isEnded = true;
        else if (open.length === 1) onChild(element);
        else open.at(-1)!.children.push(element);
      },
      onprocessinginstruction(name) {
        if (name === '?xml') return;
        throw new RefusedError(
          'forbidden_xml',
          /^!doctype$/i.test(name)
            ? 'The XML has a DOCTYPE.'
            : 'The XML has a processing instruction or declaration.',
        );
      },
    },
    // Also decodes character references and the five entities of XML, and no others.
    { xmlMode: true, lowerCaseTags: true, decodeEntities: true },
  );
  parser.write(text);
  parser.end();
  if (open.length > 0)
    throw new RefusedError(
      'unreadable',
      `The XML is incomplete: <${open.at(-1)!.name}> is not closed.`,
    );
  if (!isEnded) throw new RefusedError('not_a_report', `The XML has no <${root}>.`);
  if (schemas > 0) notes.add('a schema element that is not closed');
}

const localName = (tag: string): string => tag.slice(tag.indexOf(':') + 1);

/** Some reports begin with `<xs:schema …>` and never close it. What is within counts as if it were outside. */
const isSchema = (tag: string): boolean => tag.endsWith(':schema');

/** Ignores white space before text and between elements: indented reports have a lot of it. */
function appendText(element: XmlElement, data: string): void {
  if (element.text === '') element.text = data.trimStart();
  else if (element.children.length === 0 || /\S/.test(data)) element.text += data;
  if (element.text.length > LIMITS.xmlText)
    throw new RefusedError(
      'too_large',
      `The XML element <${element.name}> has more than ${LIMITS.xmlText} characters.`,
    );
}

const CONTROL = /[\p{Cc}\ufffe\uffff]+/gu;

function clean(text: string, notes: Notes): string {
  const trimmed = text.trim();
  if (!/[\p{Cc}\ufffe\uffff]/u.test(trimmed)) return trimmed;
  if (/[^\P{Cc}\t\n\r]/u.test(trimmed)) notes.add('control characters');
  return trimmed.replace(CONTROL, ' ').trim();
}
