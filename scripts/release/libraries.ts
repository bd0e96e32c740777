/** Debian's C and C++ libraries: the executable needs them, and an image without a distribution has none. */

import { copyFileSync, existsSync, globSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execFileSync } from '../programs.ts';
import type { LinuxTarget } from './targets.ts';

/** The libraries of each Debian package that Node and the database addon link to. */
const PACKAGES: Record<string, string[]> = {
  libc6: ['libc.so.6', 'libdl.so.2', 'libm.so.6', 'libpthread.so.0'],
  'libgcc-s1': ['libgcc_s.so.1'],
  'libstdc++6': ['libstdc++.so.6'],
};

/** A folder laid out like the root of a Debian system, and the versions of the packages in it. */
export interface LibrarySource {
  root: string;
  versions: Record<string, string>;
}

/** The libraries of this machine, for the architecture of this machine. */
export function installedLibraries(): LibrarySource {
  const versions = Object.keys(PACKAGES).map((name) => {
    const status = execFileSync('dpkg-query', ['--status', name], { encoding: 'utf8' });
    return [name, /^Version: (.+)$/m.exec(status)![1]!];
  });
  return { root: '/', versions: Object.fromEntries(versions) };
}

/**
 * The current libraries of Debian for any architecture. apt runs with lists and settings of its own below `cache`.
 * So it needs no root, and the machine stays as it is.
 */
export function downloadLibraries({ debianArch }: LinuxTarget, cache: string): LibrarySource {
  const folder = join(cache, `debian-${debianArch}`);
  rmSync(folder, { recursive: true, force: true });
  const state = join(folder, 'apt');
  const root = join(folder, 'root');
  for (const path of ['lists/partial', 'archives/partial'])
    mkdirSync(join(state, path), { recursive: true });
  mkdirSync(root, { recursive: true });
  const settings = {
    'APT::Architecture': debianArch,
    'APT::Architectures': debianArch,
    'Dir::State': state,
    'Dir::State::status': '/dev/null',
    'Dir::Cache': state,
    'APT::Sandbox::User': '',
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  const apt = (...args: string[]) =>
    execFileSync('apt-get', ['--quiet', '--quiet', ...options, ...args], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  apt('update');
  apt('download', ...Object.keys(PACKAGES));
  const versions: Record<string, string> = {};
  for (const name of Object.keys(PACKAGES)) {
    const [file] = globSync(`${name}_*_${debianArch}.deb`, { cwd: folder });
    versions[name] = packageVersion(join(folder, file!));
    execFileSync('dpkg-deb', ['--extract', file!, root], { cwd: folder });
  }
  return { root, versions };
}

const packageVersion = (file: string): string =>
  execFileSync('dpkg-deb', ['--field', file, 'Version'], { encoding: 'utf8' }).trim();

/** Copies the libraries, the loader and their licenses into the root file system `to`. */
export function copyLibraries({ root }: LibrarySource, target: LinuxTarget, to: string): void {
  for (const [name, libraries] of Object.entries(PACKAGES)) {
    for (const library of libraries)
      copy(root, `lib/${target.triplet}/${library}`, to, `usr/lib/${target.triplet}/${library}`);
    // The same for all architectures, and part of each Debian system.
    copy('/', `usr/share/doc/${name}/copyright`, to, `usr/share/doc/${name}/copyright`);
  }
  copy(root, target.loader, to, target.loader);
}

/** Copies the file behind any links. Debian 12 has some files in /lib that later versions have in /usr/lib. */
function copy(root: string, from: string, to: string, path: string): void {
  const found = [from, join('usr', from)].map((file) => join(root, file)).find(existsSync);
  if (!found) throw new Error(`${join(root, from)} does not exist`);
  mkdirSync(dirname(join(to, path)), { recursive: true });
  copyFileSync(realpathSync(found), join(to, path));
}
