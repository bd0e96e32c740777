/** Mails of both kinds in the 25 languages with the most mail users. All have the same layout, so only words tell them apart. */

import { goodMessage } from '../../helpers/good-message.ts';
import { ASIAN } from './asian-mails.ts';
import { EUROPEAN } from './european-mails.ts';
import { WESTERN } from './western-mails.ts';

type Mail = [subject: string, text: string, button: string | null];
export interface LanguageMails {
  marketing: Mail[];
  transactional: Mail[];
}

export const LANGUAGE_MAILS: Record<string, LanguageMails> = { ...WESTERN, ...EUROPEAN, ...ASIAN };

/** The message of an email: a table layout with a heading and a button. */
export function messageOf([subject, text, button]: Mail): string {
  const link = button === null ? '' : `<a href="https://www.example.com/">${button}</a>`;
  return goodMessage(
    {
      Subject: `=?utf-8?B?${Buffer.from(subject).toString('base64')}?=`,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Transfer-Encoding': '8bit',
    },
    `<html><body><table role="presentation"><tr><td><h1>${subject}</h1><p>${text}</p>${link}</td></tr></table></body></html>\n`,
  );
}
