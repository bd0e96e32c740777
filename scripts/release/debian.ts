/** Builds the Debian package: the executable, its systemd unit and user, settings, a manual page, and completions. */

import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import manifest from '../../package.json' with { type: 'json' };
import { COMMANDS } from '../../src/commands/commands.ts';
import { SHELLS } from '../../src/commands/shell/completion.ts';
import { manPage } from '../../src/commands/shell/man-page.ts';
import { MIN_GLIBC } from '../../src/store/sqlite/addon.ts';
import { execFileSync } from '../programs.ts';
import type { LinuxTarget } from './targets.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PACKAGING = join(ROOT, 'packaging');

const MAINTAINER = 'The maintainers of deliverability <maintainers@deliverability.invalid>';

export interface DebianPackage {
  target: LinuxTarget;
  executable: string;
  folder: string;
  epoch: number;
}

/** Returns the path of the package in `folder`. */
export function writeDebianPackage({ target, executable, folder, epoch }: DebianPackage): string {
  const { name, version } = manifest;
  const root = mkdtempSync(join(folder, 'deb-'));
  const put = (path: string, content: string | Buffer, mode = 0o644) => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    chmodSync(file, mode);
  };
  const packaged = (path: string) => readFileSync(join(PACKAGING, path));
  // zlib writes neither name nor time.
  const compressed = (text: string) => gzipSync(text, { level: 9 });
  try {
    const program = join(root, 'usr/bin', name);
    mkdirSync(dirname(program), { recursive: true });
    copyFileSync(executable, program);
    chmodSync(program, 0o755);
    put(`usr/sbin/${name}-admin`, packaged('debian/deliverability-admin'), 0o755);
    put(`lib/systemd/system/${name}.service`, packaged('systemd/deliverability.service'));
    put(`usr/lib/sysusers.d/${name}.conf`, packaged('debian/deliverability.sysusers'));
    put(`etc/${name}/${name}.env`, packaged('debian/deliverability.env'));
    const doc = `usr/share/doc/${name}`;
    put(`${doc}/copyright`, `${packaged('debian/copyright')}${licenseField()}`);
    put(`${doc}/changelog.gz`, compressed(changelog(epoch)));
    put(`${doc}/NEWS.md.gz`, compressed(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')));
    // Not compressed, so that their links work.
    for (const path of ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT })])
      put(`${doc}/${path}`, readFileSync(join(ROOT, path)));
    put(`usr/share/man/man1/${name}.1.gz`, compressed(manPage(COMMANDS, epoch * 1000)));
    put(`usr/share/man/man8/${name}-admin.8.gz`, compressed(`.so man1/${name}.1\n`));
    for (const [path, text] of completionFiles()) put(path, text);
    put(`usr/share/lintian/overrides/${name}`, packaged('debian/lintian-overrides'));
    const files = filesBelow(root);
    const installed = kilobytes(root);
    for (const script of ['postinst', 'prerm', 'postrm'])
      put(`DEBIAN/${script}`, packaged(`debian/${script}`), 0o755);
    put('DEBIAN/conffiles', `/etc/${name}/${name}.env\n`);
    put('DEBIAN/md5sums', files.map((path) => `${md5(join(root, path))}  ${path}\n`).join(''));
    put('DEBIAN/control', control(target, installed));
    const paths = globSync('**/*', { cwd: root }).map((path) => join(root, path));
    for (const path of [...paths, root]) {
      if (statSync(path).isDirectory()) chmodSync(path, 0o755);
      utimesSync(path, epoch, epoch);
    }
    const file = join(folder, `${name}_${version}_${target.debianArch}.deb`);
    // Higher levels take minutes, and save a tenth.
    execFileSync('dpkg-deb', ['--build', '--root-owner-group', '-Zxz', '-z1', root, file], {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return file;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

const control = ({ debianArch }: LinuxTarget, installedSize: number): string =>
  `Package: ${manifest.name}
Version: ${manifest.version}
Architecture: ${debianArch}
Maintainer: ${MAINTAINER}
Installed-Size: ${installedSize}
Depends: libc6 (>= ${MIN_GLIBC}), libgcc-s1, libstdc++6 (>= 11), systemd, default-dbus-system-bus | dbus-system-bus
Suggests: rspamd, spamd, unbound, fonts-noto-core
Section: mail
Priority: optional
Description: self-hosted tester of email deliverability
 Receives messages at test addresses and checks SPF, DKIM, DMARC, reverse DNS,
 TLS, blocklists, headers and content. The report has a score, the evidence
 for every point lost, and the fix.
`;

/** In the form of Debian; NEWS.md has the changes. */
function changelog(epoch: number): string {
  const date = new Date(epoch * 1000).toUTCString().replace('GMT', '+0000');
  return `${manifest.name} (${manifest.version}) stable; urgency=medium\n\n  * Release: see NEWS.md.\n\n -- ${MAINTAINER}  ${date}\n`;
}

/** The license in the form of Debian's copyright files: each line is indented, and an empty one is a dot. */
function licenseField(): string {
  const lines = readFileSync(join(ROOT, 'LICENSE'), 'utf8').trimEnd().split('\n');
  return lines.map((line) => (line.trim() ? ` ${line}\n` : ' .\n')).join('');
}

/** bash and fish load the file that has the name of a program; zsh, the one whose first line names both programs. */
function completionFiles(): [path: string, text: string][] {
  const { name } = manifest;
  const [bash, fish] = [SHELLS.bash(COMMANDS), SHELLS.fish(COMMANDS)];
  return [
    [`usr/share/zsh/vendor-completions/_${name}`, SHELLS.zsh(COMMANDS)],
    ...[name, `${name}-admin`].flatMap((program): [string, string][] => [
      [`usr/share/bash-completion/completions/${program}`, bash],
      [`usr/share/fish/vendor_completions.d/${program}.fish`, fish],
    ]),
  ];
}

const filesBelow = (folder: string): string[] =>
  globSync('**/*', { cwd: folder })
    .filter((path) => statSync(join(folder, path)).isFile())
    .sort();

const md5 = (file: string): string => createHash('md5').update(readFileSync(file)).digest('hex');

/** The size that package managers show. */
function kilobytes(folder: string): number {
  const sizes = globSync('**/*', { cwd: folder }).map((path) => statSync(join(folder, path)));
  return sizes.reduce((sum, entry) => sum + (entry.isFile() ? Math.ceil(entry.size / 1024) : 1), 0);
}
