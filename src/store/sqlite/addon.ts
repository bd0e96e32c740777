/** The addon that contains SQLite, and the systems that can't load it. */

/** The version of glibc that the addon needs. Node needs an older one, so the program itself starts. */
export const MIN_GLIBC = '2.34';

export const SYSTEM_TOO_OLD =
  `This system is too old for SQLite: it needs glibc ${MIN_GLIBC} or later, as in Debian 12, Ubuntu 22.04 and ` +
  'Red Hat Enterprise Linux 9. Use such a system, or the container image.';

/** Whether the system's loader refused the addon because a library lacks a version that it needs. */
export function isSystemTooOld(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /version `(GLIBC|GLIBCXX|CXXABI)_[\d.]+' not found/.test(error.message);
}
