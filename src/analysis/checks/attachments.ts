/** `attachments`: files that mailbox providers block or warn about. */

import { readFileName } from '../attachments/file-name.ts';
import { type FileProblem, inspectFile } from '../attachments/problems.ts';
import { type Check, type Context, type Finding, fail, pass, unknown, warn } from '../check.ts';
import { messageParts, type PartTree } from '../mime/attached-messages.ts';
import type { Part } from '../mime/message.ts';
import { type HiddenFile, readCautiously, readContent } from '../mime/second-reading.ts';

const MAX_SHOWN = 20;

interface Problem extends FileProblem {
  file: string;
  type: string;
  octets: number;
}

/**
 * Programs, scripts and misleading names fail, in ZIP archives too, because Gmail and the default
 * settings of Microsoft 365 block most of them. Macros fail because most corporate gateways block
 * them. Encrypted archives, web pages and SVG files warn: no large mailbox provider blocks them by
 * rule, but they cannot be inspected, or run scripts in a browser. Files that only some email clients see
 * count too, because virus scanners report them.
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
      blocked_by: 'shown',
    },
  },
  // A file name may match a word of the surrounding sentence.
  publicTexts: [{ list: 'found', phrase: 'Your attachment {file} {problem}' }],
  run(context) {
    const { message } = context;
    const tree = context.fact(messageParts);
    const files = tree.parts.filter(isFile);
    const inspected = files.map((part) => inspectFile(part.filename, part.type, part.content));
    const problems = [
      ...inspected.flatMap(({ problem }, i) => (problem ? [describe(files[i]!, problem)] : [])),
      ...hiddenProblems(context, tree, files),
    ];
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
    if (tree.parts.some(isTnefPart)) return onlyForOutlook(files.length);
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

const describe = (part: Part, problem: FileProblem): Problem => ({
  file: nameOf(part),
  type: part.type,
  octets: part.size,
  ...problem,
});

// Files that only some email clients see.

function hiddenProblems({ raw }: Context, tree: PartTree, files: Part[]): Problem[] {
  const known = new Set(files.map(({ filename }) => extensionOf(filename)));
  // An attached message has its subject as its name, which may end in a domain.
  for (const part of tree.parts) if (isNamedMessage(part)) known.add(extensionOf(part.filename));
  const inRaw = readCautiously(raw)
    .filter(({ name }) => name === null || !known.has(extensionOf(name)))
    .map((hidden) => ({ hidden, part: partAt(tree.parts, hidden.at) }))
    .filter(({ hidden, part }) => !part || !isSeen(raw, part, hidden));
  const inEncoded = tree.encodedMessages.flatMap((part) =>
    readContent(part.content, 0).map((hidden) => ({ hidden, part })),
  );
  const nested = tree.parts
    .filter(isTnefPart)
    .flatMap((part) => readContent(part.content, 0).map((hidden) => ({ hidden, part })));
  const problems = [...inRaw, ...inEncoded, ...nested].map(({ hidden, part }) =>
    hiddenProblem(hidden, part ?? null),
  );
  return [...new Map(problems.map((item) => [item.file + item.problem, item])).values()];
}

const extensionOf = (name: string | null): string => readFileName(name ?? '').extension;

const isNamedMessage = ({ type, filename }: Part): boolean =>
  type.startsWith('message/') && TOP_LEVEL_DOMAINS.has(extensionOf(filename));

/** Those that are also the extension of a blocked file. */
const TOP_LEVEL_DOMAINS = new Set(['app', 'com', 'pl', 'py', 'run', 'sh', 'ws']);

const isTnefPart = ({ type, filename }: Part): boolean =>
  /\/(?:vnd\.)?ms-tnef$/.test(type) || /^winmail\.dat$/i.test(filename ?? '');

/** The innermost part that contains this offset. */
function partAt(parts: Part[], at: number): Part | undefined {
  return parts.findLast(({ start, end }) => start <= at && at < end);
}

/** Whether every program sees this content: it is the whole of a file in its declared encoding. */
function isSeen(raw: Uint8Array, part: Part, { at, name, how }: HiddenFile): boolean {
  if (name !== null || !isFile(part)) return false;
  const encoding = /^(?:base64|quoted-printable)$/.test(part.encoding ?? '')
    ? part.encoding
    : 'plain bytes';
  const before = Buffer.from(raw.subarray(part.start, Math.min(at, part.start + 4096)));
  return how === encoding && before.toString('latin1').trim() === '';
}

function hiddenProblem(
  { name, opens, refused, blockedBy }: HiddenFile,
  part: Part | null,
): Problem {
  const file = part ? nameOf(part) : '(text/plain)';
  const problem =
    name === null
      ? `opens as ${opens} in some email clients`
      : `contains ${name}, which some email clients open as ${opens}`;
  const { type, size: octets } = part ?? { type: 'text/plain', size: 0 };
  return { file, type, octets, problem, refused, blockedBy };
}

/** A winmail.dat ([MS-OXTNEF]) with nothing harmful in it. */
const onlyForOutlook = (fileCount: number): Finding => ({
  ...warn({
    title: 'Your message contains winmail.dat, which only Outlook can open.',
    detail:
      'Outlook or Exchange sent the message in Rich Text format. Gmail, Apple Mail and others show a file named winmail.dat instead of the attachments and the formatting, and some filters distrust it.',
    fix: 'Send the message as HTML. In Outlook, choose File, Options, Mail, “Compose messages in this format: HTML”, and also “Convert to HTML format” for messages in Rich Text format to Internet recipients. For a whole organization, run “Set-RemoteDomain Default -TNEFEnabled $false” in Exchange PowerShell.',
    evidence: { attachments: fileCount },
  }),
  reference: {
    name: 'Microsoft: TNEF conversion options',
    url: 'https://learn.microsoft.com/exchange/mail-flow/content-conversion/tnef-conversion',
  },
});

function problemFinding(problems: Problem[], fileCount: number): Finding {
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
      attachments: fileCount,
      found: worst
        .slice(0, MAX_SHOWN)
        .map(({ blockedBy, ...item }) => ({ ...item, blocked_by: blockedBy })),
    },
  });
}
