/** `healthcheck`: asks the service on this machine whether it is well, for containers without curl. */

import { readConfig } from '../config/config.ts';
import { errorMessage } from '../lib/errors.ts';
import { printable } from '../lib/log.ts';
import { defineCommand, EXIT, printMessage } from './command.ts';
import { getFrom, urlOf } from './local-service.ts';

export const healthcheck = defineCommand({
  name: 'healthcheck',
  summary: 'Exit with 0 if the service on this machine responds',
  options: { ready: { description: 'Also require that it can do its work (GET /readyz)' } },
  async run({ values }, io) {
    const { config } = readConfig(io.env);
    const url = urlOf(config, values.ready ? '/readyz' : '/healthz');
    try {
      const { status } = await getFrom(url);
      if (status === 200) return EXIT.success;
      printMessage(io, `${url} responded with ${status}.`);
    } catch (error) {
      printMessage(io, `${url} did not respond: ${printable(errorMessage(error))}.`);
    }
    return EXIT.negative;
  },
});
