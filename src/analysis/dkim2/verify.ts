/**
 * Verifies DKIM2 signatures by draft-ietf-dkim-dkim2-spec-06 (28 August 2026). Not checked: the
 * recipients (rt=), which are unknown here, and earlier versions of a message that a hop changed.
 */

import { createHash, verify } from 'node:crypto';
import { addressDomain } from '../../lib/domain-names.ts';
import { stripAngleBrackets } from '../../lib/mail.ts';
import type { Context } from '../check.ts';
import { readKeyRecord } from '../dkim/key-record.ts';
import { fields, type HeaderField, LIMITS, type Message } from '../mime/message.ts';
import {
  type Dkim2Fields,
  type Dkim2Signature,
  type MessageInstance,
  readDkim2Fields,
} from './fields.ts';

export const DKIM2_DRAFT = 'draft-ietf-dkim-dkim2-spec-06';

export interface Dkim2Outcome {
  /** The states of §11.1; null if nothing is wrong, but not everything could be checked. */
  result: 'pass' | 'fail' | 'permerror' | 'temperror' | null;
  /** Why the result is not `pass`, as a clause. */
  reason: string | null;
  /** Signing domains, oldest first. */
  domains: string[];
}

type Problem = Pick<Dkim2Outcome, 'result' | 'reason'>;

const problem = (result: Dkim2Outcome['result'], reason: string): Problem => ({ result, reason });

/** Each costs DNS lookups and verifications. */
const MAX_FIELDS = 20;
/** §11.3. */
const MAX_AGE_MS = 14 * 86_400_000;
/** §3.2. */
const MIN_RSA_BITS = 1024;

/** A fact, for a message with a DKIM2-Signature field. Never rejects because of its content. */
export async function verifyDkim2(context: Context): Promise<Dkim2Outcome> {
  const { message } = context;
  const count = Math.max(
    fields(message, 'dkim2-signature').length,
    fields(message, 'message-instance').length,
  );
  if (count > MAX_FIELDS || message.headerBytes > LIMITS.headerBytes)
    return { ...problem(null, 'the header is too large to verify'), domains: [] };
  const read = readDkim2Fields(message);
  if (typeof read === 'string') return { ...problem('permerror', read), domains: [] };
  const domains = read.signatures.map(({ domain }) => domain);
  const found =
    timeProblem(context, read) ??
    custodyProblem(context, read) ??
    (await signatureProblem(context, read)) ??
    hashProblem(context, read.instances.at(-1)!) ??
    incompleteness(context, read);
  return { ...(found ?? { result: 'pass', reason: null }), domains };
}

function timeProblem({ receivedAt }: Context, { signatures }: Dkim2Fields): Problem | null {
  if (receivedAt === null) return null;
  const expired = signatures.find(({ signedAt }) => receivedAt - signedAt > MAX_AGE_MS);
  return expired
    ? problem('permerror', `the signature i=${expired.number} is older than 14 days`)
    : null;
}

// The chain of custody (§11.4).

/** §9.4: the same domain, or a subdomain of the second. */
const isRelaxedMatch = (domain: string | null, parent: string | null): boolean =>
  domain !== null && parent !== null && (domain === parent || domain.endsWith(`.${parent}`));

function custodyProblem({ envelope }: Context, { signatures }: Dkim2Fields): Problem | null {
  for (const [index, signature] of signatures.entries()) {
    const found = linkProblem(signature, signatures[index - 1]);
    if (found) return problem('permerror', `the signature i=${signature.number} ${found}`);
  }
  const last = signatures.at(-1)!;
  if (last.mailFrom === null)
    return problem('permerror', 'the last signature names the next domain (nd=)');
  if (envelope.mail_from === null) return null;
  return isSamePath(last.mailFrom, stripAngleBrackets(envelope.mail_from))
    ? null
    : problem('permerror', 'the envelope sender differs from the signed one (mf=)');
}

function linkProblem(signature: Dkim2Signature, previous: Dkim2Signature | undefined) {
  const { mailFrom, domain } = signature;
  const sender = mailFrom === null ? null : addressDomain(mailFrom);
  // The null sender of a bounce has no domain.
  if (mailFrom !== null && mailFrom !== '' && !isRelaxedMatch(sender, domain))
    return `is by ${domain}, which does not match its envelope sender (mf=)`;
  if (!previous) return null;
  if (previous.mailFrom === null)
    return previous.nextDomain === domain ? null : 'is not by the announced domain (nd=)';
  if (sender === null) return null;
  const isPlausible = previous.recipients.some((recipient) =>
    isRelaxedMatch(sender, addressDomain(recipient)),
  );
  return isPlausible ? null : 'does not come from a recipient of the signature before it';
}

/** Local parts are case-sensitive. */
function isSamePath(a: string, b: string): boolean {
  const normalized = (path: string) => {
    const at = path.lastIndexOf('@');
    return at < 0 ? path : `${path.slice(0, at)}@${path.slice(at + 1).toLowerCase()}`;
  };
  return normalized(a) === normalized(b);
}

// Signatures (§9.6, §11.5, §11.6).

async function signatureProblem(context: Context, read: Dkim2Fields): Promise<Problem | null> {
  const problems = await Promise.all(
    read.signatures.flatMap((signature) => {
      const input = signatureInput(read, signature);
      return signature.values.map((value) => valueProblem(context, signature, value, input));
    }),
  );
  const found = problems.filter((one) => one !== null);
  return found.find(({ result }) => result !== null && result !== 'temperror') ?? found[0] ?? null;
}

