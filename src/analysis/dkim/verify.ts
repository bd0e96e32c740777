/** Verifies the DKIM signatures of the message, once for all checks (RFC 6376, 8301, 8463). */

import { constants, publicDecrypt } from 'node:crypto';
import {
  type DKIMResult,
  type DKIMVerifyOptions,
  type DKIMVerifyResult,
  dkimVerify,
} from 'mailauth';
import { DkimVerifier } from 'mailauth/lib/dkim/dkim-verifier.js';
import { isoTime } from '../../lib/clock.ts';
import type { DnsAnswer, Resolver } from '../../net/dns/resolver.ts';
import type { Context } from '../check.ts';
import { mailauthResolver } from '../dns/mailauth-resolver.ts';
import { LIMITS } from '../mime/message.ts';
import type { AuthResult } from '../result.ts';
import { type DkimKey, readKeyRecord } from './key.ts';
import type { DkimCause, DkimOutcome, DkimSignature } from './outcome.ts';
import {
  readSignature,
  type SignatureFields,
  signatureValue,
  takeSignatures,
} from './signature.ts';

export type { DkimCause, DkimOutcome, DkimSignature } from './outcome.ts';

// mailauth's time to take header lines apart grows with the square of their number.
const MAX_HEADER_LINES = 10_000;

/**
 * The fact `context.fact(dkimResult)`. At most ten signatures are looked at, their keys asked for
 * side by side. Never rejects for what is in the message or in the DNS.
 */
export async function dkimResult(context: Context): Promise<DkimOutcome> {
  const fields = takeSignatures(context.raw);
  const signatures = fields.values.map((value, index) =>
    readSignature(value, index + 1, context.receivedAt),
  );
  const outcome = { signatures, ignored: fields.ignored, verified: null };
  if (isTooLarge(fields)) return tooLarge(outcome);
  if (context.offline && signatures.length > 0)
    return { ...outcome, result: null, reason: 'nothing may be asked in the offline mode' };
  // All keys are asked for at once; mailauth would wait for one before it asks for the next. The
  // context's resolver asks each question once.
  const { resolver } = context;
  const answers = Promise.all(signatures.map((signature) => askForKey(signature, resolver)));
  const options = {
    resolver: mailauthResolver(resolver),
    curTime: new Date(context.receivedAt),
    rejectRsaSha1: true,
  };
  const verified = await verifySignatures(fields.raw, options, context.message.lines.bareLf > 0);
  const found = matchResults(fields.values, verified);
  const known = await answers;
  const judged = signatures.map((signature, index) =>
    judge(signature, found[index], known[index]!),
  );
  return {
    ...overall(judged, fields.ignored),
    signatures: judged,
    ignored: fields.ignored,
    verified,
  };
}

function isTooLarge({ headerBytes, headerLines }: SignatureFields): boolean {
  return headerBytes > LIMITS.headerBytes || headerLines > MAX_HEADER_LINES;
}

function tooLarge(outcome: Pick<DkimOutcome, 'signatures' | 'ignored' | 'verified'>): DkimOutcome {
  const reason = 'the header is too large to be verified';
  const signatures = outcome.signatures.map(
    (signature): DkimSignature => ({ ...signature, result: 'neutral', cause: 'malformed', reason }),
  );
  const unsigned = signatures.length + outcome.ignored === 0;
  return { ...outcome, signatures, result: unsigned ? 'none' : 'neutral', reason };
}

async function askForKey({ domain, selector, keyName }: DkimSignature, resolver: Resolver) {
  const askable = domain !== '' && selector !== '' && /^[\x21-\x7e]{1,253}$/.test(keyName);
  return askable ? resolver(keyName, 'TXT') : ({ status: 'nxdomain' } as DnsAnswer);
}

/** mailauth's results are in the order of the message, but leave out what it cannot process. */
function matchResults(values: string[], verified: DKIMVerifyResult): (DKIMResult | undefined)[] {
  const results = verified.results.filter((result) => result.signingDomain !== undefined);
  let next = 0;
  return values.map((value) =>
    results[next] && (results[next]?.signature ?? '') === signatureValue(value)
      ? results[next++]
      : undefined,
  );
}

function judge(
  signature: DkimSignature,
  found: DKIMResult | undefined,
  answer: DnsAnswer,
): DkimSignature {
  // The record that mailauth took, white space and all; of several it takes the first.
  const record = answer.status === 'found' ? (answer.records[0] ?? null) : null;
  const key = record === null ? null : readKeyRecord(record, provenKey(found));
  return {
    ...signature,
    ...verdictOf(signature, found, key, answer),
    id: found?.id ?? signature.id,
    bits: key?.bits ?? null,
    underSized: found?.status.underSized ?? null,
    testing: key?.testing ?? false,
    keyRecord: record,
    keyType: key?.type ?? null,
    warnings: [...signature.warnings, ...(found?.status.warnings ?? [])],
  };
}

/** What a valid signature shows of its key: mailauth tells the length of RSA keys alone. */
function provenKey(found: DKIMResult | undefined) {
  if (found?.status.result !== 'pass') return null;
  const { modulusLength } = found;
  return modulusLength ? { type: 'rsa', bits: modulusLength } : null;
}

/** One signature that passes is enough; else what might still pass, else the plainest failure. */
const PRECEDENCE: AuthResult[] = ['pass', 'temperror', 'fail', 'policy', 'permerror', 'neutral'];

function overall(
  signatures: DkimSignature[],
  ignored: number,
): Pick<DkimOutcome, 'result' | 'reason'> {
  for (const result of PRECEDENCE) {
    const signature = signatures.find((candidate) => candidate.result === result);
    if (signature) return { result, reason: signature.reason };
  }
  if (ignored > 0) return { result: 'neutral', reason: 'the signatures are too long' };
  return { result: 'none', reason: 'the message is not signed' };
}

// Turns mailauth's word on a signature into RFC 8601's, with the one cause that a person can act on.

interface Verdict {
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
function verdictOf(
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

// Hands a message to mailauth's DKIM verifier, whole where that gives the very same result.

/** Larger messages go through the stream, which lets other analyses of the thread in between. */
const WHOLE_MAX_OCTETS = 256 * 1024;

/**
 * What `dkimVerify` answers. The way in through its stream looks for the end of the header octet
 * by octet and gives bare LF its CR; a message without bare LF needs neither, and skips a third
 * of the work.
 */
async function verifySignatures(
  raw: Buffer,
  options: DKIMVerifyOptions,
  hasBareLf: boolean,
): Promise<DKIMVerifyResult> {
  const emptyLine = raw.indexOf('\r\n\r\n');
  // A message that begins with an empty line has no header; the stream knows what to do with it.
  const simple = emptyLine > 0 && !raw.subarray(0, 2).equals(CRLF) && !hasBareLf;
  if (!simple || raw.length > WHOLE_MAX_OCTETS) return dkimVerify(raw, options);
  const bodyAt = emptyLine + 4;
  const verifier = new DkimVerifier(options);
  await verifier.emitHeaders(raw.subarray(0, bodyAt));
  if (bodyAt < raw.length) await verifier.nextChunk(raw.subarray(bodyAt));
  await verifier.finalChunk();
  const { headerFrom, fromFields, envelopeFrom, results, headers, arc, seal } = verifier;
  return { headerFrom, fromFields, envelopeFrom, results, headers, arc, seal };
}

const CRLF = Buffer.from('\r\n');
