/** The message lists of email clients: how wide the sender, the subject and the preview are in each. */

import type { TextStyle } from './text-width.ts';

interface Column extends TextStyle {
  /** CSS pixels. */
  width: number;
}

export interface InboxList {
  name: string;
  sender: Column;
  subject: Column;
  preview: Column & { lines: number; maxCharacters: number };
  /** Subject and preview share one line, whose width is that of the subject. */
  sharesLine: boolean;
  /** What it shows of a sender without a name. */
  namelessSender: 'address' | 'local_part';
  /** Instead of an empty subject. */
  noSubject: string;
  /** Letters in the circle that stands for the sender. */
  initials: 1 | 2;
  /** What the widths rest on, as a sentence. */
  basis: string;
}

const regular = (width: number, size: number): Column => ({ width, size, bold: false });
const bold = (width: number, size: number): Column => ({ width, size, bold: true });

/** No list shows more. */
const MAX_PREVIEW = 1000;

/**
 * As for an unread message. No vendor documents these widths, and readers can change most of them, so each
 * basis says what it assumes.
 */
export const INBOX_LISTS: readonly InboxList[] = [
  {
    name: 'Gmail',
    sender: bold(168, 14),
    subject: bold(700, 14),
    preview: { ...regular(700, 14), lines: 1, maxCharacters: MAX_PREVIEW },
    sharesLine: true,
    namelessSender: 'local_part',
    noSubject: '(no subject)',
    initials: 1,
    basis:
      'Estimate for a browser window of 1,366 pixels: subject and preview share one line of about 700 pixels at 14 px.',
  },
  {
    name: 'Gmail app',
    sender: bold(230, 16),
    subject: bold(270, 14),
    preview: { ...regular(270, 14), lines: 1, maxCharacters: MAX_PREVIEW },
    sharesLine: false,
    namelessSender: 'local_part',
    noSubject: '(no subject)',
    initials: 1,
    basis:
      'Estimate for a phone 390 pixels wide: one line each of about 270 pixels at 14 px. Published guides state 35 to 45 characters of subject.',
  },
  {
    name: 'Apple Mail on iPhone',
    sender: bold(240, 17),
    subject: regular(340, 15),
    preview: { ...regular(340, 15), lines: 2, maxCharacters: MAX_PREVIEW },
    sharesLine: false,
    namelessSender: 'address',
    noSubject: '(No Subject)',
    initials: 2,
    basis:
      'Estimate for a phone 390 pixels wide with two preview lines. A published test on an iPhone 14 found 48 characters of subject and 99 of preview.',
  },
  {
    name: 'Apple Mail on Mac',
    sender: bold(200, 13),
    subject: regular(280, 13),
    preview: { ...regular(280, 13), lines: 2, maxCharacters: MAX_PREVIEW },
    sharesLine: false,
    namelessSender: 'address',
    noSubject: '(No Subject)',
    initials: 2,
    basis:
      'Estimate for a message list 320 pixels wide with two preview lines at 13 px. Readers can change both.',
  },
  {
    name: 'Outlook for Windows',
    sender: bold(230, 15),
    subject: bold(270, 12),
    preview: { ...regular(270, 12), lines: 1, maxCharacters: 255 },
    sharesLine: false,
    namelessSender: 'address',
    noSubject: '(no subject)',
    initials: 2,
    basis:
      'Estimate for the compact list at about 300 pixels with one preview line. Outlook reads at most 255 characters for the preview.',
  },
];
