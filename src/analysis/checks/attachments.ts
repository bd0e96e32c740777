/** `attachments`: files that receivers refuse, or that people are warned of. */

import { readFileContent } from '../attachments/file-content.ts';
import { type Check, type Finding, fail, pass, unknown, warn } from '../check.ts';
import type { Part } from '../mime/message.ts';

const PROBLEMS_SHOWN = 20;

interface Problem {
  file: string;
  type: string;
  octets: number;
  /** Follows "is" or "has": half a sentence. */
  problem: string;
  /** Large receivers refuse it, as against handing it over with a warning. */
  refused: boolean;
}

/**
 * Programs, scripts and names that mislead fail, in ZIP archives too, because Gmail and the default
 * settings of Microsoft 365 refuse most of them; macros because most companies' gateways do.
 * Encrypted archives, web pages and SVG files warn: no large receiver refuses them by rule, but they
 * cannot be looked into, or open in a browser with scripts and all. Archives in archives are not
 * looked into.
 */
export const attachments: Check = {
  id: 'attachments',
  category: 'content',
  points: 3,
  label: 'Attachments',
  issueTitle: 'Attachments that receivers refuse or distrust',
  reference: {
    name: 'Gmail: file types that are blocked',
    url: 'https://support.google.com/mail/answer/6590',
  },
  publicEvidence: {
    attachments: 'shown',
    files: 'file-name',
    found: {
      file: 'file-extension',
      type: 'shown',
      octets: 'shown',
      problem: 'archive-member',
      refused: 'shown',
    },
  },
  // The name of a file may be any word of the sentence around it.
  publicTexts: [{ list: 'found', phrase: 'Your attachment {file} {problem}' }],
  run({ message }) {
    const files = message.parts.filter(isFile);
    const looked = files.map(lookAt);
    const problems = looked.flatMap((found) => found.problems);
    if (problems.length > 0) return found(problems, files.length);
    if (message.limits.length > 0)
      return unknown(
        'Not all attachments could be looked at.',
        `Your message has ${message.limits.join('; ')}; more attachments may lie beyond that.`,
      );
    if (looked.some(({ incomplete }) => incomplete))
      return unknown(
        'Not all attachments could be looked at.',
        'An archive is damaged, or holds more files than are looked at.',
        { attachments: files.length },
      );
    if (files.length === 0)
      return pass('Your message has no attachments.', 'There is nothing for a receiver to refuse.');
    return pass(
      'Your attachments are of kinds that receivers take.',
      'There are no programs, scripts, macros or encrypted archives among them.',
      { attachments: files.length, files: files.slice(0, PROBLEMS_SHOWN).map(nameOf) },
    );
  },
};

/** Everything but attached messages, and texts that are shown as the message itself. */
function isFile({ type, disposition, filename }: Part): boolean {
  if (/^(?:multipart|message)\//.test(type)) return false;
  if (disposition === 'attachment') return true;
  return type !== 'text/html' && (type !== 'text/plain' || filename !== null);
}

const nameOf = ({ filename, type }: Part): string => (filename ?? `(${type})`).slice(0, 100);

/** Types of programs and scripts, whatever the name. */
const PROGRAM_TYPE =
  /^(?:application\/(?:x-ms-?dos(?:-program|-executable)?|x-msdownload|x-dosexec|vnd\.microsoft\.portable-executable|x-executable|x-sh|x-msi|hta|java-archive|x-java-archive)|(?:text|application)\/(?:x-)?(?:javascript|ecmascript|vbscript))$/;

function lookAt(part: Part): { problems: Problem[]; incomplete: boolean } {
  const name = readFileName(part.filename ?? '');
  const content = readFileContent(part.content);
  const problem =
    nameProblem(name) ??
    (content.program && refused(`is ${content.program}, whatever it is called`)) ??
    (PROGRAM_TYPE.test(part.type) ? refused(`is declared as ${part.type}`) : null) ??
    memberProblem(content.members) ??
    (content.macros || name.kind === 'macros' ? refused('holds macros') : null) ??
    (content.encrypted ? warned('is encrypted, so that nobody can look into it') : null) ??
    pageProblem(part, name);
  const { filename, type, size: octets } = part;
  const file = { file: nameOf(part), type, octets };
  return {
    problems: problem ? [{ ...file, ...problem }] : [],
    // Documents and others that are made like archives are no archives to a receiver.
    incomplete: content.incomplete && (filename === null || name.kind === 'archive'),
  };
}

const refused = (problem: string) => ({ problem, refused: true });
const warned = (problem: string) => ({ problem, refused: false });

function nameProblem({ kind, ending, byGmail, double, turned }: FileName) {
  if (turned) return refused('has characters in its name that show another ending than it has');
  if (double) return refused(`has two endings, of which .${ending} is the one that counts`);
  if (kind !== 'program') return null;
  return refused(
    `is of the kind .${ending}, which ${byGmail ? 'Gmail refuses' : 'many receivers refuse'}`,
  );
}

function memberProblem(members: string[]) {
  for (const member of members) {
    const problem = nameProblem(readFileName(member));
    if (problem) return refused(`holds ${member.slice(-80)}, which ${problem.problem}`);
  }
  return null;
}

function pageProblem({ type }: Part, { kind }: FileName) {
  if (kind !== 'page' && type !== 'text/html' && type !== 'image/svg+xml') return null;
  return warned('opens in a browser, with scripts and all');
}

function found(problems: Problem[], attached: number): Finding {
  const worst = problems.toSorted((a, b) => Number(b.refused) - Number(a.refused));
  const { file, problem, refused: isRefused } = worst[0]!;
  const others = problems.length > 1 ? `, and ${problems.length - 1} more like it` : '';
  return (isRefused ? fail : warn)({
    title: `Your attachment ${file} ${problem}${others}.`,
    detail: isRefused
      ? 'Viruses travel that way, so many receivers refuse the whole message or take the file away, whoever sends it.'
      : 'Viruses and forged log-in pages travel that way, so filters count it and mail programs warn of it.',
    fix: isRefused
      ? 'Put the file on a web server and link to it, or send it as a PDF or another format without code.'
      : 'Send a PDF instead, or put the file on a web server and link to it.',
    evidence: {
      attachments: attached,
      found: worst.slice(0, PROBLEMS_SHOWN).map((item) => ({ ...item })),
    },
  });
}

// What the name of a file says about it: endings of programs, scripts and macros, and names that mislead.

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

interface FileName {
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
function readFileName(name: string): FileName {
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
