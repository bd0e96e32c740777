/** The Node version of the executable, which npm scripts use. */

import manifest from '../../package.json' with { type: 'json' };

export const PINNED_NODE = manifest.devDependencies.node;

/** Throws unless this process runs the Node version that executables contain. */
export function requirePinnedNode(command: string): void {
  if (process.versions.node !== PINNED_NODE)
    throw new Error(
      `Wrong Node version ${process.versions.node}: run ${command}, which uses ${PINNED_NODE}`,
    );
}
