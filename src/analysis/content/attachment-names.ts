/** What the name of a file says about it: endings of programs, scripts and macros, and names that mislead. */

const words = (text: string): Set<string> => new Set(text.trim().split(/\s+/));

/** What Gmail refuses, in archives too (https://support.google.com/mail/answer/6590). */
const REFUSED_BY_GMAIL = words(`
  ade adp apk appx appxbundle bat cab chm cmd com cpl diagcab diagcfg diagpkg dll dmg ex ex_ exe hta
  img ins iso isp jar jnlp js jse lib lnk mde mjs msc msi msix msixbundle msp mst nsh pif ps1 scr sct
  shb sys vb vbe vbs vhd vxd wsc wsf wsh xll
`);

/** Programs and scripts that Outlook, Exchange and many gateways refuse beside those. */
const REFUSED_BY_OTHERS = words(`
  ace app application appref-ms bash command crx csh deb desktop elf fxp gadget inf jsx ksh
  library-ms mad maf mam mda mdt mdw mdz msh msh1 msh2 mshxml msu pkg prg ps2 psc1 psm1 py pyc pyw pyz
  reg rgs rpm run scf settingcontent-ms sh shs url vbp vhdx vsmacros vsw website ws xbap xnk
`);

/** Office documents whose ending says that they hold macros, and add-ins. */
const WITH_MACROS = words('docm dotm xlsm xltm xlam xla potm ppam ppsm pptm sldm wll');

/** Pages that a browser opens with scripts and all. */
const PAGES = words('htm html xhtml shtml mht mhtml svg svgz xht');

const ARCHIVES = words('zip rar 7z');

/** One file, compressed: what is before the ending says what it is. */
const COMPRESSED = words('gz bz2 xz z zst lz lzma');

/** Endings that people trust, before which a second one is hidden. */
const HARMLESS = words(
  'pdf doc docx xls xlsx ppt pptx odt ods rtf txt csv jpg jpeg png gif bmp tif tiff mp3 mp4 avi mov htm html eml',
);

type NameKind = 'program' | 'macros' | 'page' | 'archive' | 'other';

export interface FileName {
  kind: NameKind;
  /** The ending that decides, lower case; empty without one. */
  ending: string;
  /** For a program: Gmail refuses it by its name. */
  byGmail: boolean;
  /** An ending that people trust stands before the one that counts, as in `invoice.pdf.exe`. */
  double: boolean;
  /** It holds characters that turn the direction of writing, so that another ending is shown. */
  turned: boolean;
}

/** The direction changes of Unicode (UAX #9 §2). */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g;

/** Reads a file's name as Windows does: white space and dots at its end do not count. */
export function readFileName(name: string): FileName {
  const cut = name.slice(-300);
  const parts = cut
    .replaceAll(TURNING, '')
    .toLowerCase()
    .replace(/[\s.]+$/, '')
    .split(/[\\/]/)
    .at(-1)!
    .split('.')
    .map((part) => part.trim());
  while (parts.length > 2 && COMPRESSED.has(parts.at(-1)!)) parts.pop();
  const ending = parts.length > 1 ? parts.at(-1)! : '';
  const kind = kindOf(ending);
  return {
    kind,
    ending,
    byGmail: REFUSED_BY_GMAIL.has(ending),
    double:
      (kind === 'program' || kind === 'page') &&
      HARMLESS.has(parts.at(-2) ?? '') &&
      parts.length > 2,
    turned: cut.search(TURNING) >= 0,
  };
}

function kindOf(ending: string): NameKind {
  if (REFUSED_BY_GMAIL.has(ending) || REFUSED_BY_OTHERS.has(ending)) return 'program';
  if (WITH_MACROS.has(ending)) return 'macros';
  if (PAGES.has(ending)) return 'page';
  return ARCHIVES.has(ending) ? 'archive' : 'other';
}
