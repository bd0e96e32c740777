/** `serve`: runs the service until a signal stops it. */

import { databaseLabel } from '../lib/database-url.ts';
import { allowThreadLimits, limitHeapGrowth } from '../lib/memory-settings.ts';
import { startService } from '../service.ts';
import { findOwner } from '../team/members.ts';
import { VERSION } from '../version.ts';
import { defineCommand, EXIT } from './command.ts';
import { configure, prepareDataFolder } from './configure.ts';

export const serve = defineCommand({
  name: 'serve',
  summary: 'Run the service: SMTP listener, analysis, API and web pages',
  variables: ['DATA_DIR', 'INBOX_DOMAIN', 'BASE_URL', 'HTTP_PORT', 'SMTP_HOST', 'SMTP_PORT'],
  async run(_input, io) {
    const { config, log } = configure(io);
    prepareDataFolder(config, io);
    // Before the service starts threads.
    allowThreadLimits(io.env);
    // Installs the signal handlers first, so that a signal during startup also shuts down cleanly.
    const { interrupted, nodeVersion, program } = io;
    const service = await startService(config, VERSION, { log, nodeVersion, program });
    const { http, smtp, app } = service;
    const scheme = config.HTTP_TLS_CERT_FILE ? 'https' : 'http';
    log.info('ready', {
      version: VERSION,
      api: `${scheme}://${config.HTTP_HOST}:${http.port}`,
      smtp: `${config.SMTP_HOST}:${smtp.port}`,
      inbox: config.INBOX_DOMAIN,
      database: databaseLabel(config.DATABASE_URL),
    });
    limitHeapGrowth();
    if (!(await findOwner(app.db)))
      log.warn(
        `no owner yet: run \`${program} owner you@example.com\` to create one and get an API key`,
      );
    await interrupted;
    log.info('stopping');
    await service.stop();
    log.info('stopped');
    return EXIT.success;
  },
});
