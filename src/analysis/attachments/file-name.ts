/** File names: extensions of programs, scripts and macros, and misleading names. */

import { type BlockingProvider, isBlockedType, providersBlocking } from './blocked-types.ts';

const wordSet = (text: string): Set<string> => new Set(text.trim().split(/\s+/));

/** Extensions of Office documents with macros, and of add-ins. */
const WITH_MACROS = wordSet('docm dotm xlsm xltm xlam xla potm ppam ppsm pptm sldm wll');

/** Pages in which a browser runs scripts. */
const PAGES = wordSet('htm html xhtml shtml mht mhtml svg svgz xht');

const ARCHIVES = wordSet('zip rar 7z');

/** A single compressed file: the extension before this one shows its type. */
const COMPRESSED = wordSet('gz bz2 xz z zst lz lzma');

/** Extensions that people trust and that attackers put before the real one. */
const TRUSTED = wordSet(
  'pdf doc docx xls xlsx ppt pptx odt ods rtf txt csv jpg jpeg png gif bmp tif tiff mp3 mp4 avi mov htm html eml',
);

export type NameKind = 'program' | 'macros' | 'page' | 'archive' | 'other';

export interface FileName {
  kind: NameKind;
  /** The effective extension, in lower case; empty without one. */
  extension: string;
  /** The providers that block this extension. */
  blockedBy: BlockingProvider[];
  /** A trusted extension precedes the real one, as in `invoice.pdf.exe`. */
  isDouble: boolean;
  /** Characters that change the text direction hide the real extension. */
  isDisguised: boolean;
}

/** Directional formatting characters (UAX #9 §2). */
const DIRECTION_CHANGES = /[\u202a-\u202e\u2066-\u2069]/g;

/** Reads a file name as Windows does: trailing white space and dots are ignored. */
export function readFileName(name: string): FileName {
  const tail = name.slice(-300);
  const parts = tail
    .replaceAll(DIRECTION_CHANGES, '')
    .toLowerCase()
    .replace(/[\s.]+$/, '')
    .split(/[\\/]/)
    .at(-1)!
    .split('.')
    .map((part) => part.trim());
  while (parts.length > 2 && COMPRESSED.has(parts.at(-1)!)) parts.pop();
  const extension = parts.length > 1 ? parts.at(-1)! : '';
  const kind = kindOf(extension);
  return {
    kind,
    extension,
    blockedBy: providersBlocking(extension),
    isDouble:
      (kind === 'program' || kind === 'page') &&
      TRUSTED.has(parts.at(-2) ?? '') &&
      parts.length > 2,
    isDisguised: tail.search(DIRECTION_CHANGES) >= 0,
  };
}

function kindOf(extension: string): NameKind {
  if (isBlockedType(extension)) return 'program';
  if (WITH_MACROS.has(extension)) return 'macros';
  if (PAGES.has(extension)) return 'page';
  return ARCHIVES.has(extension) ? 'archive' : 'other';
}
