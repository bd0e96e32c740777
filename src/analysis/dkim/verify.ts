/** Verifies the DKIM signatures of a message once for all checks (RFC 6376, 8301, 8463). */

import { constants, publicDecrypt } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { DKIMResult, DKIMVerifyOptions, DKIMVerifyResult } from 'mailauth';
import { formatUtcTime } from '../../lib/clock.ts';
import { type DnsAnswer, type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import type { AuthResult } from '../auth-results.ts';
import type { Context } from '../check.ts';
import { mailauthResolver } from '../dns/mailauth-resolver.ts';
import { LIMITS } from '../mime/message.ts';
import { keepKeys } from './kept-keys.ts';
import { type DkimKey, readKeyRecord, resemblesKey } from './key-record.ts';
import { withCrlf } from './line-ends.ts';
import { type DkimCause, type DkimOutcome, type DkimSignature, isOfFromDomain } from './outcome.ts';
import { SinglePassVerifier } from './relaxed-body.ts';
import {
  extractSignatures,
  readSignature,
  type SignatureFields,
  signatureValue,
} from './signature.ts';

export type { DkimCause, DkimOutcome, DkimSignature } from './outcome.ts';

// The time that mailauth needs to parse a header grows with the square of its lines.
const MAX_HEADER_LINES = 10_000;

/**
 * A fact: `context.fact(dkimResult)`. Verifies at most MAX_SIGNATURES signatures. Never rejects because
 * of the content of the message or of DNS.
 */
export async function dkimResult(context: Context): Promise<DkimOutcome> {
  const fields = extractSignatures(context.raw, (domain) => isOfFromDomain(context, domain));
  const signatures = fields.values.map((value, index) =>
    readSignature(value, index + 1, context.receivedAt),
  );
  const { ignoredCount, overLimit } = fields;
  const outcome = { signatures, ignoredCount, overLimit, mailauthResult: null };
  if (isTooLarge(fields)) return tooLarge(outcome);
  if (context.offline && signatures.length > 0)
    return { ...outcome, result: null, reason: 'offline mode makes no DNS lookups' };
  // Look up all keys at once, because mailauth looks them up one after the other. The context's
  // resolver caches the answers.
  const { resolver } = context;
  const answers = Promise.all(signatures.map((signature) => lookUpKey(signature, resolver)));
  const options = {
    resolver: mailauthResolver(resolver),
    // Without a time of receipt, no signature has expired.
    curTime: new Date(context.receivedAt ?? 0),
    rejectRsaSha1: true,
  };
  const { bareLf } = context.message.lines;
  const hashed = needsBody(fields)
    ? fields.raw
    : fields.raw.subarray(0, fields.headerBytes + EMPTY_LINE);
  const raw = bareLf === 0 ? hashed : withCrlf(hashed, bareLf);
  const verified = await verifySignatures(raw, options);
  const mailauthResults = matchResults(fields.values, verified);
  const keyAnswers = await answers;
  const evaluated = signatures.map((signature, index) =>
    evaluate(signature, mailauthResults[index], keyAnswers[index]!),
  );
  return {
    ...overallResult(evaluated, fields.ignoredCount),
    signatures: evaluated,
    ignoredCount,
    overLimit,
    mailauthResult: verified,
  };
}

/** The most octets of the empty line after the header. */
const EMPTY_LINE = 2;

/** Whether a signature covers the body. ARC fields can be written in ways that only mailauth reads. */
const needsBody = ({ values, raw, headerBytes }: SignatureFields): boolean =>
  values.length > 0 || /\barc-/i.test(raw.toString('latin1', 0, headerBytes));

function isTooLarge({ headerBytes, headerLines }: SignatureFields): boolean {
  return headerBytes > LIMITS.headerBytes || headerLines > MAX_HEADER_LINES;
}

function tooLarge(
  outcome: Pick<DkimOutcome, 'signatures' | 'ignoredCount' | 'overLimit' | 'mailauthResult'>,
): DkimOutcome {
  const reason = 'the header is too large to verify';
  const signatures = outcome.signatures.map(
    (signature): DkimSignature => ({ ...signature, result: 'neutral', cause: 'malformed', reason }),
  );
  const unsigned = signatures.length + outcome.ignoredCount === 0;
  return { ...outcome, signatures, result: unsigned ? 'none' : 'neutral', reason };
}

async function lookUpKey({ domain, selector, keyName }: DkimSignature, resolver: Resolver) {
  const isQueryable = domain !== '' && selector !== '' && /^[\x21-\x7e]{1,253}$/.test(keyName);
  return isQueryable ? resolver(keyName, 'TXT') : ({ status: 'nxdomain' } as DnsAnswer);
}

/** mailauth's results are in the order of the message, without signatures that it cannot process. */
function matchResults(values: string[], verified: DKIMVerifyResult): (DKIMResult | undefined)[] {
  const results = verified.results.filter((result) => result.signingDomain !== undefined);
  let next = 0;
  return values.map((value) =>
    results[next] && (results[next]?.signature ?? '') === signatureValue(value)
      ? results[next++]
      : undefined,
  );
}

function evaluate(
  signature: DkimSignature,
  mailauthResult: DKIMResult | undefined,
  answer: DnsAnswer,
): DkimSignature {
  // mailauth uses the first of several records, unmodified.
  const texts = recordsOf(answer) ?? [];
  const record = texts[0] ?? null;
  const key = record === null ? null : readKeyRecord(record, provenKey(mailauthResult));
  return {
    ...signature,
    ...verdictOf(signature, mailauthResult, key, answer),
    id: mailauthResult?.id ?? signature.id,
    bits: key?.bits ?? null,
    unsignedBodyBytes: mailauthResult?.status.underSized ?? null,
    testing: key?.testing ?? false,
    keyRecord: record,
    keyTexts: texts,
    keyType: key?.type ?? null,
    warnings: [...signature.warnings, ...(mailauthResult?.status.warnings ?? [])],
  };
}

/** What a valid signature proves about its key; mailauth only reports the length of RSA keys. */
function provenKey(mailauthResult: DKIMResult | undefined) {
  if (mailauthResult?.status.result !== 'pass') return null;
  const { modulusLength } = mailauthResult;
  return modulusLength ? { type: 'rsa', bits: modulusLength } : null;
}

/** One passing signature is enough; else a signature that might still pass, else a failure. */
const PRECEDENCE: AuthResult[] = ['pass', 'temperror', 'fail', 'policy', 'permerror', 'neutral'];

function overallResult(
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

interface Verdict {
  result: AuthResult;
  cause: DkimCause | null;
  reason: string | null;
}

/**
 * Turns mailauth's result into a result of RFC 8601 with a cause. mailauth runs in lenient mode, because
 * its strict mode rejects signatures that every mailbox provider accepts. Lenient mode reports a changed
 * body as `neutral`, which RFC 8601 §2.7.1 calls `fail`.
 *
 * `mailauthResult` is undefined for a signature that mailauth does not report: one without `d=` or `s=`,
 * or with an unknown algorithm or canonicalization.
 */
function verdictOf(
  signature: DkimSignature,
  mailauthResult: DKIMResult | undefined,
  key: DkimKey | null,
  answer: DnsAnswer,
): Verdict {
  if (!mailauthResult) return malformed(unprocessable(signature));
  // mailauth reports a missing bh= as a body hash mismatch.
  if (!mailauthResult.bodyHashExpecting || !mailauthResult.signature)
    return malformed('it has no body hash (bh=) or no signature value (b=)');
  // RFC 6376 §3.6.2.2: the result is undefined. Many verifiers reject the signature, others use any.
  if (answer.status === 'found' && answer.records.length > 1 && answerHasKey(answer))
    return verdict(
      'permerror',
      'several_keys',
      `${answer.records.length} TXT records are published at ${signature.keyName}`,
    );
  const { result, comment } = mailauthResult.status;
  if (result === 'pass') return { result: 'pass', cause: null, reason: null };
  if (comment === 'body hash did not verify')
    return verdict('fail', 'body_changed', 'the body was changed after signing');
  if (comment === 'From field not signed') return malformed('it does not cover the From field');
  if (comment === 'invalid expiration') return malformed('it expires before its signing time');
  if (comment === 'expired') return expired(signature);
  if (result === 'fail') return mismatch(mailauthResult, key);
  if (result === 'policy') return unacceptable(signature, key);
  return keyVerdict(signature, key, answer, typeof comment === 'string' ? comment : result);
}

function verdict(result: AuthResult, cause: DkimCause, reason: string): Verdict {
  return { result, cause, reason };
}

/** RFC 8601 §2.7.1: `neutral` is for signatures that could not be processed. */
const malformed = (reason: string): Verdict => verdict('neutral', 'malformed', reason);

function unprocessable({ domain, selector, algorithm, canonicalization }: DkimSignature): string {
  if (domain === '' || selector === '') return 'it has no domain (d=) or no selector (s=)';
  if (!['rsa-sha256', 'rsa-sha1', 'ed25519-sha256'].includes(algorithm))
    return algorithm === ''
      ? 'it has no algorithm (a=)'
      : `its algorithm ${algorithm.slice(0, 40)} is unknown`;
  return `its canonicalization ${canonicalization.slice(0, 40)} is unknown`;
}

/** RFC 8601 calls a valid signature that is not acceptable `policy`. */
function expired({ expiresAt }: DkimSignature): Verdict {
  const when = expiresAt === null ? '' : ` on ${formatUtcTime(expiresAt)}`;
  return verdict('policy', 'expired', `it expired${when}, before the message arrived`);
}

function unacceptable(signature: DkimSignature, key: DkimKey | null): Verdict {
  return signature.algorithm.endsWith('-sha1')
    ? verdict('policy', 'sha1', 'it uses SHA-1, which verifiers must not accept')
    : verdict(
        'policy',
        'weak_key',
        `its key has ${key?.bits ? `only ${key.bits}` : 'too few'} bits`,
      );
}

/**
 * An RSA signature decrypted with the right key has PKCS #1 padding, which means that a header field
 * was changed. With another key the result is noise. Ed25519 allows no such distinction.
 */
function mismatch(mailauthResult: DKIMResult, key: DkimKey | null): Verdict {
  if (key?.type !== 'rsa' || !key.publicKey)
    return verdict(
      'fail',
      'bad_signature',
      'a signed header field was changed, or the published key is wrong',
    );
  try {
    const value = Buffer.from(mailauthResult.signature ?? '', 'base64');
    publicDecrypt({ key: key.publicKey, padding: constants.RSA_PKCS1_PADDING }, value);
    return verdict('fail', 'header_changed', 'a signed header field was changed after signing');
  } catch {
    return verdict('fail', 'wrong_key', 'it was made with a different key than the published one');
  }
}

/** False if a record of another kind answers, such as the one of a wildcard. */
const answerHasKey = (answer: DnsAnswer): boolean =>
  answer.status === 'found' && answer.records.some(resemblesKey);

/** Failures to get a usable key. */
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
  if (!key || !answerHasKey(answer))
    return verdict('permerror', 'no_key', `no key is published at ${keyName}`);
  if (key.revoked)
    return verdict('permerror', 'revoked', `its key at ${keyName} has been revoked (p= is empty)`);
  const detail =
    key.bits !== null && !algorithm.startsWith(key.type)
      ? `its key type ${key.type} does not match the algorithm of the signature`
      : comment;
  return verdict(
    'permerror',
    'unusable_key',
    `the key record at ${keyName} is invalid (${detail})`,
  );
}

/** Other analyses of the thread run after each piece of a body. */
const PIECE_BYTES = 64 * 1024;

/**
 * Gives mailauth a message without bare LF. Its own stream searches for the end of the header byte by byte, which takes a third
 * of the time.
 */
async function verifySignatures(
  raw: Buffer,
  options: DKIMVerifyOptions,
): Promise<DKIMVerifyResult> {
  const bodyAt = findBody(raw);
  const verifier = new SinglePassVerifier(options);
  keepKeys(verifier.keyCache);
  await verifier.emitHeaders(raw.subarray(0, bodyAt));
  for (let at = bodyAt; at < raw.length; at += PIECE_BYTES) {
    if (at > bodyAt) await setImmediate();
    await verifier.nextChunk(raw.subarray(at, at + PIECE_BYTES));
  }
  await verifier.finalChunk();
  const { headerFrom, fromFields, envelopeFrom, results, headers, arc, seal } = verifier;
  return { headerFrom, fromFields, envelopeFrom, results, headers, arc, seal };
}

/** A message that begins with an empty line has no header; one without an empty line has no body. */
function findBody(raw: Buffer): number {
  if (raw.subarray(0, 2).equals(CRLF)) return 2;
  const emptyLine = raw.indexOf('\r\n\r\n');
  return emptyLine < 0 ? raw.length : emptyLine + 4;
}

const CRLF = Buffer.from('\r\n');
