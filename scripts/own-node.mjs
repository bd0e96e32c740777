/**
 * Runs after `npm ci`. Where the Node.js that the package `node` installed cannot start, as with the musl library of
 * Alpine, its link is removed, so that the commands use the machine's own Node.js. It runs on any Node.js.
 */

import { realpathSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const bin = resolve(root, 'node_modules', '.bin');
const { engines } = createRequire(import.meta.url)('../package.json');
const minimum = engines.node.replace('>=', '').split('.').map(Number);
const current = process.versions.node.split('.').map(Number);
const isNewEnough =
  current[0] > minimum[0] || (current[0] === minimum[0] && current[1] >= minimum[1]);

/** Whether this process is the Node.js that the package installed. A shell may try the next one in PATH if it fails. */
const isOfPackage = () => {
  try {
    return realpathSync(resolve(bin, 'node')) === realpathSync(process.execPath);
  } catch {
    return false;
  }
};

// On Windows, npm writes scripts instead of links, and the binary always starts.
if (process.platform !== 'win32' && !isOfPackage()) rmSync(resolve(bin, 'node'), { force: true });
if (!isNewEnough) {
  if (process.argv[2] === 'other')
    console.error(
      `Deliverability needs Node.js ${minimum.join('.')} or later: the one of the package "node" does not start on this machine, and yours is ${process.versions.node}.`,
    );
  process.exit(1);
}
