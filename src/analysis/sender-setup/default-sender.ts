/** Programs that send with the sender address of their installation, and where they set another one. */

import { ownedDomain } from '../../lib/domain-names.ts';
import { table } from '../../lib/table.ts';
import type { Context } from '../check.ts';
import { isLocalName } from '../dns/names.ts';

/**
 * Columns: the name; patterns of its default address; names of its own header fields, for another default address;
 * where to change the address. In patterns, `*` matches anything. The first match counts.
 */
const PROGRAMS = table`
Jenkins | nobody@nowhere jenkins@localhost | x-jenkins-* | under Manage Jenkins, System, set “System Admin e-mail address”
SonarQube | noreply@nowhere sonarqube@localhost | | under Administration, Configuration, General, Email, set “From address”
Grafana | *@grafana.localhost grafana@localhost | | in grafana.ini, set from_address under [smtp]
GitLab | gitlab@localhost gitlab@example.com gitlab@gitlab.example.com gitlab@*.local* | x-gitlab-* | in /etc/gitlab/gitlab.rb, set gitlab_rails['gitlab_email_from'], and run gitlab-ctl reconfigure
Gitea | gitea@localhost gitea@example.com git@localhost | x-gitea-* | in app.ini, set FROM under [mailer]
Redmine | redmine@example.net redmine@localhost | x-redmine-* | under Administration, Settings, Email notifications, set “Emission email address”
Jira | jira@localhost jira@example.com jira@nowhere* | x-jira-* | under System, Outgoing Mail, set the from address of the SMTP server
Nagios | nagios@* | | in the notification commands (commands.cfg), pass the sender to the mail program with -r
Icinga | icinga@* icinga2@* | x-icinga* | in the notification script, set the sender of the mail command
Zabbix | zabbix@localhost* zabbix@example.com zabbix@company.* zabbix@*.local* zabbix@zabbix* | | under Alerts, Media types, Email, set the field “Email”
Alertmanager | alertmanager@* | | in alertmanager.yml, set smtp_from
Monit | monit@* | | in monitrc, set “set mail-format { from: … }”
Netdata | netdata@* | | in health_alarm_notify.conf, set EMAIL_SENDER
Fail2ban | fail2ban@* | | in jail.local, set sender
Proxmox | root@pam root@pve* root@proxmox* root@pbs* | | under Datacenter, Options, set “Email from address”
TrueNAS | *@truenas.local *@freenas.local | | under System, General Settings, Email, set “From Email”
Nextcloud | nextcloud@* *@nextcloud.local* | | under Administration settings, Basic settings, Email server, set the from address
WordPress | wordpress@* | | with an SMTP plugin, set “From Email”. It also sends through an SMTP account
Magento | owner@example.com sales@example.com custom1@example.com custom2@example.com | | under Stores, Configuration, General, Store Email Addresses, set each sender
Odoo | *@yourcompany.com *@yourcompany.example.com odoobot@example.com *@mycompany.example.com | x-odoo-* | under Settings, Companies, set the email of the company, and its alias domain
PrestaShop | pub@prestashop.com demo@prestashop.com | | under Shop Parameters, Contact, Stores, set “Email address”
Moodle | noreply@localhost noreply@moodle* moodle@localhost | | under Site administration, Server, Email, Outgoing mail configuration, set “No-reply address”
Discourse | noreply@unconfigured.discourse.org noreply@discourse.example.com | x-discourse-* | in the site settings, set notification_email
Mastodon | notifications@localhost mastodon@localhost | | in .env.production, set SMTP_FROM_ADDRESS
Django | webmaster@localhost | | in settings.py, set DEFAULT_FROM_EMAIL and SERVER_EMAIL
Rails | from@example.com | | in ApplicationMailer, set “default from:”
Laravel | hello@example.com | | in .env, set MAIL_FROM_ADDRESS
Keycloak | keycloak@* | | under Realm settings, Email, set “From”
authentik | authentik@localhost authentik@example.com | | set AUTHENTIK_EMAIL__FROM
Airflow | airflow@example.com airflow@localhost | | in airflow.cfg, set smtp_mail_from under [smtp]
Graylog | graylog@example.com graylog@localhost | | in server.conf, set transport_email_from_email
Nexus Repository | nexus@example.org nexus@localhost | | under Administration, System, Email Server, set “From address”
Harbor | sample_admin@mydomain.com | | under Configuration, Email, set “Email From”
Strapi | no-reply@strapi.io | | in config/plugins, set settings.defaultFrom of the email plugin
Directus | no-reply@directus.io no-reply@example.com | | set EMAIL_FROM
Sentry | sentry@localhost | x-sentry-* | in config.yml, set mail.from
Home Assistant | homeassistant@* | | in the SMTP integration, set “sender”
Uptime Kuma | uptimekuma@* uptime-kuma@* | | in the notification, set “From Email”
Drupal | | x-drupal-* | under Configuration, System, Basic site settings, set “Email address”
a PHP program | www-data@* apache@* httpd@* www@* wwwrun@* php@* | x-php-* | in the program’s mail settings, set the sender. The default of PHP is in php.ini: add -f with the address to sendmail_path
a system program, such as cron | root@* cron@* daemon@* nobody@* mailer-daemon@* admin@localhost* | x-cron-* | in the program, set the sender (in a crontab: MAILFROM). In Postfix, set myorigin to your domain
`.map(([name = '', addresses = '', fields = '', setting = '']) => ({
  name,
  addresses: patterns(addresses),
  fields: patterns(fields),
  setting,
}));