async function valueProblem(
  { resolver }: Context,
  { number, domain }: Dkim2Signature,
  { selector, algorithm, signature }: Dkim2Signature['values'][0],
  input: Buffer,
): Promise<Problem | null> {
  const type = /^(rsa|ed25519)-sha256$/.exec(algorithm)?.[1];
  if (type === undefined) return problem(null, `the algorithm ${algorithm} is unknown`);
  const name = `${selector}._domainkey.${domain}`;
  const answer = await resolver(name, 'TXT');
  if (answer.status === 'error')
    return problem('temperror', `the key at ${name} could not be looked up`);
  if (answer.status !== 'found') return problem('permerror', `no key is published at ${name}`);
  if (answer.records.length > 1)
    return problem('permerror', `several TXT records are published at ${name}`);
  const key = readKeyRecord(answer.records[0]!, null);
  if (key.revoked) return problem('permerror', `the key at ${name} has been revoked`);
  if (!key.publicKey || key.type !== type)
    return problem('permerror', `the key at ${name} does not fit the algorithm`);
  if (type === 'rsa' && (key.bits ?? 0) < MIN_RSA_BITS)
    return problem('permerror', `the key at ${name} is too short`);
  const bytes = Buffer.from(signature, 'base64');
  const isValid =
    type === 'rsa'
      ? verify('sha256', input, key.publicKey, bytes)
      : verify(null, createHash('sha256').update(input).digest(), key.publicKey, bytes);
  return isValid ? null : problem('fail', `the signature i=${number} does not verify with ${name}`);
}

/** What a signature covers: the fields at the time when it was made, and itself without its values. */
function signatureInput({ instances, signatures }: Dkim2Fields, current: Dkim2Signature): Buffer {
  const covered = [
    ...instances.filter(({ number }) => number <= current.instance),
    ...signatures.filter(({ number }) => number < current.number),
  ];
  const lines = covered.map(({ field }) => canonicalWithoutSpace(field));
  return Buffer.from(
    [...lines, withoutValues(canonicalWithoutSpace(current.field))].join(''),
    'latin1',
  );
}

const canonicalWithoutSpace = ({ key, raw }: HeaderField): string =>
  `${key}:${raw.slice(raw.indexOf(':') + 1).replace(/[ \t\r\n]+/g, '')}\r\n`;

const withoutValues = (line: string): string =>
  line.replace(/(?<=[:;])(s=)([^;\r]*)/i, (_all, tag, sets: string) => {
    const emptied = sets.split(',').map((set) => set.split(':').slice(0, 2).join(':'));
    return `${tag}${emptied.map((set) => `${set}:`).join(',')}`;
  });

// Hashes of the message (§6, §11.7).

const HASHES = new Set(['sha256', 'sha512']);

function hashProblem({ message, raw }: Context, { number, hashes }: MessageInstance) {
  const known = hashes.filter(({ algorithm }) => HASHES.has(algorithm));
  if (known.length === 0) return problem(null, 'the hash algorithms are unknown');
  const [header, body] = [signedHeader(message), canonicalBody(raw, message.bodyStart)];
  const digest = (algorithm: string, data: Uint8Array) =>
    createHash(algorithm).update(data).digest('base64');
  for (const { algorithm, ...expected } of known) {
    if (digest(algorithm, header) !== expected.header)
      return problem('fail', `the header was changed after signing (m=${number}, ${algorithm})`);
    if (digest(algorithm, body) !== expected.body)
      return problem('fail', `the body was changed after signing (m=${number}, ${algorithm})`);
  }
  return null;
}

/** §4.1. */
const UNSIGNED = new Set([
  'apparently-to',
  'arc-authentication-results',
  'arc-message-signature',
  'arc-seal',
  'authentication-results',
  'auto-submitted',
  'delivered-to',
  'dkim-signature',
  'dkim2-signature',
  'dl-expansion-history',
  'message-instance',
  'original-recipient',
  'received',
  'return-path',
  'sio-label-history',
  'vbr-info',
  'x400-received',
  'x400-trace',
]);

const isSigned = ({ key }: HeaderField): boolean =>
  key !== '' && !UNSIGNED.has(key) && !key.startsWith('received-') && !key.startsWith('x-');

/** §6.2: by name, and fields of the same name from the bottom up. */
function signedHeader({ headers }: Message): Buffer {
  const signed = headers.filter(isSigned).toReversed();
  signed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const lines = signed.map(({ key, raw }) => {
    const value = raw.slice(raw.indexOf(':') + 1).replace(/\r?\n/g, '');
    return `${key}:${value.replace(/[ \t]+/g, ' ').replace(/^ | $/g, '')}\r\n`;
  });
  return Buffer.from(lines.join(''), 'latin1');
}

/** §6.1: empty lines at the end count as one line break. */
function canonicalBody(raw: Uint8Array, start: number): Buffer {
  const body = Buffer.from(raw.buffer, raw.byteOffset + start, raw.byteLength - start);
  let end = body.length;
  while (end >= 2 && body[end - 1] === 0x0a && body[end - 2] === 0x0d) end -= 2;
  return Buffer.concat([body.subarray(0, end), Buffer.from('\r\n')]);
}

function incompleteness({ envelope }: Context, { instances }: Dkim2Fields): Problem | null {
  if (instances.length > 1 || instances[0]!.hasRecipes)
    return problem(null, 'a hop changed the message, and earlier versions were not checked');
  return envelope.mail_from === null
    ? problem(null, 'the envelope sender is unknown, so the signed one was not compared')
    : null;
}
