/**
 * Relaxed canonicalization of a body (RFC 6376 §3.4.4), piece by piece. mailauth allocates a buffer for each line that
 * changes, of which a message can have ten million.
 */

import { RelaxedHash } from 'mailauth/lib/dkim/body/relaxed.js';
import { DkimVerifier } from 'mailauth/lib/dkim/dkim-verifier.js';

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/** Removes white space at the end of lines, and reduces other white space to single spaces. Keeps empty lines at the end. */
export class RelaxedBody {
  /** White space, and a CR after it, whose meaning depends on what follows. */
  #hasSpace = false;
  #hasCr = false;

  write(piece: Uint8Array): Buffer {
    const relaxed = Buffer.allocUnsafe(2 * piece.length + 2);
    let length = 0;
    for (let i = 0; i < piece.length; i++) {
      const octet = piece[i]!;
      if (octet === LF) {
        relaxed[length++] = CR;
        relaxed[length++] = LF;
        this.#hasCr = false;
        this.#hasSpace = false;
        continue;
      }
      if (this.#hasCr) {
        length = this.#writeHeld(relaxed, length);
      }
      if (octet === CR) {
        this.#hasCr = true;
      } else if (octet === SPACE || octet === TAB) {
        this.#hasSpace = true;
      } else {
        length = this.#writeHeld(relaxed, length);
        relaxed[length++] = octet;
      }
    }
    return relaxed.subarray(0, length);
  }

  /** The rest of a body whose last line has no end. */
  end(): Buffer {
    const rest = Buffer.alloc(2);
    return rest.subarray(0, this.#hasCr ? this.#writeHeld(rest, 0) : 0);
  }

  #writeHeld(relaxed: Buffer, at: number): number {
    let length = at;
    if (this.#hasSpace) relaxed[length++] = SPACE;
    if (this.#hasCr) relaxed[length++] = CR;
    this.#hasSpace = false;
    this.#hasCr = false;
    return length;
  }
}

/** A verifier that canonicalizes the body once for all signatures. */
export class SinglePassVerifier extends DkimVerifier {
  #body = new RelaxedBody();

  override async nextChunk(piece: Buffer): Promise<void> {
    this.#hash(this.#body.write(piece), piece.length);
    for (const hash of this.bodyHashes.values())
      if (!(hash instanceof RelaxedHash)) hash.update(piece);
  }

  override async finalChunk(): Promise<void> {
    this.#hash(this.#body.end(), 0);
    await super.finalChunk();
  }

  #hash(relaxed: Buffer, octets: number): void {
    for (const hash of this.bodyHashes.values()) {
      if (!(hash instanceof RelaxedHash)) continue;
      hash.byteLength += octets;
      hash._pushBodyHash(relaxed);
    }
  }
}
