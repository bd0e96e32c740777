/** Turns mailauth's word on a signature into RFC 8601's, with the one cause that a person can act on. */

import { constants, publicDecrypt } from 'node:crypto';
import type { DKIMResult } from 'mailauth';
import { isoTime } from '../../lib/clock.ts';
import type { DnsAnswer } from '../../net/resolver.ts';
import type { AuthResult } from '../result.ts';
import type { DkimKey } from './dkim-key-record.ts';
import type { DkimCause, DkimSignature } from './dkim-outcome.ts';

export interface Verdict {
  result: AuthResult;
  cause: DkimCause | null;
  reason: string | null;
}

/**
 * mailauth runs lenient, because strict refuses signatures that every receiver takes, and so
 * calls a changed body `neutral`; RFC 8601 §2.7.1 and everyone else call it `fail`.
 *
 * `found` is undefined for a signature that mailauth did not report at all: one whose algorithm or
 * canonicalization is unknown, or without `d=` or `s=`.
 */
export function verdictOf(
  signature: DkimSignature,
  found: DKIMResult | undefined,
  key: DkimKey | null,
  answer: DnsAnswer,
): Verdict {
  if (!found) return malformed(unprocessable(signature));
  // mailauth takes an absent bh= for a body hash that differs.
  if (!found.bodyHashExpecting || !found.signature)
    return malformed('it lacks the body hash bh= or the signature value b=');
  const { result, comment } = found.status;
  if (result === 'pass') return { result: 'pass', cause: null, reason: null };
  if (comment === 'body hash did not verify')
    return verdict('fail', 'body_changed', 'the body was changed after it was signed');
  if (comment === 'From field not signed') return malformed('it does not sign the From field');
  if (comment === 'invalid expiration') return malformed('it expires before it was made');
  if (comment === 'expired') return expired(signature);
  if (result === 'fail') return broken(found, key);
  if (result === 'policy') return refused(signature, key);
  return keyVerdict(signature, key, answer, typeof comment === 'string' ? comment : result);
}

function verdict(result: AuthResult, cause: DkimCause, reason: string): Verdict {
  return { result, cause, reason };
}

/** RFC 8601 §2.7.1: `neutral` is for signatures that could not be processed. */
const malformed = (reason: string): Verdict => verdict('neutral', 'malformed', reason);

function unprocessable({ domain, selector, algorithm, canonicalization }: DkimSignature): string {
  if (domain === '' || selector === '') return 'it lacks the domain d= or the selector s=';
  if (!['rsa-sha256', 'rsa-sha1', 'ed25519-sha256'].includes(algorithm))
    return algorithm === ''
      ? 'it names no algorithm'
      : `its algorithm ${algorithm.slice(0, 40)} is unknown`;
  return `its canonicalization ${canonicalization.slice(0, 40)} is unknown`;
}

/** The signature itself is right: only its acceptance is refused, which RFC 8601 calls `policy`. */
function expired({ expiresAt }: DkimSignature): Verdict {
  const when = expiresAt === null ? '' : ` on ${isoTime(expiresAt)}`;
  return verdict('policy', 'expired', `it expired${when}, before the message was received`);
}

function refused(signature: DkimSignature, key: DkimKey | null): Verdict {
  return signature.algorithm.endsWith('-sha1')
    ? verdict('policy', 'sha1', 'it is made with SHA-1, which verifiers must not accept')
    : verdict('policy', 'weak_key', `its key has only ${key?.bits ?? 'few'} bits`);
}

/**
 * An RSA signature shows what it was made with: opened with the right key it has the padding of
 * PKCS #1, so then a header field was changed; with another key it is noise. Ed25519 does not.
 */
function broken(found: DKIMResult, key: DkimKey | null): Verdict {
  if (key?.type !== 'rsa' || !key.publicKey)
    return verdict(
      'fail',
      'bad_signature',
      'a signed header field was changed, or the published key is not the one it was made with',
    );
  try {
    const value = Buffer.from(found.signature ?? '', 'base64');
    publicDecrypt({ key: key.publicKey, padding: constants.RSA_PKCS1_PADDING }, value);
    return verdict(
      'fail',
      'header_changed',
      'a signed header field was changed after it was signed',
    );
  } catch {
    return verdict('fail', 'wrong_key', 'it was made with another key than the published one');
  }
}

/** What is left are failures to get a usable key. */
function keyVerdict(
  { keyName, algorithm }: DkimSignature,
  key: DkimKey | null,
  answer: DnsAnswer,
  comment: string,
): Verdict {
  if (answer.status === 'error')
    return verdict(
      'temperror',
      'dns_failure',
      `its key at ${keyName} could not be looked up (${answer.reason})`,
    );
  if (!key) return verdict('permerror', 'no_key', `no key is published at ${keyName}`);
  if (key.revoked)
    return verdict('permerror', 'revoked', `its key at ${keyName} has been revoked (p= is empty)`);
  const why =
    key.bits !== null && !algorithm.startsWith(key.type)
      ? `it holds a key of type ${key.type}, the signature needs another`
      : comment;
  return verdict(
    'permerror',
    'unusable_key',
    `the key record at ${keyName} cannot be used (${why})`,
  );
}
