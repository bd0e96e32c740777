/** Names of attached files, which strangers do not read; of files that are a finding the extension is part of it. */

import type { CheckResult } from '../analysis/result.ts';
import { evidenceOf, isObject, objectsIn, textIn, textsIn } from './read-evidence.ts';

/** Shorter ones say nothing, and stand in ordinary words. */
const SHORTEST = 4;

/** How the names of a report's files are left out, each where it can stand and nowhere else. */
export interface FileNames {
  /** Out of what a spam engine says of the message: as whole words. */
  outOfWords: (text: string) => string;
  /** Out of a sentence of ours that may quote the verdict on the attachments. */
  outOfQuote: (text: string) => string;
  /** Out of that verdict and its evidence. */
  outOfCheck: (check: CheckResult) => CheckResult;
}

export function namesOfFiles(checks: CheckResult[]): FileNames {
  const outOfWords = wordsOut(checks);
  const outOfCheck = (check: CheckResult): CheckResult => withoutNames(check, outOfWords);
  const check = checks.find(({ id }) => id === 'attachments');
  const [own, told] = check ? [check.title, outOfCheck(check).title] : ['', ''];
  return {
    outOfWords,
    outOfCheck,
    outOfQuote: (text) => (own === told ? text : text.split(own).join(told)),
  };
}

/** A name may be a word that we write ourselves, so it is cut where our sentence has it. */
function withoutNames(check: CheckResult, outOfWords: FileNames['outOfWords']): CheckResult {
  const found = objectsIn(check.evidence, 'found');
  const first = found.find((each) => check.title.startsWith(beginningOf(each)));
  const title = first
    ? beginningOf(cutFound(first)) + check.title.slice(beginningOf(first).length)
    : check.title.startsWith('Your attachment ')
      ? outOfWords(check.title)
      : check.title;
  const evidence = { ...check.evidence };
  if (Array.isArray(evidence.found))
    evidence.found = evidence.found.map((each) => (isObject(each) ? cutFound(each) : each));
  return { ...check, title, evidence };
}

type Found = CheckResult['evidence'];

const beginningOf = (found: Found): string =>
  `Your attachment ${textIn(found, 'file')} ${textIn(found, 'problem')}`;

function cutFound(found: Found): Found {
  const [file, problem] = [textIn(found, 'file'), textIn(found, 'problem')];
  const cut = { ...found };
  if (file !== null && !TYPE.test(file)) cut.file = extensionOf(file);
  if (problem !== null)
    cut.problem = problem.replace(
      MEMBER,
      (_, holds: string, member: string) => holds + extensionOf(member),
    );
  return cut;
}

function wordsOut(checks: CheckResult[]): FileNames['outOfWords'] {
  const shown = new Map<string, string>();
  const attachments = evidenceOf(checks, 'attachments');
  for (const part of objectsIn(evidenceOf(checks, 'message_size'), 'largest_parts'))
    shown.set(textIn(part, 'filename') ?? '', '…');
  for (const name of textsIn(attachments, 'files')) shown.set(name, '…');
  for (const found of objectsIn(attachments, 'found')) {
    const name = textIn(found, 'file') ?? '';
    shown.set(name, extensionOf(name));
    const member = MEMBER.exec(textIn(found, 'problem') ?? '')?.[2] ?? '';
    shown.set(member, extensionOf(member));
  }
  const names = [...shown.keys()]
    .filter((name) => name.length >= SHORTEST && !TYPE.test(name))
    .sort((a, b) => b.length - a.length);
  if (names.length === 0) return (text) => text;
  const any = names.map(escaped).join('|');
  const pattern = new RegExp(String.raw`(?<![\p{L}\p{N}_])(?:${any})(?![\p{L}\p{N}_])`, 'gu');
  return (text) => text.replace(pattern, (name) => shown.get(name)!);
}

/** As a regular expression finds it. */
export const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** In an archive; it is named by the end of its path. */
const MEMBER = /^(holds )(.+)(?=, which (?:is|has) )/s;

/** What a file without a name is called. */
const TYPE = /^\([\w.+-]+\/[\w.+-]+\)$/;

/** `….exe`. */
function extensionOf(name: string): string {
  const extension = /\.[a-z0-9_-]{1,10}$/i.exec(name.trim())?.[0] ?? '';
  return `…${extension}`;
}
