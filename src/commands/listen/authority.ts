/** The certificate authority of `listen`: created once and reused, so that you configure the service only once. */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { issueCertificate, type KeyPair, makeAuthority } from '../../lib/certificates.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { createFolder } from '../../lib/folders.ts';
import { UsageError } from '../command.ts';

const AUTHORITY_NAME = 'deliverability listen local authority';
/** An authority that expires sooner is replaced at startup. */
const MIN_REMAINING_MS = 30 * DAY_MS;
/** Each start issues a server certificate; some systems reject longer lifetimes. */
const SERVER_LIFETIME_MS = 397 * DAY_MS;

export interface Authority {
  /** The path of the certificate (PEM), for clients to trust. */
  file: string;
  /** Whether it was just created, so that no client trusts it yet. */
  isNew: boolean;
  /** Issues a key and a certificate for a server with these names and addresses. */
  issue(names: [string, ...string[]]): Promise<KeyPair>;
}

/**
 * Opens or creates `ca.pem` and `ca.key` (mode 0600) in the folder. Throws a UsageError if they cannot be
 * written, or if other files have these names; those are never overwritten.
 */
export async function openAuthority(folder: string, now: number): Promise<Authority> {
  const file = join(folder, 'ca.pem');
  const keyFile = join(folder, 'ca.key');
  const existing = existsSync(file) || existsSync(keyFile) ? readExisting(file, keyFile) : null;
  const made = existing === null || existing.expiresAt - now < MIN_REMAINING_MS;
  const pair = made ? await makeAuthority(AUTHORITY_NAME, now) : existing.pair;
  if (made) {
    try {
      createFolder(folder);
      writeAtomically(keyFile, pair.key);
      writeAtomically(file, pair.cert);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      throw new UsageError(unwritableMessage(folder, code));
    }
  }
  return {
    file,
    isNew: made,
    issue: (names) =>
      issueCertificate({
        names,
        authority: pair,
        authorityName: AUTHORITY_NAME,
        now,
        lifetime: SERVER_LIFETIME_MS,
      }),
  };
}

function readExisting(file: string, keyFile: string): { pair: KeyPair; expiresAt: number } {
  try {
    const pair = { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(file, 'utf8') };
    const certificate = new X509Certificate(pair.cert);
    const isListenAuthority =
      certificate.subject === `CN=${AUTHORITY_NAME}` &&
      certificate.verify(certificate.publicKey) &&
      certificate.checkPrivateKey(createPrivateKey(pair.key));
    if (isListenAuthority) return { pair, expiresAt: certificate.validToDate.getTime() };
  } catch {
    // The error below covers every reason.
  }
  throw new UsageError(
    `${file} and ${keyFile} are not a certificate authority that this command created. Delete both, or choose another folder with --dir`,
  );
}

function unwritableMessage(folder: string, code: string): string {
  const reason = Object.hasOwn(REASONS, code) ? REASONS[code] : `system error ${code}`;
  return `Cannot store the certificate authority in ${folder}: ${reason}. Choose another folder with --dir`;
}

const REASONS: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOENT: 'the folder cannot be created',
  ENOTDIR: 'part of the path is not a folder',
  EEXIST: 'part of the path is a broken link',
  ENAMETOOLONG: 'the name is too long',
  ENOSPC: 'the disk is full',
};

/** Writes to a temporary file and renames it, so that the path never has an incomplete file. */
function writeAtomically(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
}
