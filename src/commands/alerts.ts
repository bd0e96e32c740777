/** `alerts`: lists the alert rules, and sends a sample through the channels of one. */

import { AUDITED_ALERT } from '../alerts/change-alert.ts';
import { channelName, channelsOf } from '../alerts/channels/index.ts';
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
  summary: 'List the alert rules, or try the channels of one',
  actions: {
    list: { description: 'List the alert rules with their channels' },
    test: {
      arguments: [{ name: 'RULE' }],
      description: 'Send a sample through each channel of a rule, and print what its service says',
    },
  },
  run: ({ action, positionals }, io) =>
    withApp(io, async (app) => {
      const rules = await app.db.selectFrom('alerts').selectAll().orderBy('id').execute();
      if (action === 'test') return tryChannels(io, app, findRule(rules, positionals[0]!));
      for (const rule of rules) {
        const channels = channelsOf(rule).map(channelName).join(', ');
        io.stdout(`${printable(`${rule.id} ${rule.name}: ${channels}`)}\n`);
      }
      return EXIT.success;
    }),
});

function findRule(rules: AlertRow[], text: string): AlertRow {
  const [rule, another] = rules.filter(({ id, name }) => id === text || name === text);
  if (another) throw new UsageError(`Several alert rules are called "${text}": use an ID`);
  if (rule) return rule;
  throw new UsageError(`There is no alert rule "${text}": see the list with "alerts list"`);
}

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
