/** Starts a real Rspamd on loopback, offline: Debian's rules, one worker, no Redis, no DNS. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Daemon, freePort, startDaemon } from './daemon.ts';

export interface Rspamd extends Daemon {
  /** The value for DELIVERABILITY_RSPAMD_URL. */
  url: string;
}

/** Requires `needs('rspamd')`. `rules`: lines of Lua with an operator's own rules. */
export async function startRspamd(rules: string[] = []): Promise<Rspamd> {
  const port = await freePort();
  const daemon = await startDaemon({
    command: 'rspamd',
    ready: /listening for control commands/,
    args(folder) {
      // Compiling the full list of public suffixes takes ten seconds.
      const suffixes = ['com', 'net', 'org', 'example'];
      writeFileSync(join(folder, 'suffixes'), suffixes.map((name) => `${name}\n`).join(''));
      writeFileSync(join(folder, 'rspamd.conf'), configuration(folder, port));
      writeFileSync(join(folder, 'rspamd.local.lua'), rules.join('\n'));
      // Ignores the machine's settings, which are in the default LOCAL_CONFDIR.
      const names = ['DBDIR', 'RUNDIR', 'LOGDIR', 'LOCAL_CONFDIR'];
      const variables = names.map((name) => `--var=${name}=${folder}`);
      return ['--no-fork', '--insecure', `--config=${join(folder, 'rspamd.conf')}`, ...variables];
    },
  });
  return { ...daemon, url: `http://127.0.0.1:${port}` };
}

const configuration = (folder: string, port: number) => `
.include "/etc/rspamd/common.conf"
options {
  filters = "chartable,dkim,regexp";
  explicit_modules = ["settings"];
  allow_raw_input = true;
  url_tld = "${folder}/suffixes";
  tempdir = "${folder}";
  hs_cache_dir = "${folder}";
  cache_file = "${folder}/symbols.cache";
  pidfile = "${folder}/rspamd.pid";
  control_socket = "${folder}/control.sock mode=0600";
  dns { nameserver = ["127.0.0.1:1"]; timeout = 0.1s; retransmits = 1; }
}
logging { type = "console"; level = "info"; }
worker "normal" { bind_socket = "127.0.0.1:${port}"; count = 1; mime = true; }
`;
