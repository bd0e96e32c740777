/** What services log as errors. */

import type { LogLine } from '../../helpers/serve-process.ts';

/** On a busy machine, the service gives up a report, or a connection to PostgreSQL, and tries again later. */
const TOO_SLOW = /took too long|timeout exceeded when trying to connect/;

export const errorsIn = (log: Pick<LogLine, string>[]): Pick<LogLine, string>[] =>
  log.filter(({ level, error }) => level === 'error' && !TOO_SLOW.test(String(error)));
