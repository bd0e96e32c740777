/** `attachments`: files that mailbox providers block or warn about. */

import { readFileContent } from '../attachments/file-content.ts';
import { type Check, type Finding, fail, pass, unknown, warn } from '../check.ts';
import type { Part } from '../mime/message.ts';

const MAX_SHOWN = 20;

interface Problem {
  file: string;
  type: string;
  octets: number;
  /** A predicate that follows the file name: "contains macros". */
  problem: string;
  /** Whether large mailbox providers block it, rather than deliver it with a warning. */
  refused: boolean;
}

/**
 * Programs, scripts and misleading names fail, in ZIP archives too, because Gmail and the default
 * settings of Microsoft 365 block most of them. Macros fail because most corporate gateways block
 * them. Encrypted archives, web pages and SVG files warn: no large mailbox provider blocks them by
 * rule, but they cannot be inspected, or run scripts in a browser. Archives within archives are not
 * inspected.
 */
export const attachments: Check = {
  id: 'attachments',
  category: 'content',
  points: 3,
  label: 'Attachments',
  issueTitle: 'Attachments that mailbox providers block or distrust',
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
  // A file name may match a word of the surrounding sentence.
  publicTexts: [{ list: 'found', phrase: 'Your attachment {file} {problem}' }],
  run({ message }) {
    const files = message.parts.filter(isFile);
    const inspected = files.map(inspectFile);
    const problems = inspected.flatMap((file) => file.problems);
    if (problems.length > 0) return problemFinding(problems, files.length);
    if (message.exceededLimits.length > 0)
      return unknown(
        'Could not inspect all attachments.',
        `Your message has ${message.exceededLimits.join('; ')}. The rest may contain more attachments.`,
      );
    if (inspected.some(({ incomplete }) => incomplete))
      return unknown(
        'Could not inspect all attachments.',
        'An archive is damaged or contains too many files to inspect.',
        { attachments: files.length },
      );
    if (files.length === 0)
      return pass(
        'Your message has no attachments.',
        'There is nothing for mailbox providers to block.',
      );
    return pass(
      'Your attachments are of types that mailbox providers accept.',
      'None is a program, a script or an encrypted archive, and none contains macros.',
      { attachments: files.length, files: files.slice(0, MAX_SHOWN).map(nameOf) },
    );
  },
};

