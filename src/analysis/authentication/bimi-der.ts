/** Reads the parts of a certificate that Node does not show: its extensions and odd names (RFC 5280). */

interface Element {
  tag: number;
  content: Uint8Array;
}

const INTEGER = 0x02;
const SEQUENCE = 0x30;
const EXTENSIONS = 0xa3;
const IA5_STRING = 0x16;

/**
 * The elements that the bytes are made of (X.690), each looked at once; an empty list for what is
 * not DER. No certificate has tags above 30.
 */
function elementsOf(bytes: Uint8Array): Element[] {
  const found: Element[] = [];
  let at = 0;
  while (at < bytes.length) {
    const length = lengthAt(bytes, at + 1);
    if (length === null || (bytes[at]! & 0x1f) === 0x1f) return [];
    const end = length.start + length.octets;
    if (end > bytes.length) return [];
    found.push({ tag: bytes[at]!, content: bytes.subarray(length.start, end) });
    at = end;
  }
  return found;
}

/** A definite length of at most three octets: a certificate is far smaller than what they can say. */
function lengthAt(bytes: Uint8Array, at: number): { start: number; octets: number } | null {
  const first = bytes[at];
  if (first === undefined) return null;
  if (first < 0x80) return { start: at + 1, octets: first };
  const count = first & 0x7f;
  if (count === 0 || count > 3 || at + count >= bytes.length) return null;
  let octets = 0;
  for (let i = 1; i <= count; i++) octets = octets * 256 + bytes[at + i]!;
  return { start: at + 1 + count, octets };
}

/** `2.5.29.17` out of the contents of an object identifier. */
function readOid(content: Uint8Array): string {
  const arcs: number[] = [];
  let value = 0;
  for (const octet of content) {
    value = value * 128 + (octet & 0x7f);
    if (octet < 0x80) {
      arcs.push(value);
      value = 0;
    }
  }
  const [first = 0, ...rest] = arcs;
  const root = Math.min(2, Math.floor(first / 40));
  return [root, first - root * 40, ...rest].join('.');
}

/** What TBSCertificate is made of, without the version where it is told. */
function bodyOf(certificate: Uint8Array): Element[] {
  const [whole] = elementsOf(certificate);
  const [body] = whole ? elementsOf(whole.content) : [];
  const elements = body ? elementsOf(body.content) : [];
  return elements[0]?.tag === INTEGER ? elements : elements.slice(1);
}

/** The value of the extension, as DER; null where the certificate has none (§4.2). */
export function certificateExtension(certificate: Uint8Array, oid: string): Uint8Array | null {
  const extensions = bodyOf(certificate).find(({ tag }) => tag === EXTENSIONS);
  const [list] = extensions ? elementsOf(extensions.content) : [];
  for (const { content } of list ? elementsOf(list.content) : []) {
    const parts = elementsOf(content);
    // The critical flag may stand in between.
    if (parts[0] && readOid(parts[0].content) === oid) return parts.at(-1)?.content ?? null;
  }
  return null;
}

/** The first value of that type in the subject, such as the kind of a mark; null where it has none. */
export function subjectAttribute(certificate: Uint8Array, oid: string): string | null {
  // Serial number, signature, issuer, validity, subject.
  const subject = bodyOf(certificate)[4];
  for (const set of subject ? elementsOf(subject.content) : [])
    for (const { content } of elementsOf(set.content)) {
      const [type, value] = elementsOf(content);
      if (type && value && readOid(type.content) === oid)
        return Buffer.from(value.content).toString('utf8');
    }
  return null;
}

/** The DNS names in a subject alternative name (§4.2.1.6), in lower case. */
export function dnsNames(extension: Uint8Array): string[] {
  const [names] = elementsOf(extension);
  return (names ? elementsOf(names.content) : [])
    .filter(({ tag }) => tag === 0x82)
    .map(({ content }) => Buffer.from(content).toString('latin1').toLowerCase());
}

/** The first text (IA5String) in the nested elements that begins so; null where there is none. */
export function findText(bytes: Uint8Array, beginning: string, depth = 0): string | null {
  if (depth > 16) return null;
  for (const { tag, content } of elementsOf(bytes)) {
    if (tag === IA5_STRING) {
      const text = Buffer.from(content).toString('latin1');
      if (text.startsWith(beginning)) return text;
    } else if (tag === SEQUENCE || (tag & 0xe0) === 0xa0) {
      const found = findText(content, beginning, depth + 1);
      if (found !== null) return found;
    }
  }
  return null;
}
