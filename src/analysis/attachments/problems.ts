/** What mailbox providers block or distrust about a file: its name, its media type, its content. */

import { BLOCKING_PROVIDERS, type BlockingProvider } from './blocked-types.ts';
import { readFileContent } from './file-content.ts';
import { type FileName, readFileName } from './file-name.ts';

export interface FileProblem {
  /** A predicate that follows the file name: "contains macros". */
  problem: string;
  /** Whether large mailbox providers block it, rather than deliver it with a warning. */
  refused: boolean;
  /** The providers that publish its type as blocked. */
  blockedBy: BlockingProvider[];
}

export const blocked = (problem: string, blockedBy: BlockingProvider[]): FileProblem => ({
  problem,
  refused: true,
  blockedBy,
});
export const suspicious = (problem: string): FileProblem => ({
  problem,
  refused: false,
  blockedBy: [],
});

/** Media types of programs and scripts. */
const PROGRAM_TYPE =
  /^(?:application\/(?:x-ms-?dos(?:-program|-executable)?|x-msdownload|x-dosexec|vnd\.microsoft\.portable-executable|x-executable|x-sh|x-msi|hta|java-archive|x-java-archive)|(?:text|application)\/(?:x-)?(?:javascript|ecmascript|vbscript))$/;

interface InspectedFile {
  problem: FileProblem | null;
  /** Whether an archive could not be read in full. */
  incomplete: boolean;
}

export function inspectFile(
  filename: string | null,
  type: string,
  bytes: Uint8Array,
): InspectedFile {
  const name = readFileName(filename ?? '');
  const content = readFileContent(bytes);
  const problem =
    nameProblem(name) ??
    (content.program
      ? blocked(`is ${content.program}, regardless of its name`, BLOCKING_PROVIDERS)
      : null) ??
    typeProblem(type) ??
    memberProblem(content.members) ??
    (content.macros || name.kind === 'macros' ? blocked('contains macros', []) : null) ??
    (content.encrypted ? suspicious('is encrypted, so virus scanners cannot inspect it') : null) ??
    pageProblem(type, name);
  return {
    problem,
    // Mailbox providers don't treat documents in a ZIP container as archives.
    incomplete: content.incomplete && (filename === null || name.kind === 'archive'),
  };
}

/** null for a name that no mail server blocks. */
export function nameProblem({
  kind,
  extension,
  blockedBy,
  isDouble,
  isDisguised,
}: FileName): FileProblem | null {
  if (isDisguised)
    return blocked(
      'has invisible characters in its name that disguise its file extension',
      blockedBy,
    );
  if (isDouble)
    return blocked(`has two file extensions, of which .${extension} is the real one`, blockedBy);
  if (kind !== 'program') return null;
  return blocked(`is of type .${extension}, which ${blockerOf(blockedBy)}`, blockedBy);
}

function blockerOf(providers: BlockingProvider[]): string {
  if (providers.includes('gmail')) return 'Gmail blocks';
  return providers.includes('microsoft') ? 'Outlook blocks' : 'many mail servers block';
}

export const typeProblem = (type: string): FileProblem | null =>
  PROGRAM_TYPE.test(type) ? blocked(`is declared as ${type}`, BLOCKING_PROVIDERS) : null;

export function memberProblem(members: string[]): FileProblem | null {
  for (const member of members) {
    const problem = nameProblem(readFileName(member));
    if (problem)
      return blocked(`contains ${member.slice(-80)}, which ${problem.problem}`, problem.blockedBy);
  }
  return null;
}

function pageProblem(type: string, { kind }: FileName): FileProblem | null {
  if (kind !== 'page' && type !== 'text/html' && type !== 'image/svg+xml') return null;
  return suspicious('opens in a browser and can run scripts');
}
