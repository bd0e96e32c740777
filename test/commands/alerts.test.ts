/** `deliverability alerts test`: a sample through each channel of a rule, beside a running service. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Alert } from '../../src/alerts/schema.ts';
import { alerts } from '../../src/commands/alerts.ts';
import { EXIT, UsageError } from '../../src/commands/command.ts';
import { startTestService } from '../helpers/app.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { databaseEnvironment } from '../helpers/store.ts';
import { runCommand } from './run.ts';

test('alerts test tries each channel of a rule, and prints what its service says', async (t) => {
  const receiver = await startReceiver(t);
  const service = await startTestService(t, { env: receiver.env });
  const env = {
    DELIVERABILITY_DATA_DIR: service.folder,
    ...(await databaseEnvironment(service.folder)),
    ...receiver.env,
  };
  const make = async (name: string, json: object) => {
    const body = { name, condition: 'score_below', ...json } as never;
    const made = await service.call<Alert>('POST', '/v1/alerts', { json: body });
    assert.equal(made.status, 201, made.text);
    return made.body;
  };
  const rule = await make('Low score', {
    channels: ['slack', 'custom'],
    slack_webhook_url: `${receiver.url}/very-secret-slack`,
    custom_url: `${receiver.url}/very-secret-custom`,
  });
  await make('Twice', { channels: ['webhook'] });
  await make('Twice', { channels: ['webhook'] });

  const sent = await runCommand(alerts, ['test', 'Low score'], env);
  assert.deepEqual(sent, {
    code: EXIT.success,
    stdout: 'Slack: sent\nCustom webhook: sent\n',
    stderr: '',
  });
  assert.equal(receiver.requests.length, 2);

  receiver.respond = ({ path }) =>
    path.endsWith('slack') ? { status: 410, body: 'channel_is_archived' } : 200;
  const refused = await runCommand(alerts, ['test', rule.id], env);
  assert.equal(refused.code, EXIT.externalFailure);
  assert.match(
    refused.stdout,
    /^Slack: status 410: the Slack channel is archived; .* \(“channel_is_archived”\)\nCustom webhook: sent\n$/,
  );
  assert.doesNotMatch(refused.stdout + refused.stderr, /very-secret/);

  for (const [args, message] of [
    [
      ['test', 'Nobody'],
      /^No alert rule has that ID or name\. The rules are:\nalt_\w+ Low score\nalt_/,
    ],
    [['test', 'Twice'], /^Several alert rules have that name: use an ID/],
    [['test'], /Missing argument: RULE/],
  ] as const)
    await assert.rejects(runCommand(alerts, [...args], env), (error: unknown) => {
      assert.ok(error instanceof UsageError, String(error));
      assert.match(error.message, message);
      return true;
    });
  const audited = await service.app.db
    .selectFrom('audit_log')
    .select('action')
    .where('action', '=', 'alert.tested')
    .execute();
  assert.equal(audited.length, 2);
});
