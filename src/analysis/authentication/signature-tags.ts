/** Reads what one DKIM-Signature field says of itself, before anything is verified (RFC 6376 §3.5). */

import { normalizeDomain } from '../../lib/domain-names.ts';
import type { DkimSignature } from './dkim-outcome.ts';
import { parseColonList, parseTagList } from './tag-list.ts';

/** A clock of the signer may be ahead of ours by this much before it is worth a word. */
const CLOCK_SKEW_MS = 5 * 60_000;

/** `position` counts from 1; `receivedAt` in milliseconds decides what has expired. */
export function readSignature(value: string, position: number, receivedAt: number): DkimSignature {
  const tags = parseTagList(value);
  const domain = domainOf(tags.get('d'));
  const selector = domainOf(tags.get('s'));
  const signedAt = secondsOf(tags.get('t'));
  const expiresAt = secondsOf(tags.get('x'));
  return {
    id: `signature-${position}`,
    domain,
    selector,
    identity: tags.get('i') ?? `@${domain}`,
    algorithm: (tags.get('a') ?? '').toLowerCase(),
    canonicalization: canonicalizationOf(tags.get('c')),
    bits: null,
    result: null,
    cause: null,
    reason: null,
    headers: parseColonList(tags.get('h')),
    bodyLengthLimit: numberOf(tags.get('l')),
    underSized: null,
    signedAt,
    expiresAt,
    expired: expiresAt !== null && expiresAt < receivedAt,
    testing: false,
    keyName: `${selector}._domainkey.${domain}`,
    keyRecord: null,
    keyType: null,
    warnings:
      signedAt !== null && signedAt > receivedAt + CLOCK_SKEW_MS ? ['signed-in-the-future'] : [],
  };
}

/** The value of `b=` as mailauth reports it: what tells one signature from another. */
export function signatureValue(value: string): string {
  return parseTagList(value).get('b')?.replace(/\s+/g, '') ?? '';
}

function domainOf(name: string | undefined): string {
  return name === undefined ? '' : (normalizeDomain(name) ?? name.toLowerCase());
}

function canonicalizationOf(value: string | undefined): string {
  const [header, body] = (value ?? '').toLowerCase().split('/');
  return `${header?.trim() || 'simple'}/${body?.trim() || 'simple'}`;
}

function numberOf(value: string | undefined): number | null {
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : null;
}

function secondsOf(value: string | undefined): number | null {
  // RFC 6376 §3.5 allows twelve digits.
  return value !== undefined && /^\d{1,12}$/.test(value) ? Number(value) * 1000 : null;
}
