/** The mail clients of the preview: their widths, themes and known behavior beyond the support table. */

import { CLIENTS } from '../../analysis/html/client-support.generated.ts';

export type PreviewClientId = 'as_sent' | 'gmail' | 'gmail_app' | 'outlook_windows' | 'apple_mail';

/** What a client does with the colors of a message in its dark theme. */
export type DarkMode = 'none' | 'partial' | 'full';

export interface PreviewClient {
  id: PreviewClientId;
  name: string;
  /** The width of the frame in CSS pixels. */
  width: number;
  darkMode: DarkMode;
  /** What is known about its dark theme, as a sentence. */
  darkModeBasis: string;
  /** Its name in the table of client support; null if nothing is removed. */
  tableName: string | null;
  /** Gmail limits style sheets and clips long messages. */
  isGmail: boolean;
  /** It renders with Word: it reads conditional comments for Outlook. */
  isWord: boolean;
  /** The font of text without one, as the value of `font`. */
  font: string;
}

const SANS = 'Arial, Helvetica, sans-serif';

// The basis of the dark modes is the guide to dark mode by Litmus, with its chart of clients.
export const PREVIEW_CLIENTS: readonly PreviewClient[] = [
  {
    id: 'as_sent',
    name: 'As sent',
    width: 800,
    darkMode: 'none',
    darkModeBasis: 'The dark theme applies only the styles that the message has for dark mode.',
    tableName: null,
    isGmail: false,
    isWord: false,
    font: `16px/1.4 ${SANS}`,
  },
  {
    id: 'gmail',
    name: 'Gmail',
    width: 860,
    darkMode: 'none',
    darkModeBasis: 'Gmail on the web keeps the colors of the message in its dark theme.',
    tableName: 'Gmail',
    isGmail: true,
    isWord: false,
    font: `13px/1.5 ${SANS}`,
  },
  {
    id: 'outlook_windows',
    name: 'Outlook for Windows',
    width: 760,
    darkMode: 'full',
    darkModeBasis: 'Outlook for Windows inverts all colors, including those of dark designs.',
    tableName: 'Outlook for Windows',
    isGmail: false,
    isWord: true,
    // Word uses it where no font is set.
    font: "16px/1.2 'Times New Roman', Times, serif",
  },
  {
    id: 'apple_mail',
    name: 'Apple Mail',
    width: 720,
    darkMode: 'none',
    darkModeBasis:
      'Apple Mail keeps the colors and applies the styles of the message for dark mode.',
    tableName: 'Apple Mail',
    isGmail: false,
    isWord: false,
    font: '13px/1.4 Helvetica, Arial, sans-serif',
  },
  {
    id: 'gmail_app',
    name: 'Gmail app',
    width: 390,
    darkMode: 'partial',
    darkModeBasis:
      'The Gmail app for Android darkens light backgrounds and lightens dark text. On iOS, it inverts all colors.',
    tableName: 'Gmail for Android',
    isGmail: true,
    isWord: false,
    font: `14px/1.5 ${SANS}`,
  },
];

/** The position of the client in the levels of a feature; -1 if it is not in the table. */
export const tableIndex = ({ tableName }: PreviewClient): number =>
  tableName === null ? -1 : CLIENTS.indexOf(tableName);
