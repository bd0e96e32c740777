/** `openapi`: prints the OpenAPI document. */

import { readConfig } from '../config/config.ts';
import { DOCUMENTED_API } from '../features.ts';
import { describeApi } from '../health/describe-api.ts';
import { printableJson } from '../lib/log.ts';
import { VERSION } from '../version.ts';
import { type Command, EXIT, readArguments } from './command.ts';

export const openapi: Command = {
  name: 'openapi',
  usage: '',
  summary: 'Print the OpenAPI document of the API',
  async run(args, io) {
    readArguments(args, {});
    const { config } = readConfig(io.env);
    io.stdout(`${printableJson(describeApi(DOCUMENTED_API, config, VERSION), 2)}\n`);
    return EXIT.success;
  },
};
