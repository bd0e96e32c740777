/** Whether a message is signed or encrypted for its recipient, with S/MIME or OpenPGP. */

import { parseStructuredField } from './headers.ts';
import { fieldValue, type Message } from './message.ts';

export interface Protection {
  kind: 'signed' | 'encrypted';
  by: 'S/MIME' | 'OpenPGP';
  /** Whether the content is inside the signature or encryption, so that no check can read it. */
  opaque: boolean;
}

/** null for an ordinary message. A DKIM signature does not count: recipients do not see it. */
export function protectionOf(message: Message): Protection | null {
  const { value, params } = parseStructuredField(fieldValue(message, 'content-type') ?? '');
  const part = message.parts.find(({ type }) => /^application\/(?:x-)?pkcs7-mime$/.test(type));
  if (value === 'multipart/signed') {
    const by = /pgp/i.test(params.get('protocol') ?? '') ? 'OpenPGP' : 'S/MIME';
    return { kind: 'signed', by, opaque: false };
  }
  if (value === 'multipart/encrypted') return { kind: 'encrypted', by: 'OpenPGP', opaque: true };
  if (part) {
    const written = part.fields.find(({ key }) => key === 'content-type')?.value ?? '';
    const type = parseStructuredField(written).params.get('smime-type') ?? '';
    return { kind: /signed/i.test(type) ? 'signed' : 'encrypted', by: 'S/MIME', opaque: true };
  }
  return inlinePgp(message.text ?? '');
}

function inlinePgp(text: string): Protection | null {
  const match = /^-----BEGIN PGP (SIGNED )?MESSAGE-----\s*$/m.exec(text.slice(0, 100_000));
  if (!match) return null;
  return { kind: match[1] ? 'signed' : 'encrypted', by: 'OpenPGP', opaque: !match[1] };
}
