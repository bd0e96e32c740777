/** Starts a Postfix of its own on loopback, which accepts all mail and discards it once it is in the queue. */

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../test/helpers/daemon.ts';
import { execFileSync } from '../programs.ts';

export interface Postfix {
  port: number;
  stop(): void;
}

/** Requires root. The queue is on the disk of the temporary folder, as the data of the service is. */
export async function startPostfix(): Promise<Postfix> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'postfix-'));
  chmodSync(folder, 0o755);
  for (const name of ['config', 'queue', 'data']) mkdirSync(join(folder, name));
  execFileSync('chown', ['postfix', join(folder, 'data')]);
  const config = join(folder, 'config');
  const main = {
    compatibility_level: '3.6',
    queue_directory: join(folder, 'queue'),
    data_directory: join(folder, 'data'),
    myhostname: 'mx.bench.example',
    mydestination: '',
    inet_interfaces: '127.0.0.1',
    inet_protocols: 'ipv4',
    mynetworks: '127.0.0.0/8',
    smtpd_relay_restrictions: 'permit_mynetworks, reject',
    smtpd_peername_lookup: 'no',
    default_transport: 'discard',
    relay_transport: 'discard',
    alias_maps: '',
    alias_database: '',
  };
  const lines = Object.entries(main).map(([name, value]) => `${name} = ${value}\n`);
  writeFileSync(join(config, 'main.cf'), lines.join(''));
  writeFileSync(join(config, 'master.cf'), masterConfiguration(port));
  // A pipe would stay open in the daemon, and this process would wait for its end.
  const postfix = (command: string) =>
    execFileSync('postfix', ['-c', config, command], { stdio: 'ignore' });
  postfix('start');
  return {
    port,
    stop() {
      postfix('stop');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Name, type, private, unprivileged, chroot, wakeup, maximum processes, command. */
const masterConfiguration = (port: number): string => `
127.0.0.1:${port} inet n - n - - smtpd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
proxymap unix - - n - - proxymap
discard unix - - n - - discard
error unix - - n - - error
anvil unix - - n - 1 anvil
tlsmgr unix - - n 1000? 1 tlsmgr
showq unix n - n - - showq
`;
