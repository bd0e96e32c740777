/** `key`: creates an API key for the owner and prints it. */

import { ROLES } from '../http/actor.ts';
import { printableJson } from '../lib/log.ts';
import { createApiKey } from '../team/api-keys.ts';
import { findOwner } from '../team/members.ts';
import { defineCommand, EXIT, printMessage, UsageError } from './command.ts';
import { withStore } from './configure.ts';

export const key = defineCommand({
  name: 'key',
  summary: 'Create an API key and print it',
  arguments: [{ name: 'NAME' }],
  options: {
    role: { value: 'ROLE', description: ROLES.join(', '), choices: ROLES, isRequired: true },
    test: { description: 'Create a test-mode key; its tests are kept separate from live ones' },
    json: { description: 'Print the key and its permissions as JSON' },
  },
  async run({ positionals, values }, io) {
    const name = positionals[0]!;
    if (name.length > 200 || /[\u0000-\u001f\u007f]/.test(name))
      throw new UsageError('NAME must have 1 to 200 characters and no control characters');
    const { role } = values;
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
});
