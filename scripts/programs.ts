/**
 * The only way in which tests and scripts start other programs. Users' machines do not have most of them, so a test that
 * needs one names it in its `skip` option: see test/helpers/installed.ts.
 */

import * as childProcess from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { basename, delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';

export type { ChildProcess, ChildProcessWithoutNullStreams } from 'node:child_process';

/** In the slim images of Node.js and everywhere else. Tests call these without a `skip` option. */
const ESSENTIAL = [
  'bash',
  'cat',
  'chmod',
  'chown',
  'git',
  'gzip',
  'mkfifo',
  'node',
  'npm',
  'npx',
  'sh',
  'sha256sum',
  'tar',
  'which',
  'prlimit',
  'setpriv',
  'unshare',
];

/** In node_modules of this project; `npm run` adds them to PATH. */
const IN_PROJECT = ['biome', 'tsc', 'tsx'];

/** The programs that only some machines have, and the Debian package of each. */
const OPTIONAL: Record<string, string> = {
  'aarch64-linux-gnu-strip': 'binutils-aarch64-linux-gnu',
  'apt-get': 'apt',
  caddy: 'caddy',
  chromium: 'chromium',
  curl: 'curl',
  dovecot: 'dovecot-imapd',
  'dnssec-keygen': 'bind9-utils',
  'dnssec-signzone': 'bind9-utils',
  'dpkg-deb': 'dpkg',
  'dpkg-query': 'dpkg',
  fish: 'fish',
  gcc: 'gcc',
  go: 'gccgo-go',
  haproxy: 'haproxy',
  helm: 'helm',
  jq: 'jq',
  knotd: 'knot',
  lintian: 'lintian',
  man: 'man-db',
  mandoc: 'mandoc',
  mount: 'mount',
  named: 'bind9',
  'named-checkzone': 'bind9-utils',
  nginx: 'nginx',
  objdump: 'binutils',
  opendkim: 'opendkim',
  openssl: 'openssl',
  pdns_server: 'pdns-server',
  pdnsutil: 'pdns-server',
  pdffonts: 'poppler-utils',
  pdfinfo: 'poppler-utils',
  pdftoppm: 'poppler-utils',
  pdftotext: 'poppler-utils',
  podman: 'podman',
  postfix: 'postfix',
  'pre-commit': 'pre-commit',
  promtool: 'prometheus',
  python3: 'python3',
  'qemu-aarch64-static': 'qemu-user-static',
  rspamd: 'rspamd',
  runc: 'runc',
  script: 'bsdutils',
  skopeo: 'skopeo',
  'smtp-source': 'postfix',
  spamd: 'spamd',
  strip: 'binutils',
  swaks: 'swaks',
  'systemd-analyze': 'systemd',
  umoci: 'umoci',
  umount: 'mount',
  wrk: 'wrk',
  'x86_64-linux-gnu-strip': 'binutils',
  xmllint: 'libxml2-utils',
  zsh: 'zsh',
};

/** Whether the program is in the PATH of `env`, or is the path of a program. */
export function isInstalled(program: string, env = process.env): boolean {
  if (isAbsolute(program)) return isProgram(program);
  const folders = (env.PATH ?? '').split(delimiter);
  return folders.some((folder) => isProgram(join(folder, program)));
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Why a program cannot be started, in the words that the test runner counts. */
export const missingProgram = (program: string): string =>
  `${program} is not installed: scripts/setup-test-machine.sh`;

/** Throws for a program that this file does not list, and for one that is missing. */
export function requireProgram(program: string): void {
  if (isAbsolute(program)) return;
  if (ESSENTIAL.includes(program) || IN_PROJECT.includes(program)) return;
  if (!(program in OPTIONAL))
    throw new Error(`List ${basename(program)} in scripts/programs.ts, with its Debian package.`);
  if (!isInstalled(program))
    throw new Error(`${missingProgram(program)}. A test skips with skipUnlessInstalled.`);
}

// As in node:child_process, for listed programs and for absolute paths.

export const spawn = checked(childProcess.spawn);
export const spawnSync = checked(childProcess.spawnSync);
export const execFile = checked(childProcess.execFile);
export const execFileSync = checked(childProcess.execFileSync);

// biome-ignore lint/suspicious/noExplicitAny: overloaded functions have no common signature.
type Start = (program: string, ...rest: any[]) => any;

function checked<F extends Start>(call: F): F {
  const run = withCheck(call);
  // `promisify` uses it, so that the output is an object.
  const custom = call[promisify.custom as never] as Start | undefined;
  return Object.assign(run, custom && { [promisify.custom]: withCheck(custom) }) as Start as F;
}

function withCheck(call: Start): Start {
  return (program, ...rest) => {
    requireProgram(program);
    return call(program, ...rest);
  };
}
