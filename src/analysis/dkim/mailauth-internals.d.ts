/**
 * Internals of mailauth that its types do not cover. The version of mailauth is pinned for this. Its parts are imported
 * by their paths, because the whole package loads an HTTP client and more, which need 10 MB in each thread.
 */

declare module 'mailauth/lib/dkim/dkim-verifier.js' {
  import type { DKIMVerifyOptions, DKIMVerifyResult } from 'mailauth';
  import type { KeyStore } from './kept-keys.ts';

  /** The parser behind `dkimVerify`. Call the methods once each, in the order of declaration. */
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
    keyCache: KeyStore;
  }
}

declare module 'mailauth/lib/dkim/verify.js' {
  export { dkimVerify } from 'mailauth';
}

declare module 'mailauth/lib/arc/index.js' {
  export { arc } from 'mailauth';
}
