/** Paths as other systems expect them: relative to the repository. */

import { isAbsolute, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Io } from '../../command.ts';

/** The folder of the repository on GitHub and GitLab; elsewhere the current one. */
export const repositoryFolder = (env: Io['env']): string =>
  env.GITHUB_WORKSPACE || env.CI_PROJECT_DIR || '';

/** With slashes; null for standard input and for a file outside the repository. */
export function repositoryPath(path: string | null, folder: string): string | null {
  if (path === null) return null;
  const inside = relative(folder, path);
  if (inside === '' || isAbsolute(inside) || inside.split(sep)[0] === '..') return null;
  return inside.split(sep).join('/');
}

/** A URI reference (RFC 3986 §4.1). */
export function uriOf(path: string | null, folder: string): string {
  const inside = repositoryPath(path, folder);
  if (inside !== null)
    return inside
      .split('/')
      .map((part) => encodeURIComponent(part.toWellFormed()))
      .join('/');
  return path === null ? 'stdin' : pathToFileURL(path).href;
}
