/** `openapi`: prints the OpenAPI document. */

import { readConfig } from '../config/config.ts';
import { DOCUMENTED_ROUTES } from '../features.ts';
import { describeApi } from '../health/routes.ts';
import { VERSION } from '../version.ts';
import { type Command, EXIT, readArguments } from './command.ts';

export const openapi: Command = {
  name: 'openapi',
  usage: '',
  summary: 'Print the OpenAPI document of the API',
  async run(args, io) {
    readArguments(args, {});
    const { config } = readConfig(io.env);
    io.stdout(`${JSON.stringify(describeApi(DOCUMENTED_ROUTES, config, VERSION), null, 2)}\n`);
    return EXIT.success;
  },
};
