/** Gets the Node binary of a target from its npm package. */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { PINNED_NODE } from '../executable/node-version.ts';
import { execFileSync } from '../programs.ts';
import type { ReleaseTarget } from './targets.ts';

/**
 * Returns the path of the binary below `cache`. Downloads the package unless it is there, and verifies its hash
 * either way.
 */
export function nodeBinary(target: ReleaseTarget, cache: string): string {
  const { nodePackage, integrity, platform } = target;
  mkdirSync(cache, { recursive: true });
  const name = `${nodePackage}-${PINNED_NODE}`;
  const archive = join(cache, `${name}.tgz`);
  if (!existsSync(archive)) {
    const partial = join(cache, 'partial');
    mkdirSync(partial, { recursive: true });
    const spec = `${nodePackage}@${PINNED_NODE}`;
    execFileSync('npm', ['pack', spec, '--silent', '--pack-destination', partial], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    renameSync(join(partial, `${name}.tgz`), archive);
  }
  const hash = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (hash !== integrity)
    throw new Error(
      `${archive} has the hash ${hash}, expected ${integrity}. If the version of Node is new, update targets.ts.`,
    );
  const folder = join(cache, name);
  mkdirSync(folder, { recursive: true });
  const member = platform === 'win32' ? 'package/bin/node.exe' : 'package/bin/node';
  execFileSync('tar', ['-xzf', archive, '-C', folder, member]);
  return join(folder, member);
}
