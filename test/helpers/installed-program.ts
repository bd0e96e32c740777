/** A folder for PATH with `deliverability`, as if it were installed. */

import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder } from './app.ts';
import { bundleProgram } from './program.ts';

/** Resolves with a PATH that contains the program before all others. */
export async function pathWithProgram(t: TestContext): Promise<string> {
  const folder = temporaryFolder(t);
  const file = join(folder, 'deliverability');
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${await bundleProgram()}' "$@"\n`);
  chmodSync(file, 0o755);
  return `${folder}${delimiter}${process.env.PATH}`;
}

/** The code blocks of a document in one language. */
export const codeBlocks = (markdown: string, language: string): string[] =>
  [...markdown.matchAll(new RegExp(`^ *\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\`$`, 'gm'))].map(
    ([, text]) => text!,
  );
