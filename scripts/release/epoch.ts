/** The time that all files of a release have, so that they don't depend on when they were built. */

import { execFileSync } from '../programs.ts';

/** `SOURCE_DATE_EPOCH` in seconds, or else the time of the last commit. */
export function sourceDateEpoch(root: string, env = process.env): number {
  const text = env.SOURCE_DATE_EPOCH ?? lastCommitTime(root);
  const epoch = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(epoch))
    throw new Error(`SOURCE_DATE_EPOCH must be a number of seconds, not "${text}"`);
  return epoch;
}

const lastCommitTime = (root: string): string =>
  execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }).trim();
