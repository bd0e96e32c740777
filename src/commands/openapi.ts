/** `openapi`: prints the OpenAPI document. */

import { readConfig } from '../config/config.ts';
import { DOCUMENTED_API } from '../features.ts';
import { describeApi } from '../health/describe-api.ts';
import { printableJson } from '../lib/log.ts';
import { VERSION } from '../version.ts';
import { defineCommand, EXIT } from './command.ts';

export const openapi = defineCommand({
  name: 'openapi',
  summary: 'Print the OpenAPI document of the API',
  async run(_input, io) {
    const { config } = readConfig(io.env);
    io.stdout(`${printableJson(describeApi(DOCUMENTED_API, config, VERSION), 2)}\n`);
    return EXIT.success;
  },
});
