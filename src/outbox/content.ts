/** What a waiting mail says, as it is kept: encrypted, for its links are keys. */

import type { SecretBox } from '../lib/secret-box.ts';
import type { Mail } from '../net/mail-composition.ts';

/** A mail before it has an id. */
export type OutgoingMail = Omit<Mail, 'id'>;

/** Bound to the row: the content of one mail opens in no other. */
const purposeOf = (id: string): string => `outbox ${id}`;

/** In JSON octets are written in base64. */
const kept = (parts?: { content: Uint8Array }[]) =>
  parts?.map(({ content, ...about }) => ({
    ...about,
    content: Buffer.from(content).toString('base64'),
  }));
const opened = (parts?: { content: string }[]) =>
  parts?.map(({ content, ...about }) => ({ ...about, content: Buffer.from(content, 'base64') }));

export function sealMail(secrets: SecretBox, id: string, mail: OutgoingMail): string {
  const { images, attachments, ...rest } = mail;
  const text = JSON.stringify({ ...rest, images: kept(images), attachments: kept(attachments) });
  return secrets.seal(text, purposeOf(id));
}

/** null where it was sealed by another key, or is damaged. */
export function openMail(secrets: SecretBox, id: string, sealed: string): Mail | null {
  const text = secrets.open(sealed, purposeOf(id));
  if (text === null) return null;
  const { images, attachments, ...rest } = JSON.parse(text);
  return { ...rest, id, images: opened(images), attachments: opened(attachments) };
}
