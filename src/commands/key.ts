/** `key`: creates an API key for the owner and prints it. */

import { ROLES, type Role } from '../http/actor.ts';
import { printableJson } from '../lib/log.ts';
import { createApiKey } from '../team/api-keys.ts';
import { findOwner } from '../team/members.ts';
import { type Command, EXIT, printMessage, readArguments, UsageError } from './command.ts';
import { withStore } from './configure.ts';

export const key: Command = {
  name: 'key',
  usage: 'NAME --role ROLE [--test] [--json]',
  summary: 'Create an API key and print it',
  options: [
    `--role ROLE   ${ROLES.join(', ')}`,
    '--test        Create a test-mode key; its tests are kept separate from live ones',
    '--json        Print the key and its permissions as JSON',
  ],
  async run(args, io) {
    const { positionals, values } = readArguments(
      args,
      { role: { type: 'string' }, test: { type: 'boolean' }, json: { type: 'boolean' } },
      { min: 1, max: 1, argumentName: 'NAME' },
    );
    const name = positionals[0]!;
    if (name.length > 200 || /[\u0000-\u001f\u007f]/.test(name))
      throw new UsageError('NAME must have 1 to 200 characters and no control characters');
    const role = values.role as Role | undefined;
    if (!role || !ROLES.includes(role))
      throw new UsageError(`--role must be one of ${ROLES.join(', ')}`);
    return withStore(io, 'stop', async (team) => {
      const member = await findOwner(team.db);
      if (!member) {
        printMessage(io, `There is no owner yet. Run: ${io.program} owner you@example.com`);
        return EXIT.usage;
      }
      const newKey = await createApiKey(team, {
        memberId: member.id,
        name,
        role,
        livemode: !values.test,
      });
      const { id, prefix } = newKey.row;
      if (values.json)
        io.stdout(
          `${printableJson({ id, name, role, prefix, livemode: !values.test, key: newKey.key })}\n`,
        );
      else {
        io.stderr('This API key is shown only once:\n');
        io.stdout(`${newKey.key}\n`);
      }
      return EXIT.success;
    });
  },
};
