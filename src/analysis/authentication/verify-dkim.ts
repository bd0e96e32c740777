/** Verifies the DKIM signatures of the message, once for all checks (RFC 6376, 8301, 8463). */

import type { DKIMResult, DKIMVerifyResult } from 'mailauth';
import type { DnsAnswer, Resolver } from '../../net/resolver.ts';
import type { Context } from '../check.ts';
import { LIMITS } from '../message.ts';
import type { AuthResult } from '../result.ts';
import { readKeyRecord } from './dkim-key-record.ts';
import type { DkimOutcome, DkimSignature } from './dkim-outcome.ts';
import { verdictOf } from './dkim-verdict.ts';
import { mailauthResolver } from './mailauth-resolver.ts';
import { type SignatureFields, takeSignatures } from './signature-fields.ts';
import { readSignature, signatureValue } from './signature-tags.ts';
import { verifySignatures } from './verify-signatures.ts';

export type { DkimCause, DkimOutcome, DkimSignature } from './dkim-outcome.ts';

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
