/** Hands a message to mailauth's DKIM verifier, whole where that gives the very same result. */

import { type DKIMVerifyOptions, type DKIMVerifyResult, dkimVerify } from 'mailauth';
import { DkimVerifier } from 'mailauth/lib/dkim/dkim-verifier.js';

/** Larger messages go through the stream, which lets other analyses of the thread in between. */
const WHOLE_MAX_OCTETS = 256 * 1024;

/**
 * What `dkimVerify` answers. The way in through its stream looks for the end of the header octet
 * by octet and gives bare LF its CR; a message without bare LF needs neither, and skips a third
 * of the work.
 */
export async function verifySignatures(
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
