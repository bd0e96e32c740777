/** `feedback parse`: reads reports without a database or a service. */

import type { ReadItem } from '../../feedback/reading/report.ts';
import { createFeedbackReader } from '../../feedback/thread/reader.ts';
import { systemClock } from '../../lib/clock.ts';
import { printableJson, silentLog } from '../../lib/log.ts';
import { zoneResolver } from '../../net/dns/zone.ts';
import { EXIT, type Io, printMessage } from '../command.ts';
import { feedbackFiles } from './files.ts';
import { itemText } from './text.ts';

const refusal = (detail: string): ReadItem => ({
  ok: false,
  reason: 'not_a_report',
  detail,
  type: null,
});

/** Exits with 1 if any file is refused. */
export async function parseFiles(
  paths: string[],
  { json }: { json: boolean },
  io: Io,
): Promise<number> {
  const now = systemClock.now();
  let refused = 0;
  let files = 0;
  // In a thread, a hostile file ends within the limits of the service.
  const reader = createFeedbackReader({ resolver: zoneResolver({}), log: silentLog });
  for await (const { name, bytes, problem } of feedbackFiles(paths, io)) {
    files += 1;
    const items: ReadItem[] =
      problem === null ? await reader.parse(bytes, now) : [refusal(problem)];
    for (const item of items) {
      if (!item.ok) refused += 1;
      if (json) io.stdout(`${printableJson({ file: name, ...item })}\n`);
      else io.stdout(itemText(name, item, { width: io.width, color: io.useColor }));
    }
  }
  await reader.end();
  if (files === 0) printMessage(io, 'There are no files.');
  return files === 0 ? EXIT.usage : refused > 0 ? EXIT.negative : EXIT.success;
}
