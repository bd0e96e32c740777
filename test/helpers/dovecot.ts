/** Starts a real Dovecot on loopback as an IMAP server for seed mailboxes: any user, one password, no TLS. */

import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { ImapFlow } from 'imapflow';
import { type Daemon, freePort, startDaemon } from './daemon.ts';

export const DOVECOT_PASSWORD = 'seed:pass/word';

export interface Dovecot extends Daemon {
  port: number;
  /** The value of `imap` for a seed mailbox of this user. */
  url(user: string): string;
  /** Signs in as a person who reads the mailbox. Closed by the caller. */
  client(user: string): Promise<ImapFlow>;
}

/**
 * Requires `skipUnlessInstalled('dovecot')`. Folders named Junk get the special-use flag if `flagsJunk`. `capabilities` replaces
 * those that it announces.
 */
export async function startDovecot({ flagsJunk = true, capabilities = '' } = {}): Promise<Dovecot> {
  const port = await freePort();
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? 'nobody' : userInfo().username;
  const group = isRoot ? 'nogroup' : `#${process.getgid!()}`;
  // Dovecot as root would change to users of its package, so it runs as another user in any case.
  const asUser = isRoot ? ['--reuid=nobody', '--regid=nogroup', '--clear-groups', 'dovecot'] : [];
  const daemon = await startDaemon({
    command: isRoot ? 'setpriv' : 'dovecot',
    ready: /starting up for imap/i,
    args(folder) {
      for (const name of ['run', 'state', 'mail']) {
        mkdirSync(join(folder, name));
        if (isRoot) chownSync(join(folder, name), 65_534, 65_534);
      }
      const file = join(folder, 'dovecot.conf');
      writeFileSync(file, configuration({ folder, port, user, group, flagsJunk, capabilities }));
      return [...asUser, '-F', '-c', file];
    },
  });
  const url = (name: string) =>
    `imap://${encodeURIComponent(name)}:${encodeURIComponent(DOVECOT_PASSWORD)}@127.0.0.1:${port}`;
  return {
    ...daemon,
    port,
    url,
    async client(name) {
      const client = new ImapFlow({
        host: '127.0.0.1',
        port,
        secure: false,
        doSTARTTLS: false,
        logger: false,
        auth: { user: name, pass: DOVECOT_PASSWORD },
        disableAutoIdle: true,
      });
      client.on('error', () => {});
      await client.connect();
      return client;
    },
  };
}

interface Settings {
  folder: string;
  port: number;
  user: string;
  group: string;
  flagsJunk: boolean;
  capabilities: string;
}

const configuration = ({
  folder,
  port,
  user,
  group,
  flagsJunk,
  capabilities,
}: Settings): string => `
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = /dev/stderr
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
mail_location = maildir:${folder}/mail/%u
default_internal_user = ${user}
default_internal_group = ${group}
default_login_user = ${user}
first_valid_uid = 1
mail_max_userip_connections = 20
${capabilities && `protocol imap {\n  imap_capability = ${capabilities}\n}`}
service anvil {
  chroot =
}
service stats {
  chroot =
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
passdb {
  driver = static
  args = password=${DOVECOT_PASSWORD}
}
userdb {
  driver = static
  args = uid=${user} gid=${group.replace('#', '')} home=${folder}/mail/%u
}
namespace inbox {
  inbox = yes
  separator = /
  mailbox Trash {
    special_use = \\Trash
  }
  ${flagsJunk ? 'mailbox Junk {\n    special_use = \\Junk\n  }' : ''}
}
`;
