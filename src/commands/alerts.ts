/** `alerts test`: sends a sample through each channel of an alert rule. */

import { AUDITED_ALERT } from '../alerts/change-alert.ts';
import { channelName } from '../alerts/channels/index.ts';
import { notificationStates } from '../alerts/queries.ts';
import { postSample, sendSample } from '../alerts/sample.ts';
import type { App } from '../app.ts';
import { printable } from '../lib/log.ts';
import { transact } from '../store/open.ts';
import type { AlertRow } from '../store/tables.generated.ts';
import { audit } from '../team/audit.ts';
import { defineCommand, EXIT, type Io, UsageError } from './command.ts';
import { authorOf, withApp } from './dns/dns.ts';

export const alerts = defineCommand({
  name: 'alerts',
  summary: 'Try the channels of an alert rule',
  actions: {
    test: {
      arguments: [{ name: 'RULE' }],
      description: 'Send a sample through each channel of a rule, and print what its service says',
    },
  },
  run: ({ positionals }, io) =>
    withApp(io, async (app) => {
      const rules = await app.db.selectFrom('alerts').selectAll().orderBy('id').execute();
      const found = rules.filter((rule) => positionals.includes(rule.id));
      const [rule, another] =
        found.length > 0 ? found : rules.filter(({ name }) => positionals.includes(name));
      if (rule && !another) return tryChannels(io, app, rule);
      const known = rules.map(({ id, name }) => printable(`${id} ${name}`)).join('\n');
      throw new UsageError(
        `${rule ? 'Several alert rules have that name: use an ID' : 'No alert rule has that ID or name'}. The rules are:\n${known}`,
      );
    }),
});

async function tryChannels(io: Io, app: App, rule: AlertRow): Promise<number> {
  const ids = await transact(app.db, async (tx) => {
    await audit(tx, authorOf(app), AUDITED_ALERT, 'alert.tested', rule.id);
    return sendSample(tx, app, rule);
  });
  await postSample(app, rule, ids);
  const states = await notificationStates(app.db, { ids });
  for (const { channel, recipient, status, error } of states) {
    const to = recipient === null ? '' : ` to ${recipient}`;
    const result =
      error ?? (status === 'queued' ? 'queued for the running service to send' : status);
    io.stdout(`${printable(`${channelName(channel)}${to}: ${result}`)}\n`);
  }
  const isSent = states.every(({ status }) => status === 'sent' || status === 'queued');
  return isSent ? EXIT.success : EXIT.externalFailure;
}
