/** What services log as errors. */

import type { LogLine } from '../../helpers/serve-process.ts';

/** Without reports that took too long: on a busy machine, the service gives up and composes them again. */
export const errorsIn = (log: Pick<LogLine, string>[]): Pick<LogLine, string>[] =>
  log.filter(({ level, error }) => level === 'error' && !/took too long/.test(String(error)));
