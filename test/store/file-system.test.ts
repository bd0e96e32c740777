import assert from 'node:assert/strict';
import { statfsSync } from 'node:fs';
import { it } from 'node:test';
import { requireLocalFileSystem } from '../../src/store/sqlite/file-system.ts';
import { temporaryFolder } from '../helpers/app.ts';

it('A database on a network file system is refused, one on any other is not', {
  skip: process.platform !== 'linux' && 'the types of file systems are those of Linux',
}, (t) => {
  const folder = temporaryFolder(t);
  const check = (type: number) =>
    requireLocalFileSystem(folder, ((path: string) => ({ ...statfsSync(path), type })) as never);
  requireLocalFileSystem(folder);
  // ext4, XFS, Btrfs, tmpfs, overlay
  for (const type of [0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630]) check(type);
  for (const [type, name] of [
    [0x6969, 'NFS'],
    [0xff534d42, 'SMB'],
    [0xff534d42 | 0, 'SMB'],
    [0xfe534d42, 'SMB'],
  ] as const)
    assert.throws(
      () => check(type),
      new RegExp(`network file system .${name}.*local disk, or use PostgreSQL`),
    );
});
