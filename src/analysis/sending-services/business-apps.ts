/** Business applications that send mail for their customers: sales, support, shops. */

import { table } from '../../lib/table.ts';
import {
  BY_RETURN_PATH,
  cnames,
  DKIM_IN_CONSOLE,
  guide,
  include,
  type SendingService,
} from './service.ts';
import { servicesOf } from './service-table.ts';

export const BUSINESS_APPS: SendingService[] = [
  {
    id: 'salesforce',
    name: 'Salesforce',
    isShared: true,
    marks: {
      hosts: ['mta.salesforce.com'],
      mailFrom: ['bnc.salesforce.com'],
      fields: ['x-sfdc-lk', 'x-sfdc-user', 'x-sfdc-entityid'],
    },
    spf: include('_spf.salesforce.com'),
    dkim: cnames(
      ['<selector>', '<selector>.<account>.custdkim.salesforce.com'],
      ['<alternate>', '<alternate>.<account>.custdkim.salesforce.com'],
    ),
    returnPath: null,
    guides: guide('https://help.salesforce.com/'),
  },
  {
    id: 'intercom',
    name: 'Intercom',
    isShared: true,
    marks: {
      hosts: [],
      signs: ['intercom-mail.com', 'intercom.io'],
      mailFrom: ['intercom-mail.com', 'intercom.io'],
      fields: ['x-intercom-bin'],
    },
    spf: BY_RETURN_PATH,
    dkim: cnames(['intercom', '<account>.dkim.intercom.io']),
    returnPath: 'a custom return path, a CNAME record to Intercom',
    guides: guide('https://www.intercom.com/help/en/'),
  },
  {
    id: 'zendesk',
    name: 'Zendesk',
    isShared: true,
    marks: {
      hosts: ['zdsys.com', 'zendesk.com'],
      signs: ['zendesk.com'],
      mailFrom: ['zendesk.com'],
      fields: ['x-zendesk-from-account-id', 'x-zendesk-email-id'],
    },
    spf: include('mail.zendesk.com'),
    dkim: cnames(
      ['zendesk1', 'zendesk1._domainkey.zendesk.com'],
      ['zendesk2', 'zendesk2._domainkey.zendesk.com'],
    ),
    returnPath: null,
    guides: guide('https://support.zendesk.com/hc/en-us'),
  },
  {
    id: 'freshdesk',
    name: 'Freshdesk',
    isShared: true,
    marks: {
      hosts: ['freshemail.io', 'freshdesk.com'],
      signs: ['freshemail.io', 'freshdesk.com'],
      mailFrom: ['freshemail.io', 'freshdesk.com'],
    },
    spf: include('email.freshdesk.com'),
    dkim: DKIM_IN_CONSOLE,
    returnPath: null,
    guides: guide('https://support.freshdesk.com/'),
  },
  {
    id: 'help_scout',
    name: 'Help Scout',
    isShared: true,
    marks: {
      hosts: ['helpscoutemail.com', 'helpscout.net'],
      signs: ['helpscout.net'],
      mailFrom: ['helpscout.net', 'helpscoutemail.com'],
      fields: ['x-helpscout-convo', 'x-helpscout-*'],
    },
    spf: include('helpscoutemail.com'),
    dkim: cnames(
      ['strong1', 'strong1._domainkey.helpscout.net'],
      ['strong2', 'strong2._domainkey.helpscout.net'],
    ),
    returnPath: null,
    guides: guide('https://docs.helpscout.com/'),
  },
  {
    id: 'shopify',
    name: 'Shopify',
    isShared: true,
    marks: {
      hosts: ['shopifyemail.com'],
      signs: ['shopifyemail.com'],
      mailFrom: ['shopifyemail.com'],
      fields: ['x-shopify-*'],
    },
    spf: BY_RETURN_PATH,
    dkim: DKIM_IN_CONSOLE,
    returnPath: 'domain authentication, which adds CNAME records',
    guides: guide('https://help.shopify.com/'),
    replacesFrom:
      'https://help.shopify.com/en/manual/intro-to-shopify/initial-setup/email-rewrites',
  },
  ...servicesOf(table`
Atlassian Cloud | support.atlassian.com | atlassian.net | = | _spf.atlassian.net
BigCommerce | support.bigcommerce.com | bigcommerce.net | =
Brightspace | community.d2l.com | brightspace.com | =
CDK Global | www.cdkglobal.com | cdkglobal.com
Cornerstone OnDemand | www.cornerstoneondemand.com | csod.com | =
Coupa | compass.coupa.com | coupahost.com | =
Cvent | support.cvent.com | cvent-planner.com cvtsv.com | =
Docebo | help.docebo.com | docebosaas.com | = | docebosaas.com
Docusign | support.docusign.com | docusign.net | =
eJournalPress | www.ejournalpress.com | ejpress.com | =
Entrata | www.entrata.com | entrata.com
Esker | www.esker.com | eskerondemand.com | =
EventsAir | www.eventsair.com | eventsairmail.com | =
FormAssembly | help.formassembly.com | formassembly.com
FranConnect | www.franconnect.com | franchisemail.net | =
Front | help.front.com | | frontapp.com front.com
Gorgias | docs.gorgias.com | | gorgias.com gorgias.io
Greenhouse | support.greenhouse.io | | greenhouse-mail.io | mg-spf.greenhouse.io
HighRadius | www.highradius.com | highradiuscorp.com | =
Highspot | help.highspot.com | highspot.com
Infor CloudSuite | docs.infor.com | inforcloudsuite.com gtnexus.com | =
KnowBe4 | support.knowbe4.com | knowbe4.com | | _spf.psm.knowbe4.com
Medallia | docs.medallia.com | medallia.com
Odoo | www.odoo.com/documentation | odoo.com | | _spf.odoo.com | odoo=odoo._domainkey.odoo.com
Okta | help.okta.com | okta.com
Oracle NetSuite | docs.oracle.com/en/cloud/saas/netsuite | netsuite.com | | mailsenders.netsuite.com
Paycom | www.paycom.com | paycomonline.com | =
Pipedrive | support.pipedrive.com/article/campaigns-email-domain-authentication | | pipedrive.com pipedrivemail.com
Podia | help.podia.com | | podia.com
Qualtrics | www.qualtrics.com/support | qemailserver.com | = | _spf.qualtrics.com
RainFocus | www.rainfocus.com | rainfocus.com
Salesforce Commerce Cloud | help.salesforce.com | demandware.net
SAP Concur | www.concur.com | concursolutions.com | =
SAP SuccessFactors | help.sap.com/docs/SAP_SUCCESSFACTORS_PLATFORM | successfactors.com sapsf.com | =
ServiceNow | www.servicenow.com/docs | service-now.com | =
Showpad | help.showpad.com | showpad.com
SolarWinds Service Desk | documentation.solarwinds.com | samanage.com | =
Solutionreach | www.solutionreach.com | communitect.com | =
Stova | stova.io | etouches.com | =
SysAid | documentation.sysaid.com | sysaid.com sysaidit.com
Teachable | support.teachable.com | | teachable.com
Thinkific | support.thinkific.com | | thinkific.com
UKG Pro | www.ukg.com | ultipro.com | = | _spf.ultipro.com
Workable | help.workable.com | workablemail.com | =
Workday | doc.workday.com | myworkday.com | =
Yardi | www.yardi.com | yardi.com
`),
];
