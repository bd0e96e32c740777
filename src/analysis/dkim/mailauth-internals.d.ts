/** What this program uses of mailauth beyond its published types; the version is pinned exactly. */

declare module 'mailauth/lib/dkim/dkim-verifier.js' {
  import type { DKIMVerifyOptions, DKIMVerifyResult } from 'mailauth';

  /** The parser behind `dkimVerify`: header block, body, end, in this order, each once. */
  export class DkimVerifier {
    constructor(options: DKIMVerifyOptions);
    emitHeaders(block: Buffer): Promise<void>;
    nextChunk(body: Buffer): Promise<void>;
    finalChunk(): Promise<void>;
    headerFrom: DKIMVerifyResult['headerFrom'];
    fromFields: DKIMVerifyResult['fromFields'];
    envelopeFrom: DKIMVerifyResult['envelopeFrom'];
    results: DKIMVerifyResult['results'];
    headers: DKIMVerifyResult['headers'];
    arc: DKIMVerifyResult['arc'];
    seal: DKIMVerifyResult['seal'];
  }
}
