/** `healthcheck`: asks the service on this machine whether it is well, for containers without curl. */

import { readConfig } from '../config/config.ts';
import { errorMessage } from '../lib/errors.ts';
import { printable } from '../lib/log.ts';
import { type Command, EXIT, printMessage, readArguments } from './command.ts';
import { getFrom, urlOf } from './local-service.ts';

export const healthcheck: Command = {
  name: 'healthcheck',
  usage: '[--ready]',
  summary: 'Exit with 0 if the service on this machine responds',
  options: ['--ready   Also require that it can do its work (GET /readyz)'],
  async run(args, io) {
    const { values } = readArguments(args, { ready: { type: 'boolean' } });
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
};