function patterns(cell: string): RegExp | null {
  if (cell === '') return null;
  const alternatives = cell.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll(' ', '|');
  return new RegExp(`^(?:${alternatives})$`);
}

/** Addresses and domains that manuals and forms show, and that nobody can use. */
const PLACEHOLDER =
  /^(?:your|you|your[._-]?(?:e?mail|name|address)|name|user|me)@(?:e?mail|domain|company|example|website)\.com$|@(?:[a-z0-9-]+\.)*(?:(?:your|my)[-_]?(?:domain|company|site|website|server|host)\.[a-z]{2,4}|(?:domain|company|example|host|server|site)\.tld|change[-_]?me(?:\.[a-z]+)?)$/;

/** Local parts that manuals show. */
const USUAL =
  /^(?:admin|administrator|no-?reply|webmaster|info|test|user|username|root|hello|support|sender|from|me|you|mail|email|contact|system|alerts?|notifications?|postmaster|sales|owner|john|jane|foo)@/;

/** System accounts, whose mail has the name of the computer unless a sender is set. */
const ACCOUNT =
  /^(?:root|www-data|apache|httpd|www|wwwrun|nginx|nobody|daemon|cron|nagios|icinga|zabbix|monit)@/;

/** Domains of makers of programs, in default addresses. */
const VENDORS = /(?:^|\.)(?:prestashop\.com|unconfigured\.discourse\.org|strapi\.io|directus\.io)$/;

/** Domains in manuals (RFC 2606). */
const EXAMPLES = /(?:^|\.)example\.(?:com|net|org)$/;

export interface DefaultSender {
  address: string;
  /** "Jenkins"; null if nothing shows it. */
  program: string | null;
  /** How to change it, in the middle of a sentence. */
  setting: string;
  /** The domain cannot be the sender's: a local name, or an example domain. */
  isPlaceholder: boolean;
  /** The domain is an example domain. */
  isExample: boolean;
  /** Programs or manuals use this exact address. */
  isKnown: boolean;
}

const SETTING = 'in the settings of the program that sends the message, set the sender address';

/** A fact: the default address in From; null for any other. */
export function defaultSender({ message }: Context): DefaultSender | null {
  const address = message.from[0]?.address.slice(0, 320).toLowerCase() ?? '';
  const domain = address.slice(address.lastIndexOf('@') + 1);
  if (!address.includes('@') || domain === '') return null;
  const known = PROGRAMS.find(({ addresses }) => addresses?.test(address));
  const isPlaceholder =
    // One label is the name of a computer.
    /^[a-z0-9_-]+$/.test(domain) ||
    isLocalName(domain) ||
    EXAMPLES.test(domain) ||
    PLACEHOLDER.test(address) ||
    (known !== undefined && VENDORS.test(domain));
  const isOfHost = ACCOUNT.test(address) && (ownedDomain(domain) ?? domain) !== domain;
  if (!isPlaceholder && !isOfHost && !address.startsWith('wordpress@')) return null;
  const program =
    PROGRAMS.find(({ fields }) => message.headers.some(({ key }) => fields?.test(key))) ?? known;
  return {
    address,
    program: program?.name ?? null,
    setting: program?.setting ?? SETTING,
    isPlaceholder,
    isExample: EXAMPLES.test(domain),
    isKnown: known !== undefined || USUAL.test(address),
  };
}
