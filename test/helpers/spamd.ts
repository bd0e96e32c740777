/** Starts a real SpamAssassin on loopback, offline: Debian's rules, no preferences, no learning, no DNS. */

import { copyFileSync, globSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Daemon, freePort, startDaemon } from './daemon.ts';

export interface Spamd extends Daemon {
  /** The value for DELIVERABILITY_SPAMD_URL. */
  url: string;
}

/** Requires `needs('spamd')`. `settings`: lines of its configuration. */
export async function startSpamd(settings: string[] = []): Promise<Spamd> {
  const port = await freePort();
  const daemon = await startDaemon({
    command: 'spamd',
    ready: /server started on/,
    args(folder) {
      // Loads the machine's modules, but not its settings.
      for (const file of globSync('/etc/spamassassin/*.pre'))
        copyFileSync(file, join(folder, basename(file)));
      const lines = ['use_bayes 0', 'use_auto_welcomelist 0', ...settings];
      writeFileSync(join(folder, 'local.cf'), lines.map((line) => `${line}\n`).join(''));
      const asNobody = process.getuid?.() === 0 ? ['--username=nobody'] : [];
      return [
        '--local',
        '--nouser-config',
        '--syslog=stderr',
        `--helper-home-dir=${folder}`,
        '--configpath=/usr/share/spamassassin',
        `--siteconfigpath=${folder}`,
        ...asNobody,
        '--listen=127.0.0.1',
        `--port=${port}`,
        '--max-children=1',
        '--min-children=1',
      ];
    },
  });
  return { ...daemon, url: `tcp://127.0.0.1:${port}` };
}