/** Every part except attached messages and the text of the message itself. */
function isFile({ type, disposition, filename }: Part): boolean {
  if (/^(?:multipart|message)\//.test(type)) return false;
  if (disposition === 'attachment') return true;
  return type !== 'text/html' && (type !== 'text/plain' || filename !== null);
}

const nameOf = ({ filename, type }: Part): string => (filename ?? `(${type})`).slice(0, 100);

/** Media types of programs and scripts. */
const PROGRAM_TYPE =
  /^(?:application\/(?:x-ms-?dos(?:-program|-executable)?|x-msdownload|x-dosexec|vnd\.microsoft\.portable-executable|x-executable|x-sh|x-msi|hta|java-archive|x-java-archive)|(?:text|application)\/(?:x-)?(?:javascript|ecmascript|vbscript))$/;

function inspectFile(part: Part): { problems: Problem[]; incomplete: boolean } {
  const name = readFileName(part.filename ?? '');
  const content = readFileContent(part.content);
  const problem =
    nameProblem(name) ??
    (content.program && blocked(`is ${content.program}, regardless of its name`)) ??
    (PROGRAM_TYPE.test(part.type) ? blocked(`is declared as ${part.type}`) : null) ??
    memberProblem(content.members) ??
    (content.macros || name.kind === 'macros' ? blocked('contains macros') : null) ??
    (content.encrypted ? suspicious('is encrypted, so virus scanners cannot inspect it') : null) ??
    pageProblem(part, name);
  const { filename, type, size: octets } = part;
  const file = { file: nameOf(part), type, octets };
  return {
    problems: problem ? [{ ...file, ...problem }] : [],
    // Mailbox providers don't treat documents in a ZIP container as archives.
    incomplete: content.incomplete && (filename === null || name.kind === 'archive'),
  };
}

const blocked = (problem: string) => ({ problem, refused: true });
const suspicious = (problem: string) => ({ problem, refused: false });

function nameProblem({ kind, extension, isBlockedByGmail, isDouble, isDisguised }: FileName) {
  if (isDisguised)
    return blocked('has invisible characters in its name that disguise its file extension');
  if (isDouble) return blocked(`has two file extensions, of which .${extension} is the real one`);
  if (kind !== 'program') return null;
  return blocked(
    `is of type .${extension}, which ${isBlockedByGmail ? 'Gmail blocks' : 'many mail servers block'}`,
  );
}

function memberProblem(members: string[]) {
  for (const member of members) {
    const problem = nameProblem(readFileName(member));
    if (problem) return blocked(`contains ${member.slice(-80)}, which ${problem.problem}`);
  }
  return null;
}

function pageProblem({ type }: Part, { kind }: FileName) {
  if (kind !== 'page' && type !== 'text/html' && type !== 'image/svg+xml') return null;
  return suspicious('opens in a browser and can run scripts');
}

function problemFinding(problems: Problem[], attached: number): Finding {
  const worst = problems.toSorted((a, b) => Number(b.refused) - Number(a.refused));
  const { file, problem, refused: isRefused } = worst[0]!;
  const others = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return (isRefused ? fail : warn)({
    title: `Your attachment ${file} ${problem}${others}.`,
    detail: isRefused
      ? 'Malware is often sent this way. Many mail servers reject the whole message or remove the file, no matter who sends it.'
      : 'Malware and fake sign-in pages are often sent this way. Spam filters penalize it, and email clients warn about it.',
    fix: isRefused
      ? 'Put the file on a web server and link to it, or send a PDF or another format that contains no code.'
      : 'Send a PDF instead, or put the file on a web server and link to it.',
    evidence: {
      attachments: attached,
      found: worst.slice(0, MAX_SHOWN).map((item) => ({ ...item })),
    },
  });
}

// File names: extensions of programs, scripts and macros, and misleading names.

const wordSet = (text: string): Set<string> => new Set(text.trim().split(/\s+/));

/** Blocked by Gmail, in archives too (https://support.google.com/mail/answer/6590). */
const BLOCKED_BY_GMAIL = wordSet(`
  ade adp apk appx appxbundle bat cab chm cmd com cpl diagcab diagcfg diagpkg dll dmg ex ex_ exe hta
  img ins iso isp jar jnlp js jse lib lnk mde mjs msc msi msix msixbundle msp mst nsh pif ps1 scr sct
  shb sys vb vbe vbs vhd vxd wsc wsf wsh xll
`);

/** Programs and scripts that Outlook, Exchange and many gateways also block. */
const BLOCKED_BY_OTHERS = wordSet(`
  ace app application appref-ms bash command crx csh deb desktop elf fxp gadget inf jsx ksh
  library-ms mad maf mam mda mdt mdw mdz msh msh1 msh2 mshxml msu pkg prg ps2 psc1 psm1 py pyc pyw pyz
  reg rgs rpm run scf settingcontent-ms sh shs url vbp vhdx vsmacros vsw website ws xbap xnk
`);

/** Office documents with macros, by their extension, and add-ins. */
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

type NameKind = 'program' | 'macros' | 'page' | 'archive' | 'other';

interface FileName {
  kind: NameKind;
  /** The extension that applies, in lower case; empty without one. */
  extension: string;
  isBlockedByGmail: boolean;
  /** A trusted extension precedes the real one, as in `invoice.pdf.exe`. */
  isDouble: boolean;
  /** Characters that change the text direction hide the real extension. */
  isDisguised: boolean;
}

/** Directional formatting characters (UAX #9 §2). */
const DIRECTION_CHANGES = /[\u202a-\u202e\u2066-\u2069]/g;

/** Reads a file name as Windows does: trailing white space and dots are ignored. */
function readFileName(name: string): FileName {
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
    isBlockedByGmail: BLOCKED_BY_GMAIL.has(extension),
    isDouble:
      (kind === 'program' || kind === 'page') &&
      TRUSTED.has(parts.at(-2) ?? '') &&
      parts.length > 2,
    isDisguised: tail.search(DIRECTION_CHANGES) >= 0,
  };
}

function kindOf(extension: string): NameKind {
  if (BLOCKED_BY_GMAIL.has(extension) || BLOCKED_BY_OTHERS.has(extension)) return 'program';
  if (WITH_MACROS.has(extension)) return 'macros';
  if (PAGES.has(extension)) return 'page';
  return ARCHIVES.has(extension) ? 'archive' : 'other';
}
