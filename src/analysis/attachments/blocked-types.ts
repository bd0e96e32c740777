/** The file types of programs and scripts, and who blocks them: the only list of them. */

export type BlockingProvider = 'gmail' | 'microsoft';

const wordSet = (text: string): Set<string> => new Set(text.trim().split(/\s+/));

const BLOCKED: Record<BlockingProvider, Set<string>> = {
  // In archives too: https://support.google.com/mail/answer/6590
  gmail: wordSet(`
    ade adp apk appx appxbundle bat cab chm cmd com cpl diagcab diagcfg diagpkg dll dmg ex ex_ exe hta
    img ins iso isp jar jnlp js jse lib lnk mde mjs msc msi msix msixbundle msp mst nsh pif ps1 scr sct
    shb sys vb vbe vbs vhd vxd wsc wsf wsh xll
  `),
  // "Blocked attachments in Outlook", and the default file filter of Exchange Online.
  microsoft: wordSet(`
    ace ade adp ani apk app appx appref-ms arj asp aspx asx bas bat cab cdxml cer chm cmd cnt com cpl crt
    csh deb der dex diagcab dll elf exe fxp gadget grp hlp hpj hta htc img inf ins iso isp its jar jnlp js
    jse ksh lib library library-ms lnk mad maf mag mam maq mar mas mat mau mav maw mcf mda mdb mde mdt mdw
    mdz msc msh msh1 msh1xml msh2 msh2xml mshxml msi msix msp mst msu ops osd pcd pif pl plg prf prg
    printerexport ps1 ps1xml ps2 ps2xml psc1 psc2 psd1 psdm1 pst py pyc pyo pyw pyz pyzw reg scf scr sct
    settingcontent-ms shb shs sys theme tmp udl url vb vbe vbp vbs vhd vhdx vsmacros vsw vxd webpnp website
    ws wsb wsc wsf wsh xbap xll xnk
  `),
};

/** Programs and scripts that other mail servers and many gateways block. */
const BLOCKED_BY_OTHERS = wordSet(
  'application bash command crx desktop jsx pkg psm1 rgs rpm run sh',
);

export const BLOCKING_PROVIDERS: BlockingProvider[] = ['gmail', 'microsoft'];

/** The providers that publish the extension, in lower case, as blocked. */
export const providersBlocking = (extension: string): BlockingProvider[] =>
  BLOCKING_PROVIDERS.filter((provider) => BLOCKED[provider].has(extension));

export const isBlockedType = (extension: string): boolean =>
  providersBlocking(extension).length > 0 || BLOCKED_BY_OTHERS.has(extension);
