/** The limit on open files of this process, and the connections that fit in it. */

import { readFileSync } from 'node:fs';
import type { ConnectionLimits } from './connection-limits.ts';

/**
 * Files that the service needs besides accepted connections: 200 DNS sockets, 100 links and other
 * fetches, 400 webhook connections (200 of them idle), and 100 for the database, threads and email.
 */
export const RESERVED_FILES = 800;
/** However low the limit is, this share of it is for accepted connections. */
const MIN_CONNECTION_SHARE = 1 / 4;

/**
 * The soft limit. Node raises it to the hard limit when it starts. Null on systems without
 * `/proc/self/limits`, or if there is no limit.
 */
export function readFileLimit(file = '/proc/self/limits'): number | null {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync(file, 'utf8'))?.[1];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null;
  }
}

export interface FittedLimits {
  http: ConnectionLimits;
  smtp: ConnectionLimits;
  /** The file limit that the configured limits need; null if the current one is high enough. */
  needed: number | null;
}

/** Lowers the limits in proportion until they fit in the file limit, so that accepting never fails. */
export function fitToFileLimit(
  http: ConnectionLimits,
  smtp: ConnectionLimits,
  fileLimit: number | null,
): FittedLimits {
  const wanted = http.total + smtp.total;
  if (fileLimit === null || wanted + RESERVED_FILES <= fileLimit)
    return { http, smtp, needed: null };
  const available = Math.max(
    fileLimit - RESERVED_FILES,
    Math.floor(fileLimit * MIN_CONNECTION_SHARE),
  );
  const share = Math.min(1, available / wanted);
  const fit = ({ total, perClient }: ConnectionLimits): ConnectionLimits => {
    const fitted = Math.max(1, Math.floor(total * share));
    // One client must not take all that is left.
    return { total: fitted, perClient: Math.min(perClient, Math.ceil(fitted / 4)) };
  };
  return { http: fit(http), smtp: fit(smtp), needed: wanted + RESERVED_FILES };
}
