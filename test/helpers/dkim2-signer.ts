/** Signs messages with DKIM2, in the form of draft-ietf-dkim-dkim2-spec-06, written apart from the verifier. */

import { createHash, createPrivateKey, sign } from 'node:crypto';
import type { SigningKey } from './signer.ts';

export interface Dkim2Hop {
  key: SigningKey;
  domain: string;
  selector?: string;
  mailFrom: string;
  recipients: string[];
  /** Seconds since the Unix epoch. */
  time: number;
  /** Adds a Message-Instance field; by default only the first hop does. */
  instance?: { number: number; hashes?: string[]; recipes?: string } | null;
  /** Changes the tags before they are signed. */
  change?(tags: string): string;
}

const UNSIGNED =
  /^(?:received(?:-.*)?|return-path|delivered-to|x-.*|dkim-signature|authentication-results|arc-seal|message-instance|dkim2-signature)$/;

/** Adds the fields of each hop on top of the message, which has CRLF line endings. */
export function signDkim2(message: Buffer, hops: Dkim2Hop[]): Buffer {
  const instances: string[] = [];
  const signatures: string[] = [];
  let text = message.toString('latin1');
  hops.forEach((hop, index) => {
    const added = hop.instance === undefined && index === 0 ? { number: 1 } : hop.instance;
    if (added) {
      const field = instanceField(text, added);
      instances.push(field);
      text = `${field}\r\n${text}`;
    }
    const field = signatureField(hop, index + 1, instances, signatures);
    signatures.push(field);
    text = `${field}\r\n${text}`;
  });
  return Buffer.from(text, 'latin1');
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

function instanceField(
  message: string,
  { number, hashes = ['sha256'], recipes }: NonNullable<Dkim2Hop['instance']>,
): string {
  const end = message.indexOf('\r\n\r\n');
  const header = message.slice(0, end).split(/\r\n(?![ \t])/);
  const body = message.slice(end + 4).replace(/(?:\r\n)*$/, '\r\n');
  const lines = header
    .map((field) => {
      const [name = '', ...value] = field.split(':');
      return [name.toLowerCase(), value.join(':').replace(/\s+/g, ' ').trim()] as const;
    })
    .filter(([name]) => !UNSIGNED.test(name))
    .reverse()
    .map((line, index) => ({ line, index }))
    .sort((a, b) => a.line[0].localeCompare(b.line[0], 'en') || a.index - b.index)
    .map(({ line: [name, value] }) => `${name}:${value}\r\n`)
    .join('');
  const digest = (algorithm: string, data: string) =>
    createHash(algorithm).update(Buffer.from(data, 'latin1')).digest('base64');
  const sets = hashes.map((algorithm) =>
    [algorithm, digest(algorithm, lines), digest(algorithm, body)].join(':'),
  );
  return `Message-Instance: m=${number}; h=${sets.join(',\r\n ')};${recipes ? ` r=${base64(recipes)};` : ''}`;
}

function signatureField(
  { key, domain, selector = 's1', mailFrom, recipients, time, change = (tags) => tags }: Dkim2Hop,
  number: number,
  instances: string[],
  signatures: string[],
): string {
  const privateKey = createPrivateKey(key.privateKey);
  const isEd25519 = privateKey.asymmetricKeyType === 'ed25519';
  const algorithm = isEd25519 ? 'ed25519-sha256' : 'rsa-sha256';
  const envelope = `mf=${base64(`<${mailFrom}>`)}; rt=${recipients.map((one) => base64(`<${one}>`)).join(', ')}`;
  const tags = change(
    `i=${number}; m=${instances.length}; t=${time}; d=${domain}; ${envelope}; s=${selector}:${algorithm}:`,
  );
  const unsigned = `DKIM2-Signature: ${tags};`;
  const input = [...instances, ...signatures, unsigned]
    .map((field) => {
      const compact = field.replace(/\s+/g, '');
      const colon = compact.indexOf(':');
      return `${compact.slice(0, colon).toLowerCase()}${compact.slice(colon)}\r\n`;
    })
    .join('');
  const data = isEd25519
    ? createHash('sha256').update(input, 'latin1').digest()
    : Buffer.from(input, 'latin1');
  const value = sign(isEd25519 ? null : 'sha256', data, privateKey).toString('base64');
  return `DKIM2-Signature: ${tags}${value.replace(/(.{60})/g, '$1\r\n ')};`;
}
