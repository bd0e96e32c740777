/**
 * Internals of mailauth that its types do not cover. The version of mailauth is pinned for this. Its parts are imported
 * by their paths, because the whole package loads an HTTP client and more, which need 10 MB in each thread.
 */

declare module 'mailauth/lib/dkim/dkim-verifier.js' {
  import type { DKIMVerifyOptions, DKIMVerifyResult } from 'mailauth';
  import type { KeyStore } from './kept-keys.ts';

  export interface BodyHash {
    update(piece: Buffer): void;
  }

  /** The parser of signed messages in mailauth. Call the methods once each, in the order of declaration. */
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
    bodyHashes: Map<string, BodyHash>;
  }
}

declare module 'mailauth/lib/dkim/body/relaxed.js' {
  import type { BodyHash } from 'mailauth/lib/dkim/dkim-verifier.js';

  export class RelaxedHash implements BodyHash {
    constructor(algorithm: string, maxBodyLength?: number);
    update(piece: Buffer): void;
    digest(encoding: 'base64'): string;
    /** Of the body before canonicalization. */
    byteLength: number;
    /** Expects canonical text, in which no CRLF is split, and handles empty lines at the end. */
    _pushBodyHash(canonical: Buffer): void;
  }
}

declare module 'mailauth/lib/arc/index.js' {
  export { arc } from 'mailauth';
}
