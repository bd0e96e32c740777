/** Adds ARC sets to a message, with any tags, so that the signatures of malformed sets are valid. */

import { createHash, createPrivateKey, sign } from 'node:crypto';
import type { SigningKey } from './signer.ts';

export interface ArcSet {
  instance?: number;
  cv?: string;
  domain?: string;
  selector?: string;
  key: SigningKey;
  /** Change the tags of a field before it is signed. */
  seal?(tags: string): string;
  signature?(tags: string): string;
  results?(value: string): string;
  /** Leaves fields out of the message, after signing. */
  without?: FieldName[];
}

type FieldName = 'ARC-Seal' | 'ARC-Message-Signature' | 'ARC-Authentication-Results';

const SIGNED = ['from', 'to', 'subject', 'date', 'message-id'];
const TIME = 1_795_255_170;

/** Seals the message once for each set, oldest first. */
export function addArcSets(message: Buffer, sets: ArcSet[]): Buffer {
  const sealed: Record<FieldName, string>[] = [];
  let text = message.toString('latin1');
  sets.forEach((set, index) => {
    const instance = set.instance ?? index + 1;
    const fields = makeSet(text, sealed, { ...set, instance });
    sealed.push(fields);
    const kept = Object.entries(fields).filter(
      ([name]) => !set.without?.includes(name as FieldName),
    );
    text = `${kept.map(([name, value]) => `${name}: ${value}\r\n`).join('')}${text}`;
  });
  return Buffer.from(text, 'latin1');
}

function makeSet(
  message: string,
  earlier: Record<FieldName, string>[],
  set: ArcSet & { instance: number },
): Record<FieldName, string> {
  const { instance, domain = 'list.example', selector = 'arc', key } = set;
  const same = (value: string) => value;
  const algorithm = key.record.includes('k=ed25519') ? 'ed25519-sha256' : 'rsa-sha256';
  const names = `a=${algorithm}; d=${domain}; s=${selector}; t=${TIME}`;
  const [header = '', body = ''] = splitOnce(message, '\r\n\r\n');
  const bodyHash = createHash('sha256').update(body).digest('base64');
  const results = (set.results ?? same)(`i=${instance}; mx.${domain}; spf=pass; dkim=pass`);

  const signatureTags = (set.signature ?? same)(
    `i=${instance}; ${names}; c=relaxed/relaxed; h=${SIGNED.join(':')}; bh=${bodyHash}`,
  );
  const signed = SIGNED.map((name) => `${canonical(name, fieldText(header, name))}\r\n`);
  const unsigned = `${signatureTags}; b=`;
  const signature = `${unsigned}${signText(key, [...signed, canonical('ARC-Message-Signature', unsigned)])}`;

  const cv = set.cv ?? (instance === 1 ? 'none' : 'pass');
  const sealTags = `${(set.seal ?? same)(`i=${instance}; ${names}; cv=${cv}`)}; b=`;
  const lines = (fields: Record<FieldName, string>): string[] =>
    (['ARC-Authentication-Results', 'ARC-Message-Signature', 'ARC-Seal'] as const).map(
      (name) => `${canonical(name, fields[name])}\r\n`,
    );
  const current = lines({
    'ARC-Authentication-Results': results,
    'ARC-Message-Signature': signature,
    'ARC-Seal': sealTags,
  });
  const chain = [...earlier.flatMap(lines), ...current].join('').replace(/\r\n$/, '');
  return {
    'ARC-Seal': `${sealTags}${signText(key, [chain])}`,
    'ARC-Message-Signature': signature,
    'ARC-Authentication-Results': results,
  };
}

/** Relaxed canonicalization (RFC 6376 §3.4.2). */
const canonical = (name: string, value: string): string =>
  `${name.toLowerCase()}:${value.replace(/\s+/g, ' ').trim()}`;

function fieldText(header: string, name: string): string {
  const field = new RegExp(`(?:^|\\r\\n)${name}:((?:.|\\r\\n[ \\t])*)`, 'i').exec(header);
  return field?.[1] ?? '';
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return [text.slice(0, at), text.slice(at + separator.length)];
}

function signText(key: SigningKey, parts: string[]): string {
  const data = Buffer.from(parts.join(''), 'latin1');
  const privateKey = createPrivateKey(key.privateKey);
  const isEd25519 = privateKey.asymmetricKeyType === 'ed25519';
  // Ed25519 signs the hash (RFC 8463 §3).
  const input = isEd25519 ? createHash('sha256').update(data).digest() : data;
  return sign(isEd25519 ? null : 'sha256', input, privateKey).toString('base64');
}
