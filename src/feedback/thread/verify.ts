/** Who a message authenticates: the aligned domain for which DKIM passes, else the one for which SPF does. */

import type { Envelope } from '../../analysis/check.ts';
import { boundedResolver, createContext, startDeadline } from '../../analysis/context.ts';
import { dkimResult } from '../../analysis/dkim/verify.ts';
import { alignmentOf, dmarcResult } from '../../analysis/dmarc/evaluate.ts';
import type { Message } from '../../analysis/mime/message.ts';
import { parseMessage } from '../../analysis/mime/parse-message.ts';
import { spfResult } from '../../analysis/spf/evaluate.ts';
import type { Resolver } from '../../net/dns/resolver.ts';
import type { Signer } from '../senders/reporter.ts';
import { recordedSigner, type TrustedServers } from './recorded.ts';

export interface Verification {
  /** null if the message authenticates nobody. */
  signer: Signer | null;
  /** DNS did not answer, so another attempt may find a signer, or a stronger one. */
  isUndecided: boolean;
}

const DEADLINE_MS = 15_000;

/** A file has no session, so that SPF cannot be checked. */
const NO_SESSION: Envelope = { mail_from: null, client_ip: null, helo: null, tls: null };

/**
 * The fields that decide who sent a message and how it is read. Verifiers take the last one of a name and readers the first,
 * so that with two, the signature says nothing about what is read.
 */
const DECISIVE = new Set(
  'from sender subject date message-id mime-version content-type content-transfer-encoding tls-report-domain'.split(
    ' ',
  ),
);

/** Finds a name also where a fold follows it, as verifiers do. */
function hasRepeatedField(raw: Uint8Array, headerBytes: number): boolean {
  const header = Buffer.from(raw.buffer, raw.byteOffset, headerBytes).toString('latin1');
  const names = [...header.matchAll(/(?<=^|\n)([\x21-\x39\x3b-\x7e]+)\s*:/g)]
    .map(([, name]) => name!.toLowerCase())
    .filter((name) => DECISIVE.has(name));
  return new Set(names).size < names.length;
}

/**
 * Whether the body begins with the delimiter of its parts, or has none. Otherwise, anyone could change the boundary in an
 * unsigned Content-Type so that the parts begin in quoted text.
 */
function beginsWithDelimiter({ multiparts }: Message): boolean {
  const outermost = multiparts.find(({ level }) => level === 0);
  // The list is limited, and the outermost is its last.
  if (!outermost) return multiparts.length === 0;
  return outermost.firstDelimiter === outermost.start;
}

/** How long a verification waits for DNS, which names it looks up, and whose results it trusts. */
export interface VerifyLimits {
  deadlineMs?: number;
  /** Only this domain and the names below it, so that nobody else's name servers can delay it. */
  onlyBelow?: string;
  /** Trusted servers. If one of them has recorded results, nothing is verified again. */
  servers?: TrustedServers;
}

/** Other names are unknown at once. The policies of DMARC can be above the domain (RFC 9989 §4.10). */
const resolverBelow =
  (domain: string, resolver: Resolver): Resolver =>
  (name, type) =>
    `.${name}`.endsWith(`.${domain}`) || `_dmarc.${domain}`.endsWith(name.replace(/^_dmarc/, ''))
      ? resolver(name, type)
      : Promise.resolve({ status: 'error', reason: 'limit' });

export async function verifyMail(
  raw: Uint8Array,
  envelope: Envelope | null,
  receivedAt: number,
  resolver: Resolver,
  { deadlineMs = DEADLINE_MS, onlyBelow, servers }: VerifyLimits = {},
): Promise<Verification> {
  const deadline = startDeadline(deadlineMs);
  try {
    const message = await parseMessage(raw);
    const input = {
      raw,
      receivedAt,
      kind: 'transactional' as const,
      envelope: envelope ?? NO_SESSION,
    };
    const context = createContext(input, message, {
      resolver: boundedResolver(
        onlyBelow === undefined ? resolver : resolverBelow(onlyBelow, resolver),
        deadline,
      ),
    });
    const from = message.from.length === 1 ? message.from[0]!.address.toLowerCase() : undefined;
    if (!from || hasRepeatedField(raw, message.headerBytes))
      return { signer: null, isUndecided: false };
    const startsAtBoundary = beginsWithDelimiter(message);
    const recorded = servers && recordedSigner(message, { from, servers, startsAtBoundary });
    if (recorded !== undefined) return { signer: recorded, isUndecided: false };
    const { identifiers, alignment } = await context.fact(dmarcResult);
    const { signatures } = await context.fact(dkimResult);
    for (const { domain, headers, unsignedBodyBytes, result } of signatures) {
      // Text that anyone can add after the signed part could be a report of its own.
      if (result !== 'pass' || !headers.includes('from') || unsignedBodyBytes) continue;
      if (!headers.includes('content-type') && !startsAtBoundary) continue;
      const { domain: name, aligned } = await alignmentOf(context, domain, 'dkim');
      if (aligned === true)
        return { signer: { from, domain: name!, method: 'dkim' }, isUndecided: false };
    }
    const { aligned, result } = alignment.dkim;
    const isDkimUndecided = result === 'temperror' || (result === 'pass' && aligned === null);
    if (envelope === null) return { signer: null, isUndecided: isDkimUndecided };
    const spf = alignment.spf;
    const passesSpf = spf.aligned === true && (await context.fact(spfResult)).result === 'pass';
    return {
      signer: passesSpf ? { from, domain: spf.domain!, method: 'spf' } : null,
      isUndecided:
        isDkimUndecided || (!passesSpf && (identifiers === 'temperror' || identifiers === null)),
    };
  } finally {
    deadline.stop();
  }
}
