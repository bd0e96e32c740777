/**
 * Web hosts whose shared servers send the mail of many customers: of their mailboxes, of scripts on their websites, and
 * mail that they forward. Names of machines that customers rent do not belong here.
 */

import { table } from '../../lib/table.ts';
import type { SendingService } from './service.ts';
import { servicesOf } from './service-table.ts';

export const HOSTING_PROVIDERS: SendingService[] = servicesOf(table`
A2 Hosting | www.a2hosting.com/kb | a2hosting.com a2webhosting.com
ALL-INKL | all-inkl.com/wichtig/anleitungen | kasserver.com mx:kasserver.com | | spf.kasserver.com
alwaysdata | help.alwaysdata.com | alwaysdata.com mx:alwaysdata.com | | _spf.alwaysdata.com | auto
Antagonist | www.antagonist.nl/help | antagonist.nl antagonist.cloud
Arsys | www.arsys.es | servidoresdns.net
Aruba | assistenza.aruba.it | aruba.it !serverdedicati.aruba.it mx:aruba.it | | _spf.aruba.it
Beget | beget.com/en/kb | beget.com mx:beget.com | | beget.com
Blacknight | help.blacknight.com | blacknight.com
Bluehost | www.bluehost.com/help | bluehost.com mail.unifiedlayer.com | | bluehost.com
Combell | www.combell.com/en/help | mailprotect.be combell.com mx:mailprotect.be | | spf.mailprotect.be
cyber_Folks | cyberfolks.pl/pomoc | cyberfolks.pl cfolks.pl
cyon | www.cyon.ch/support | cyon.net cyon.ch | | spf.protection.cyon.net
domainfactory | www.df.eu/de/support | ispgateway.de mx:ispgateway.de
Domeneshop | domene.shop/faq | domeneshop.no mx:domeneshop.no | | _spf.domeneshop.no
DreamHost | help.dreamhost.com | dreamhost.com mx:dreamhost.com | | netblocks.dreamhost.com | auto
easyDNS | kb.easydns.com | easydns.com
easyname | www.easyname.com | easyname.com
Fasthosts | help.fasthosts.co.uk | live-servers.net livemail.co.uk mx:livemail.co.uk | | _spf.livemail.co.uk
Forpsi | kb.forpsi.com | forpsi.com mx:forpsi.com
GreenGeeks | www.greengeeks.com/support | websitehostserver.net
home.pl | pomoc.home.pl | home.pl mx:home.pl | | _spf.home.pl
Host Europe | www.hosteurope.de/faq | webpack.hosteurope.de
HostGator | www.hostgator.com/help | websitewelcome.com hostgator.com | | websitewelcome.com
Hostnet | www.hostnet.nl | hostnet.nl mx:hostnet.nl | | _spf.hostnet.nl
Hostpoint | support.hostpoint.ch | mail.hostpoint.ch mx:mail.hostpoint.ch | | spf.mail.hostpoint.ch
iPage | www.ipage.com/help | eigbox.net yourhostingaccount.com
KingHost | king.host/wiki | kinghost.net mx:kinghost.net | | _spf.kinghost.net
Locaweb | www.locaweb.com.br/ajuda | locaweb.com.br mx:locaweb.com.br | | _spf.locaweb.com.br
Loopia | support.loopia.com | loopia.se mx:loopia.se | | spf.loopia.se
LWS | aide.lws.fr | lws-hosting.com
Mittwald | www.mittwald.de/faq | agenturserver.de mittwaldserver.info
Namecheap web hosting | www.namecheap.com/support/knowledgebase | web-hosting.com jellyfish.systems mx:jellyfish.systems | | spf.web-hosting.com
names.co.uk | www.names.co.uk/support | hosts.co.uk mx:hosts.co.uk | | spf.hosts.co.uk
nazwa.pl | www.nazwa.pl/pomoc | nazwa.pl mx:nazwa.pl
netcup web hosting | helpcenter.netcup.com | yourmailgateway.de webhosting.systems | | _spf.webhosting.systems
Network Solutions | www.networksolutions.com/support | registeredsite.com myregisteredsite.com
o2switch | faq.o2switch.fr | o2switch.net jabatus.fr | | spf.jabatus.fr
Oderland | www.oderland.com/support | oderland.com
one.com | help.one.com | one.com mx:one.com | | _custspf.one.com | try:rsa1 try:rsa2
REG.RU | help.reg.ru | hosting.reg.ru mx:hosting.reg.ru | | _spf.hosting.reg.ru
Register.it | www.register.it/assistenza | register.it mx:register.it | | spf.webapps.net
SAKURA internet | help.sakura.ad.jp | sakura.ne.jp !vs.sakura.ne.jp
Simply.com | www.simply.com/en/support | simply.com unoeuro.com mx:simply.com | | spf.simply.com | try:simplycom1 try:simplycom2 try:unoeuro
SiteGround | www.siteground.com/kb | mailspamprotection.com mx:mailspamprotection.com | | _spf.mailspamprotection.com
StackCP (20i) | docs.20i.com | stackmail.com mx:stackmail.com | | spf.stackmail.com
Timeweb | timeweb.com/ru/docs | timeweb.ru mx:timeweb.ru | | _spf.timeweb.ru
TransIP | www.transip.nl/knowledgebase | transip.email mx:transip.email | | _spf.transip.email | transip-a=_dkim-a.transip.email transip-b=_dkim-b.transip.email transip-c=_dkim-c.transip.email
Uberspace | manual.uberspace.de | uberspace.de mx:uberspace.de | | spf.uberspace.de
united-domains | www.united-domains.de/help | udag.de mx:udag.de
Web Hosting Canada | whc.ca | mywhc.ca
WebSupport | www.websupport.sk/podpora | websupport.sk websupport.se | | _spf.websupport.sk
WEDOS | kb.wedos.com | wedos.net mx:wedos.net | | _spf.we.wedos.net
World4You | www.world4you.com/faq | world4you.com w4ymail.at mx:w4ymail.at | | spf.w4ymail.at
xneelo | xneelo.co.za/help-centre | host-h.net your-server.co.za | | spf.host-h.net
Xserver | www.xserver.ne.jp/manual | xserver.jp | | spf.sender.xserver.jp
`);
