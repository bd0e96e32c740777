/** Archives with the same bytes for the same content, whoever creates them and when. */

import { execFileSync } from '../programs.ts';

/** Who owns the entries; numbers, because names differ between machines. */
export interface Owner {
  uid: number;
  gid: number;
}

export const ROOT_OWNER: Owner = { uid: 0, gid: 0 };

/** Creates the tar archive `file` with the `members` of `folder`, or adds them to it. */
export function writeTar(
  file: string,
  folder: string,
  members: string[],
  { epoch, owner = ROOT_OWNER, append = false }: { epoch: number; owner?: Owner; append?: boolean },
): void {
  execFileSync('tar', [
    append ? '--append' : '--create',
    `--file=${file}`,
    `--directory=${folder}`,
    '--format=ustar',
    '--sort=name',
    `--mtime=@${epoch}`,
    `--owner=${owner.uid}`,
    `--group=${owner.gid}`,
    '--numeric-owner',
    ...members,
  ]);
}

/** Compresses `file` in place, without its name and time; returns the new path. */
export function gzip(file: string): string {
  execFileSync('gzip', ['-9', '--no-name', '--force', file]);
  return `${file}.gz`;
}
