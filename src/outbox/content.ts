/** What a waiting mail says, as it is kept: encrypted, for its links are keys. */

import type { SecretBox } from '../lib/secret-box.ts';
import type { Mail } from '../net/mail-composition.ts';

/** A mail before it has an id. */
export type OutgoingMail = Omit<Mail, 'id'>;

/** Bound to the row: the content of one mail opens in no other. */
const purposeOf = (id: string): string => `outbox ${id}`;

export function sealMail(secrets: SecretBox, id: string, mail: OutgoingMail): string {
  const { attachments, ...rest } = mail;
  const kept = attachments?.map(({ content, ...about }) => ({
    ...about,
    content: Buffer.from(content).toString('base64'),
  }));
  return secrets.seal(JSON.stringify({ ...rest, attachments: kept }), purposeOf(id));
}

/** null where it was sealed by another key, or is damaged. */
export function openMail(secrets: SecretBox, id: string, sealed: string): Mail | null {
  const text = secrets.open(sealed, purposeOf(id));
  if (text === null) return null;
  const { attachments, ...rest } = JSON.parse(text);
  return {
    ...rest,
    id,
    attachments: attachments?.map(({ content, ...about }: { content: string }) => ({
      ...about,
      content: Buffer.from(content, 'base64'),
    })),
  };
}
