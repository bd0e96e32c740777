/** `serve`: the service, until it is asked to end. */

import { startService } from '../service.ts';
import { findOwner } from '../team/members.ts';
import { VERSION } from '../version.ts';
import { type Command, EXIT, readArguments } from './command.ts';
import { configure } from './configure.ts';

export const serve: Command = {
  name: 'serve',
  usage: '',
  summary: 'Run the service: the listener for test mail, the analysis and the API',
  async run(args, io) {
    readArguments(args, {});
    const { config, log } = configure(io);
    // From here on a signal is heard: one that comes during the start ends it in order, too.
    const { ended } = io;
    const service = await startService(config, VERSION, { log });
    const { http, smtp, app } = service;
    const scheme = config.HTTP_TLS_CERT_FILE ? 'https' : 'http';
    log.info('ready', {
      version: VERSION,
      api: `${scheme}://${config.HTTP_HOST}:${http.port}`,
      smtp: `${config.SMTP_HOST}:${smtp.port}`,
      inbox: config.INBOX_DOMAIN,
      database: config.DATABASE_URL,
    });
    if (!(await findOwner(app.db)))
      log.warn(
        'there is no owner yet: run `deliverability owner you@example.com` to make one and get an API key',
      );
    await ended;
    log.info('stopping');
    await service.stop();
    log.info('stopped');
    return EXIT.done;
  },
};
