/** Names of attached files, which strangers do not read; of files that are a finding the extension is part of it. */

import type { CheckResult } from '../analysis/result.ts';
import { evidenceOf, objectsIn, textIn, textsIn } from './read-evidence.ts';

/** Shorter ones say nothing, and stand in ordinary words. */
const SHORTEST = 4;

/** A function that leaves them out of any text of the report. */
export function namesOfFiles(checks: CheckResult[]): (text: string) => string {
  const shown = new Map<string, string>();
  const attachments = evidenceOf(checks, 'attachments');
  for (const part of objectsIn(evidenceOf(checks, 'message_size'), 'largest_parts'))
    shown.set(textIn(part, 'filename') ?? '', '…');
  for (const name of textsIn(attachments, 'files')) shown.set(name, '…');
  for (const found of objectsIn(attachments, 'found')) {
    const name = textIn(found, 'file') ?? '';
    shown.set(name, extensionOf(name));
    const member = MEMBER.exec(textIn(found, 'problem') ?? '')?.[1] ?? '';
    shown.set(member, extensionOf(member));
  }
  const names = [...shown.keys()]
    .filter((name) => name.length >= SHORTEST && !TYPE.test(name))
    .sort((a, b) => b.length - a.length);
  if (names.length === 0) return (text) => text;
  return (text) => names.reduce((cut, name) => cut.replaceAll(name, shown.get(name)!), text);
}

/** In an archive; it is named by the end of its path. */
const MEMBER = /^holds (.+), which (?:is|has) /s;

/** What a file without a name is called. */
const TYPE = /^\([\w.+-]+\/[\w.+-]+\)$/;

/** `….exe`. */
function extensionOf(name: string): string {
  const extension = /\.[a-z0-9_-]{1,10}$/i.exec(name.trim())?.[0] ?? '';
  return `…${extension}`;
}
