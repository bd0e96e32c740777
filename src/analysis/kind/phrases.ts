/**
 * The phrases by which a text shows its kind, by language. Compared without case and accents. Symbols
 * count as spaces, a final `*` matches any word ending, and `…` stands for up to a few words.
 */

import { parsePhrases } from './phrase-search.ts';

// Signs of marketing.

export const OFFERS = parsePhrases(
  'black friday, cyber monday, singles day, prime day, boxing day sale',
  'flash sale, summer sale, winter sale, spring sale, autumn sale, big sale, mega sale, final sale',
  'clearance, sale ends, sale starts, sale is on, sale now on, now on sale, sitewide, storewide',
  'half price, buy one get one, special offer*, exclusive offer*, limited time offer, limited offer',
  'best deals, top deals, deals of the, deal of the, offer ends, offer expires, off everything',
  'price drop, prices slashed, today only, hours only, weekend only, ends tonight, last chance to save',
  'last chance to get, while stocks last, while supplies last, free gift, new arrivals, new collection',
  'save up to, save big, discount on your next, off your next, off your first, off selected, off all',
  "don't miss out, early access, just dropped, free shipping on all",
  'rabattaktion, sonderangebot*, schnäppchen*, ausverkauf, schlussverkauf, sommerschlussverkauf',
  'winterschlussverkauf, nur heute, nur für kurze zeit, nur noch heute, solange der vorrat reicht',
  'solange vorrat reicht, jetzt sparen, sparen sie, spare bis zu, angebote der woche, rabatt auf',
  'angebot der woche, exklusives angebot, exklusive angebote, letzte chance, gratis versand',
  'neue kollektion, neuheiten, aktionspreis*, tiefpreis*, zum halben preis, gewinnspiel',
  'soldes, vente flash, ventes privées, vente privée, offre spéciale, offre exclusive, remise de',
  'offres exclusives, offre limitée, dernière chance, derniers jours, dernière démarque, bons plans',
  'promo*, prix cassés, livraison offerte, nouvelle collection, économisez, réduction de',
  "jusqu'à épuisement, aujourd'hui seulement, sur tout le site, prix réduits",
  'rebajas, oferta especial, oferta exclusiva, ofertas exclusivas, ofertas de la semana, solo hoy',
  'oferta limitada, última oportunidad, últimos días, solo por hoy, descuento en, de descuento',
  'descuentos de hasta, ahorra hasta, nueva colección, hasta agotar existencias, liquidación',
  'saldi, offerta speciale, offerta esclusiva, offerte esclusive, offerta limitata, ultima occasione',
  'offerte della settimana, ultimi giorni, solo oggi, solo per oggi, sconto del, sconti fino',
  'di sconto, risparmia, nuova collezione, approfitta, fino a esaurimento, svendita',
  'uitverkoop, aanbieding*, actie van de week, laatste kans, alleen vandaag, korting op, bespaar',
  'nu met korting, nieuwe collectie, zolang de voorraad strekt, op is op, dagdeal, weekenddeal',
  'promoção, promoções, liquidação, última chance, última oportunidade, últimos dias, só hoje',
  'apenas hoje, somente hoje, desconto em, de desconto, descontos de até, economize, poupe até',
  'nova coleção, aproveite, saldos, enquanto durarem os estoques',
  'promocja, promocje, wyprzedaż, okazja, okazje, oferta specjalna, specjalna oferta, ostatnia szansa',
  'ostatnie dni, tylko dziś, tylko dzisiaj, rabat na, rabatu na, zniżki do, obniżki, oszczędź',
  'nowa kolekcja, do wyczerpania zapasów, taniej',
  'セール, 割引, 半額, 送料無料, 期間限定, 特別価格, お買い得, ポイント還元',
  '优惠, 優惠, 促销, 促銷, 特价, 特價, 折扣, 限时, 限時, 抢购, 搶購, 满减, 立减, 秒杀, 双11, 双十一',
  'rea, slutrea, erbjudande, udsalg, tilbud, salg, erbjudanden, ale, alennus, výprodej, sleva na, akce',
  'indirim, kampanya, fırsat, распродажа, скидка, скидки, акция, تخفيضات, خصم, عرض خاص, 할인, 세일, 특가',
  'rabatt på, halva priset, till halva priset, fyndpriser, bara i dag, sista chansen, nya kollektionen',
  'reducere*, reduceri de, ofertă specială, ultima șansă, doar astăzi, noua colecție, lichidare de stoc',
  'sleva, slevy, slevou, levněji, jen dnes, poslední šance, nová kolekce, za polovinu, doprodej',
  'kedvezmény*, akció*, leárazás*, csak ma, utolsó esély, új kollekció, féláron, kiárusítás',
  'έκπτωση*, εκπτώσεις, προσφορά*, προσφορές, μόνο σήμερα, τελευταία ευκαιρία, νέα συλλογή, μισή τιμή',
  'скидкой, со скидкой, только сегодня, последний шанс, новая коллекция, выгодно, спецпредложение',
  'знижка, знижки, знижкою, розпродаж, акція, тільки сьогодні, лише сьогодні, останній шанс',
  'нова колекція',
  'indirim*, fırsatı kaçırma, son şans, sadece bugün, yeni koleksiyon, yarı fiyatına, kampanyası',
  '할인합니다, 반값, 오늘만, 마지막 기회, 무료 배송, 신상품, 기획전',
  'छूट, की छूट, सेल, ऑफर, केवल आज, आखिरी मौका, नया कलेक्शन, आधी कीमत',
  'ลดราคา, ส่วนลด, โปรโมชั่น, เซลล์, วันนี้เท่านั้น, โอกาสสุดท้าย, คอลเลกชันใหม่, ราคาพิเศษ',
  'giảm giá, khuyến mãi, ưu đãi, chỉ hôm nay, cơ hội cuối, bộ sưu tập mới, nửa giá, xả hàng',
  'diskon, promo, penawaran khusus, obral, hanya hari ini, kesempatan terakhir, koleksi baru',
  'setengah harga',
  'بخصم, خصومات, عروض, العرض الأخير, لليوم فقط, الفرصة الأخيرة, مجموعة جديدة, نصف السعر',
  'تخفیف, حراج, فروش ویژه, پیشنهاد ویژه, فقط امروز, آخرین فرصت, مجموعه جدید, نصف قیمت',
);

/** Words for a discount, next to a percentage. */
export const DISCOUNT_WORDS = parsePhrases(
  'off, discount*, save, sale, reduced by, reduction*, rabatt*, nachlass, sparen, spare, günstiger, reduziert*, auf alles',
  'remise*, réduction*, soldes, promo*, économisez, descuento*, dto, ahorra*, rebaja*',
  'sconto, sconti, risparmi*, korting*, bespaar, desconto*, economize, rabat*, zniżk*, obniżk*',
  'taniej, promocj*, オフ, 割引, 引き, 优惠, 折, 降, rabat, rea, tilbud, sleva, slevu, indirim*',
  'скидк*, خصم, تخفيضات, 할인, 세일',
  'reducer*, slev*, kedvezmény*, εκπτωσ*, знижк*, छूट, ลด, giam, giảm, diskon, تخفیف, بخصم, خصم',
);

export const CALLS_TO_ACTION = parsePhrases(
  'shop now, buy now, order now, shop the, shop all, shop sale, get the deal, grab the deal, redeem',
  'claim your, claim offer, get offer, start shopping, add to cart, add to bag, explore the collection',
  'discover the collection, upgrade now, book a demo, request a demo, register now, save your seat',
  'save my seat, reserve your spot, reserve my spot, try it free, start free trial, pre order',
  'see the offers, view offers, view deals, see deals, to the shop, visit the shop, visit our store',
  'return to cart, complete your purchase, finish your order, back to your cart',
  'jetzt kaufen, jetzt shoppen, jetzt bestellen, jetzt einkaufen, zum shop, zum angebot',
  'zu den angeboten, jetzt entdecken, angebot sichern, jetzt sichern, in den warenkorb, zum warenkorb',
  'jetzt stöbern, mehr entdecken, jetzt zugreifen, jetzt upgraden, platz sichern',
  "j'achète, acheter, j'en profite, profiter de l'offre, je profite, découvrir la collection",
  'commander maintenant, je commande, voir les offres, ajouter au panier, en profiter, je découvre',
  "réserver ma place, je m'inscris, voir mon panier, découvrir l'offre, je craque",
  'comprar ahora, compra ahora, comprar ya, ver ofertas, ver oferta, añadir al carrito',
  'descubre la colección, ver la colección, aprovechar, ir a la tienda, lo quiero, reserva tu plaza',
  'acquista ora, compra ora, acquista, scopri le offerte, scopri la collezione, vai allo shop',
  'aggiungi al carrello, vai al carrello, approfittane, ordina ora, iscriviti ora',
  'shop nu, koop nu, bestel nu, nu kopen, nu bestellen, naar de shop, naar de winkel',
  'bekijk de aanbieding*, bekijk aanbiedingen, in winkelwagen, profiteer nu, shop de sale',
  'compre agora, comprar agora, ver oferta, aproveitar, aproveite agora, adicionar ao carrinho',
  'ir para a loja, garanta o seu, eu quero',
  'kup teraz, kupuję, zamów teraz, zobacz ofertę, sprawdź ofertę, do sklepu, dodaj do koszyka',
  'odbierz rabat, skorzystaj',
  '今すぐ購入, 購入する, 今すぐチェック, お買い物, ショップへ, カートに入れる, セール会場',
  '立即购买, 立即購買, 马上抢购, 立即抢购, 去购物, 加入购物车, 查看优惠, 立即领取',
  'köp nu, handla nu, køb nu, kjøp nå, osta nyt, koupit, do obchodu, hemen al, купить, تسوق الآن, 구매하기',
  'handla nu, till varukorgen, anmäl dig, beställ nu, cumpără acum, comandă acum, mergi la coș',
  'înscrie-te',
  'koupit nyní, zpět do košíku, přihlásit se na, objednat nyní, vásárlás most, vissza a kosárhoz',
  'megveszem',
  'αγοράστε τώρα, στο καλάθι, αγορά τώρα, вернуться в корзину, в магазин, заказать сейчас, придбати',
  'купити',
  'повернутися до кошика, hemen satın al, sepete dön, alışverişe başla, 지금 구매, 장바구니로 가기, 쇼핑하기',
  'अभी खरीदें, कार्ट पर जाएं, ซื้อเลย, สั่งซื้อเลย, กลับไปที่ตะกร้า, mua ngay, quay lại giỏ hàng',
  'beli sekarang',
  'kembali ke keranjang, belanja sekarang, اشتر الآن, العودة إلى السلة, خرید کنید, همین حالا بخرید',
  'بازگشت به سبد خرید',
);

export const APPEALS = parsePhrases(
  'donate now, donate today, make a donation, your donation, jetzt spenden, ihre spende, faire un don',
  'je fais un don, votre don, haz una donación, dona ahora, tu donación, dona ora, la tua donazione',
  'doneer nu, jouw donatie, uw gift, doe agora, sua doação, wesprzyj, przekaż darowiznę, 寄付, 捐款',
  'skänk en gåva, donează acum, přispějte, adományozz, κάντε δωρεά, пожертвовать, пожертвуйте',
  'підтримайте нас, bağış yap, 기부하기, दान करें, บริจาค, quyên góp, donasi sekarang, تبرع الآن, کمک مالی',
);

export const PROMO_CODES = parsePhrases(
  'promo code, discount code, coupon code, voucher code, use code save, gift code, coupon',
  'gutscheincode, rabattcode, aktionscode, gutschein, code promo, code de réduction, bon de réduction',
  'código promocional, código de descuento, cupón, codice sconto, codice promozionale, buono sconto',
  'kortingscode, actiecode, cupom, código de desconto, kod rabatowy, kod promocyjny',
  'クーポン, 优惠码, 優惠碼, 优惠券, 優惠券',
  'rabattkod, cod promoțional, cod de reducere, slevový kód, kuponkód, κωδικός έκπτωσης, промокод',
  'indirim kodu, kupon kodu, 쿠폰, कूपन, कूपन कोड, คูปอง, โค้ดส่วนลด, mã giảm giá, kode promo, كود الخصم',
  'کد تخفیف',
);

export const CARTS = parsePhrases(
  'left in your cart, left something in your cart, left something behind, items in your cart',
  'forgot something, still in your basket, still in your cart, your cart is waiting, your basket is',
  'warenkorb wartet, noch im warenkorb, im warenkorb vergessen, etwas vergessen',
  'panier vous attend, dans votre panier, oublié quelque chose, carrito te espera, en tu carrito',
  'olvidado algo, carrello ti aspetta, nel tuo carrello, dimenticato qualcosa',
  'in je winkelwagen, in je winkelmand, iets vergeten, no seu carrinho, esqueceu algo, w koszyku',
  'カートに商品, 购物车里, 购物车中',
  'i varukorgen, i din varukorg, în coșul tău, în coș, v košíku, kosárban, kosaradban, στο καλάθι',
  'в корзине, в вашей корзине, у кошику, sepetinizde, sepetinde, 장바구니에, कार्ट में, ในตะกร้า',
  'trong giỏ hàng',
  'di keranjang, keranjang belanja, سلة التسوق, سبد خرید, no carrinho, カートにあります, カートにござい',
);

export const ANNOUNCEMENTS = parsePhrases(
  "webinar*, live demo, join us for, you're invited, introducing, meet the new, announcing, what's new",
  'product update*, now available, new feature*, newsletter*, weekly digest, monthly roundup',
  'call for papers, call for submissions, call for abstracts, invite you to submit, submit your next, submit your manuscript',
  'appel à communications, appel à contributions, appel à articles, convocatoria de artículos, chamada de trabalhos',
  'chamada para artigos, laden sie ein einen beitrag, reichen sie ihren beitrag, invito a presentare, 征稿, 論文募集, 논문 모집',
  'rundbrief, wir stellen vor, jetzt neu, neue funktion*, einladung zum, melden sie sich an',
  "webinaire*, lettre d'information, infolettre, découvrez notre, nous vous invitons, nouveautés",
  'seminario web, boletín, novedades, te presentamos, te invitamos, presentamos, inscríbete',
  'ti presentiamo, ti invitiamo, presentiamo, novità, nieuwsbrief, maak kennis met, uitnodiging voor',
  'novidades, apresentamos, conheça o novo, convite para, boletim',
  'nowości, przedstawiamy, zapraszamy na, webinarium',
  'メルマガ, ニュースレター, 新商品, 新発売, ウェビナー, 新品, 上新, 邀请您参加, 研讨会',
  'webbinarium, inbjudan till, nyhetsbrev*, te invităm la, buletin informativ, noutăți, webinář',
  'pozvánka na',
  'novinky, zpravodaj, webinár*, meghívó*, hírlevél, újdonság*, πρόσκληση σε, ενημερωτικό δελτίο',
  'νέα προϊόντα',
  'вебинар, приглашаем на, новинки, рассылка, дайджест, вебінар, запрошуємо на, web semineri*',
  'davetlisiniz',
  'bülten, yeni ürün*, 웨비나, 뉴스레터, 소식지, 신제품, 초대합니다, वेबिनार, न्यूज़लेटर, नया उत्पाद',
  'สัมมนาออนไลน์, ขอเชิญ, จดหมายข่าว, สินค้าใหม่, hội thảo, bản tin, mời bạn tham dự, sản phẩm mới',
  'undangan webinar, webinar gratis, buletin, produk baru, ندوة, نشرة, ندعوك إلى, منتج جديد, وبینار',
  'خبرنامه',
  'دعوت به, محصول جدید, 通讯, 研讨会, ウェビナーのご案内',
);

export const SURVEYS = parsePhrases(
  'survey, share your feedback, how likely are you to recommend, tell us what you think',
  'rate your experience, rate your purchase, review your purchase, leave a review, how did we do',
  'how are we doing, wie zufrieden, êtes vous satisfait, hoe tevreden, qué te ha parecido, jak oceniasz',
  'umfrage, ihre meinung, deine meinung, bewerten sie, enquête, sondage, votre avis, donnez votre avis',
  'encuesta, tu opinión, sondaggio, la tua opinione, jouw mening, uw mening',
  'pesquisa de satisfação, sua opinião, ankieta, ankietę, twoja opinia, アンケート, 问卷',
  'vad tycker du, părerea ta, váš názor, véleményed, η γνώμη σας, ваше мнение, пройдите опрос',
  'ваша думка, fikriniz, anketimiz, 설문, सर्वेक्षण, แบบสอบถาม, khảo sát, survei, استبيان, رأيك, نظرسنجی',
);

export const OUTREACH = parsePhrases(
  'quick question, i came across, reaching out, hop on a call, quick call, 15 minutes, 15 minute',
  '20 minutes, book a call, worth a chat, worth a conversation, circling back, following up on my',
  'bumping this, would you be open to, are you the right person, we help companies, we help teams',
  "companies like yours, teams like yours, if you'd rather not hear, if this isn't relevant",
  'not interested, grow your, your competitors, i noticed that, i noticed you, open to a quick',
  'kurze frage, kurzes gespräch, 15 minuten, unternehmen wie ihres, wir helfen unternehmen',
  'petite question, me permets de vous contacter, quelques minutes, nous aidons les entreprises',
  'pregunta rápida, llamada de 15, ayudamos a empresas, una domanda veloce, chiamata di 15',
  'aiutiamo aziende, korte vraag, even sparren, wij helpen bedrijven, pergunta rápida',
  'conversa de 15, ajudamos empresas, krótkie pytanie, 15 minut, pomagamy firmom',
);

export const BROWSER_LINKS = parsePhrases(
  'view in browser, view this email in, view it in your browser, view online, view this email online',
  'read online, trouble viewing this, web version, online version, webversion, onlineversion',
  'im browser anzeigen, im browser ansehen, im browser öffnen, online ansehen',
  'voir dans le navigateur, version en ligne, dans votre navigateur, ver en el navegador',
  'ver en navegador, versión web, ver online, visualizza nel browser, versione web, versione online',
  'bekijk in browser, bekijk online, bekijk deze e-mail in, webversie, online versie',
  'ver no navegador, versão web, zobacz w przeglądarce, wersja online, otwórz w przeglądarce',
  'ブラウザで, 在浏览器中, 在线查看',
  'visa i webbläsaren, vezi în browser, zobrazit v prohlížeči, megnyitás böngészőben, στον browser',
  'открыть в браузере, переглянути в браузері, tarayıcıda görüntüle, 브라우저에서 보기, ब्राउज़र में देखें',
  'xem trong trình duyệt, lihat di browser, عرض في المتصفح, مشاهده در مرورگر',
);

export const RECIPIENT_REASONS = parsePhrases(
  "you are receiving this because, you're receiving this because, you are receiving this email because",
  "you're receiving this email because, you received this email because, because you signed up",
  'because you subscribed, because you opted in, you signed up, you are subscribed, you subscribed',
  'sie erhalten diesen newsletter, sie erhalten diese e-mail weil, du erhältst diese',
  'sie erhalten diese mail weil, weil sie sich, vous recevez cet, vous recevez ce message',
  'vous recevez cette, recibes este, recibe este, has recibido este, ricevi questa, hai ricevuto questa',
  'je ontvangt deze, u ontvangt deze, você recebeu este, você está recebendo, recebe este',
  'otrzymujesz tę wiadomość, otrzymujesz ten, 配信停止, 您收到此邮件, 您收到这封邮件',
  'du får detta, ai primit acest, tento e-mail jste, azért kaptad, λάβατε αυτό, вы получили это письмо',
  'ви отримали цей лист, bu e-postayı, 이 메일은, यह ईमेल आपको, bạn nhận được email này',
  'anda menerima email ini, تصلك هذه الرسالة, این ایمیل',
);

export const READ_MORE = parsePhrases(
  'read more, read the full, continue reading, read article, weiterlesen, mehr lesen, zum artikel',
  "lire la suite, lire l'article, leer más, seguir leyendo, leggi tutto, leggi l'articolo",
  'lees meer, lees verder, leia mais, ler mais, czytaj więcej, czytaj dalej, 続きを読む, 阅读全文',
  'läs mer, citește mai mult, číst dál, tovább olvasom, διαβάστε περισσότερα, читать дальше',
  'читать далее, читати далі, devamını oku, 더 읽기, और पढ़ें, อ่านต่อ, đọc tiếp, baca selengkapnya',
  'اقرأ المزيد, ادامه مطلب',
);

/** A letter to many readers: what an issue contains, and where to read on. */
export const EDITORIAL = parsePhrases(
  "in this issue, in this edition, in this newsletter, this month's letter, read more on our, our reading list",
  'in dieser ausgabe, in diesem heft, gartenbrief, leserbrief, unsere lesetipps, dans ce numéro, dans cette édition',
  'en este número, en esta edición, in questo numero, in questa edizione, in dit nummer, in deze editie',
  'neste número, nesta edição, w tym numerze, w tym wydaniu, 今号の内容, 今月号, 今号では, 本期内容, 本期',
  'i det här numret, în acest număr, v tomto čísle, ebben a számban, σε αυτό το τεύχος, в этом выпуске, в этом номере',
  'у цьому випуску, bu sayıda, 이번 호에서는, 이번 호, इस अंक में, ในฉบับนี้, trong số này, dalam edisi ini, في هذا العدد, در این شماره',
);

/** Asks the recipient to bring others, for a reward. */
export const REFERRALS = parsePhrases(
  'refer a friend, refer friends, invite a friend and, invite your friends, give … get, share your link, bring a friend',
  'freunde werben, freund werben, empfehlen sie uns weiter, empfiehl uns, parrainez, parrainage, invita a un amigo',
  'invita amigos, invita un amico, porta un amico, nodig een vriend, vriend uitnodigen, indique um amigo, convide um amigo',
  'poleć nas, poleć znajom*, お友達紹介, 友達を招待, 邀请好友, 推荐好友, värva en vän, bjud in en vän, recomandă un prieten',
  'invită un prieten, doporučte nás, pozvat přítele, ajánlj minket, barát meghívása, πρότεινε έναν φίλο, κάλεσε έναν φίλο',
  'пригласи друга, пригласите друга, приведи друга, запроси друга, запросіть друга, arkadaşını davet et, 친구 초대',
  'दोस्त को आमंत्रित, दोस्तों को आमंत्रित, ชวนเพื่อน, giới thiệu bạn bè, mời bạn bè, ajak teman, ادعُ صديق*, دعوت از دوستان, دوستان خود را دعوت',
);

/** Another person invites the recipient to something that they share. */
export const INVITES = parsePhrases(
  'invited you to, has invited you, shared a document with you, shared … with you, wants to share, added you to',
  'hat sie eingeladen, hat dich eingeladen, hat ein dokument mit ihnen geteilt, vous a invité, vous invite à rejoindre',
  'te ha invitado, le ha invitado, ti ha invitato, heeft je uitgenodigd, heeft u uitgenodigd, convidou você, convidou-o',
  'zaprosił cię, zaprosiła cię, zaprasza cię do, さんがあなたを招待, さんから招待, 邀请您加入, 邀请你加入, har bjudit in dig',
  'te-a invitat, vás pozval*, meghívott, σας προσκάλεσε, приглашает вас присоединиться, пригласил* вас, запросив вас, sizi davet etti',
  'please sign, document to sign, review and sign, ready to sign, ready for your signature, signature requested',
  'signature request, zur unterschrift, zum unterzeichnen, bitte unterschreiben sie, bitte unterzeichnen sie, à signer',
  'para firmar, pendiente de firma, firme el documento, da firmare, ter ondertekening, te ondertekenen, para assinar',
  'do podpisu, k podpisu, att signera, til signering, на подпись, на підпис, imzanız',
  '님이 초대했습니다, ने आपको आमंत्रित किया, ได้เชิญคุณ, đã mời bạn, mengundang anda, دعاك إلى, شما را دعوت کرد',
);

/** What somebody did in a program that several people use. */
export const ACTIONS = parsePhrases(
  'commented on, mentioned you, replied to your, replied to a, replied in, assigned you, assigned to you, assigned it to',
  'requested your review, requested a review, requested changes, approved these changes, approved this',
  'new comment on, new comment by, left a comment, added a comment, edited a page, edited this page, created an issue',
  'opened a new, pushed to, moved the card, added you to the card, reacted to your, sent you a message, new reply to',
  'hat kommentiert, kommentierte, hat sie erwähnt, hat dich erwähnt, hat ihnen zugewiesen, hat dir zugewiesen',
  'neuer kommentar, hat geantwortet auf, hat ihnen eine nachricht, hat dir eine nachricht, ihnen zugewiesen, dir zugewiesen',
  'a commenté, vous a mentionné*, vous a assigné*, vous a attribué, nouveau commentaire, a répondu à',
  'vous a envoyé un message, ha comentado, comentó en, te ha mencionado, te mencionó, te ha asignado, te asignó',
  'nuevo comentario, respondió a, ha respondido a, te ha enviado un mensaje, ha commentato, ti ha menzionato',
  'ti ha assegnato, nuovo commento, ha risposto a, ti ha inviato un messaggio, heeft gereageerd op',
  'heeft je genoemd, heeft u genoemd, heeft je toegewezen, nieuwe reactie op, comentou em, mencionou você',
  'atribuiu a você, novo comentário, respondeu a, skomentował*, wspomniał* o tobie, przypisał* ci, nowy komentarz',
  'kommenterade, nämnde dig, tilldelade dig, ny kommentar, kommenterede, nævnte dig, okomentoval*, zmínil* vás',
  'прокомментировал*, упомянул* вас, назначил* вас, новый комментарий, ответил* на, прокоментував, yorum yaptı',
  'sizden bahsetti, さんがコメント, あなたをメンション, コメントしました, 评论了, 提到了你, 提及了您, 分配给您, 댓글을 남겼',
);

// Signs of mail about the recipient's own business.

/** Followed by the number of an order, a booking, a case, … */
export const REFERENCES = parsePhrases(
  'order, order number, order no, order id, invoice, invoice number, invoice no, receipt',
  'receipt number, booking, booking reference, booking number, confirmation number, reservation',
  'reservation number, ticket, ticket number, case, case number, reference number, transaction id',
  'purchase order, tracking number, customer number',
  'bestellung, bestellnummer, auftrag, auftragsnummer, rechnung, rechnungsnummer, buchung',
  'buchungsnummer, vorgangsnummer, kundennummer, sendungsnummer, bestellnr, rechnungsnr',
  'commande, numéro de commande, facture, numéro de facture, réservation, numéro de suivi, dossier',
  'pedido, número de pedido, factura, número de factura, reserva, localizador',
  'ordine, numero ordine, numero d’ordine, fattura, prenotazione, codice prenotazione',
  'bestelling, bestelnummer, factuur, factuurnummer, boeking, reserveringsnummer',
  'encomenda, número do pedido, fatura, número da fatura',
  'zamówienie, zamówienia, numer zamówienia, faktura, faktury, rezerwacja, rezerwacji',
  '注文番号, 請求書番号, 予約番号, お問い合わせ番号, 订单号, 订单编号, 訂單編號, 运单号, 发票号',
  'ordernummer, order nr, kollinummer, comanda, comenzii, număr awb, awb, objednávka, objednávky',
  'objednávka č',
  'číslo objednávky, číslo zásilky, rendelés, rendelésszám, csomagszám, visszaigazolása, παραγγελίας',
  'αριθμός παραγγελίας, αριθμός αποστολής, заказ, заказ №, номер заказа, трек-номер, замовлення',
  'замовлення №',
  'номер замовлення, номер накладної, sipariş numarası, takip numarası, fatura no, 주문번호, 운송장 번호',
  'ऑर्डर, ऑर्डर नंबर, ट्रैकिंग नंबर, หมายเลขคำสั่งซื้อ, หมายเลขพัสดุ, หมายเลข, mã đơn hàng, đơn hàng',
  'mã vận đơn',
  'pesanan, nomor pesanan, nomor resi, رقم الطلب, الطلب رقم, رقم التتبع, شماره سفارش, کد رهگیری',
);

export const PURCHASES = parsePhrases(
  'order confirmation, order confirmed, thank you for your order, thanks for your order, your receipt',
  'your order has, your order is, your order was, your invoice, payment received, payment confirmation',
  'receipt for, invoice for, thank you for your purchase, thank you for your payment',
  'bestellbestätigung, auftragsbestätigung, vielen dank für ihre bestellung, ihre bestellung',
  'deine bestellung, ihre rechnung, deine rechnung, zahlungseingang, zahlungsbestätigung',
  'confirmation de commande, votre commande, votre facture, votre reçu, merci pour votre commande',
  'confirmación de pedido, tu pedido, su pedido, tu factura, su factura, recibo de, gracias por tu compra',
  "conferma d'ordine, conferma ordine, il tuo ordine, la tua fattura, ricevuta di, grazie per il tuo ordine",
  'orderbevestiging, je bestelling, uw bestelling, uw factuur, je factuur, bedankt voor je bestelling',
  'confirmação de pedido, confirmação do pedido, seu pedido, sua encomenda, sua fatura',
  'potwierdzenie zamówienia, twoje zamówienie, dziękujemy za zamówienie, faktura vat',
  'ご注文, 注文確認, 領収書, 請求書, お支払い, 订单确认, 您的订单, 付款成功, 收据, 电子发票',
  'orderbekräftelse, tack för din beställning, din beställning, din faktura, kvitto, betalning mottagen',
  'confirmarea comenzii, îți mulțumim pentru comandă, comanda ta, factura ta, plata a fost, chitanță',
  'potvrzení objednávky, děkujeme za objednávku, vaše objednávka, vaše faktura, platba přijata, účtenka',
  'rendelés visszaigazolása, köszönjük a rendelést, rendelésed, számlád, számla, fizetés megérkezett',
  'επιβεβαίωση παραγγελίας, την παραγγελία σας, το τιμολόγιό σας, απόδειξη, η πληρωμή σας',
  'ваш заказ, спасибо за заказ, заказ оформлен, ваш счёт, квитанция, чек, оплата получена',
  'ваше замовлення',
  'дякуємо за замовлення, ваш рахунок, оплату отримано, siparişiniz, siparişiniz alındı, faturanız',
  'ödemeniz alındı',
  '주문이 완료, 주문해 주셔서, 청구서, 영수증, 결제가 완료, 결제 금액, आपका ऑर्डर, ऑर्डर के लिए धन्यवाद, आपका बिल',
  'भुगतान प्राप्त, रसीद, ยืนยันคำสั่งซื้อ, ขอบคุณสำหรับคำสั่งซื้อ, ใบแจ้งหนี้, ใบเสร็จ, ชำระเงินแล้ว',
  'xác nhận đơn hàng, cảm ơn bạn đã đặt hàng, hóa đơn, biên lai, thanh toán thành công',
  'konfirmasi pesanan',
  'terima kasih atas pesanan, pesanan anda, tagihan anda, tagihan, struk, pembayaran diterima',
  'تأكيد الطلب',
  'شكرا على طلبك, فاتورتك, الفاتورة, إيصال, تم الدفع, سفارش شما, صورتحساب, رسید, پرداخت شما, 账单, 付款成功',
);

export const DELIVERIES = parsePhrases(
  'has shipped, has been shipped, on its way, out for delivery, has been delivered, delivery update',
  'parcel … arrives, package … arrives, delivery … arrives, track the parcel, track the package',
  'paket … kommt, colis … arrive, paquete … llega, pacco … arriva, pakket … komt, paczka … dotrze',
  'track your package, track your parcel, track your order, tracking number, shipping confirmation',
  'versandbestätigung, wurde versandt, wurde verschickt, ist unterwegs, sendungsverfolgung',
  'sendungsnummer, a été expédiée, a été expédié, en cours de livraison, numéro de suivi',
  'ha sido enviado, número de seguimiento, está en camino, è stato spedito, numero di tracciamento',
  'in consegna, is verzonden, is onderweg, track trace, foi enviado, código de rastreamento',
  'código de rastreio, a caminho, zostało wysłane, została wysłana, numer przesyłki, w drodze',
  '発送, お届け, 配送状況, 已发货, 物流, 运单号',
  'ditt paket, paketet levereras, har skickats, spåra paketet, coletul tău, curierul, urmărește coletul',
  'a fost expediat',
  'vaše zásilka, zásilka dorazí, kurýr, sledovat zásilku, byla odeslána, csomagod, a futár',
  'csomag követése, feladtuk',
  'το δέμα σας, αποστολής, έχει αποσταλεί, ваша посылка, посылка прибудет, курьер, отследить посылку',
  'заказ отправлен',
  'ваша посилка, кур’єр, посилку, замовлення відправлено, kargonuz, kargoya verildi, kurye',
  'teslim edilecek, takip numarası',
  '택배가, 배송 조회, 배송이 시작, 운송장, आपका पार्सल, डिलीवरी, पार्सल ट्रैक, भेज दिया गया, พัสดุ, จัดส่ง',
  'được giao, giao hàng, mã vận đơn, theo dõi đơn hàng, paket anda, kurir, lacak paket, telah dikirim',
  'شحنتك, تتبع الشحنة, رقم التتبع, تم شحن, بسته شما, کد رهگیری, پیگیری بسته, ارسال شد, 快递, 送达, お荷物',
);

export const ACCOUNT_SECURITY = parsePhrases(
  'reset your … password, reset your password, password reset, reset password, set a new password, new sign in, new login',
  'new device, neues gerät, nouvel appareil, nuevo dispositivo, nuovo dispositivo, nieuw apparaat',
  'novo dispositivo, nowe urządzenie, ihr … passwort zurück, your account is ready, unusual activity',
  'security alert, password was changed, password has been changed',
  'confirm your email, verify your email, confirm your account, activate your account, sign in link',
  'passwort zurücksetzen, passwort zurückzusetzen, neues passwort, neue anmeldung, neuer login',
  'sicherheitswarnung, passwort wurde geändert, e-mail-adresse bestätigen, konto aktivieren',
  'bestätigen sie ihre e-mail, réinitialiser votre mot de passe, réinitialisation de votre mot de passe',
  'réinitialisation du mot de passe, nouvelle connexion, alerte de sécurité, confirmez votre adresse',
  'activez votre compte, restablecer tu contraseña, restablecer su contraseña, restablece tu contraseña',
  'restablecimiento de contraseña, nuevo inicio de sesión, alerta de seguridad, confirma tu correo',
  'verifica tu correo, activa tu cuenta, reimposta la password, reimpostare la password',
  'reimpostazione della password, reimposta la tua password, nuovo accesso, avviso di sicurezza',
  'conferma il tuo indirizzo, verifica la tua email, wachtwoord opnieuw instellen',
  'wachtwoord resetten, wachtwoord herstellen, nieuw wachtwoord, nieuwe aanmelding, nieuwe login',
  'bevestig je e-mail, bevestig uw e-mail, redefinir sua senha, redefinir a sua, redefinição de senha',
  'recuperar senha, novo login, novo acesso, alerta de segurança, confirme seu e-mail',
  'verifique seu e-mail, zresetuj hasło, resetowanie hasła, reset hasła, zmiana hasła',
  'nowe logowanie, alert bezpieczeństwa, potwierdź adres, potwierdź swój, aktywuj konto',
  'パスワードの再設定, パスワード再設定, パスワードリセット, 新しいログイン, ログインがありました',
  'メールアドレスの確認, 重置密码, 重設密碼, 找回密码, 新设备, 安全提醒, 验证您的邮箱, 激活您的',
  'återställ ditt lösenord, nytt lösenord, ny inloggning, resetează parola, parola contului',
  'autentificare nouă',
  'obnovení hesla, nové heslo, nové přihlášení, jelszó visszaállítása, új jelszó, új bejelentkezés',
  'επαναφορά κωδικού, νέος κωδικός, νέα σύνδεση, восстановление пароля, новый пароль, сброс пароля',
  'новый вход',
  'відновлення пароля, новий пароль, новий вхід, şifrenizi sıfırlayın, şifre sıfırlama, yeni bir şifre',
  'yeni giriş',
  '비밀번호 재설정, 비밀번호를 재설정, 새로운 로그인, पासवर्ड रीसेट, नया पासवर्ड, नया लॉगिन, รีเซ็ตรหัสผ่าน, เปลี่ยนรหัสผ่าน',
  'đặt lại mật khẩu, đổi mật khẩu, đăng nhập mới, atur ulang kata sandi, kata sandi baru, login baru',
  'إعادة تعيين كلمة المرور, كلمة المرور, تسجيل دخول جديد, بازیابی رمز عبور, رمز عبور جدید, ورود جدید',
  'wachtwoord aangevraagd, zmiana hasła, restablece tu contraseña, wachtwoord opnieuw',
);

export const WELCOMES = parsePhrases(
  'welcome to, welcome aboard, willkommen bei, bienvenue chez, bienvenue sur, bienvenido a',
  'bienvenida a, benvenuto in, benvenuto su, benvenuta, welkom bij, bem-vindo, witamy w, ようこそ, 欢迎加入',
  'välkommen till, bun venit, vítejte v, üdvözlünk, καλώς ήρθατε, добро пожаловать, ласкаво просимо',
  'hoş geldin*, 가입을 환영, स्वागत है, ยินดีต้อนรับ, chào mừng bạn, selamat datang, مرحبا بك, خوش آمدید',
);

/** Next to a code of four to eight digits. */
export const ONE_TIME_CODES = parsePhrases(
  'verification code, security code, one time code, one time password, login code, sign in code',
  'authentication code, your code is, passcode, otp, confirmation code',
  'bestätigungscode, sicherheitscode, einmalcode, anmeldecode, ihr code, dein code, einmalpasswort',
  'code de vérification, code de sécurité, votre code, código de verificación, código de seguridad',
  'tu código, codice di verifica, codice di sicurezza, il tuo codice, verificatiecode, inlogcode',
  'je code is, código de verificação, código de segurança, seu código, kod weryfikacyjny, twój kod',
  'kod bezpieczeństwa, 認証コード, 確認コード, 验证码, 驗證碼',
  'engångskod, verifieringskod, cod de verificare, codul tău, ověřovací kód, jednorázový kód',
  'ellenőrző kód, egyszeri kód, κωδικός επαλήθευσης, код подтверждения, код підтвердження',
  'doğrulama kodu, 인증번호, 인증 코드, सत्यापन कोड, आपका कोड, ओटीपी, รหัสยืนยัน, mã xác minh, mã xác nhận',
  'kode verifikasi, رمز التحقق, کد تایید',
);

export const ACCOUNT_NOTICES = parsePhrases(
  'payment failed, payment declined, payment is overdue, will renew, has been renewed, card expires',
  'statement is ready, your statement, account statement, your bill, terms of service, privacy policy update',
  'scheduled maintenance, zahlung fehlgeschlagen, kontoauszug, wurde verlängert, zahlungserinnerung',
  'mahnung, échec de paiement, relevé de compte, pago rechazado, extracto de',
  'pagamento non riuscito, estratto conto, betaling mislukt, rekeningoverzicht, pagamento recusado',
  'extrato da, płatność nieudana, wyciąg, お支払いに失敗, ご利用明細, 账单, 扣款失败',
  'betalningen misslyckades, förfallodag, plata a eșuat, scadența, platba se nezdařila, splatnost',
  'sikertelen fizetés, fizetési határidő, πληρωτέο έως, η πληρωμή απέτυχε, платёж не прошёл',
  'выписка по счёту, платіж не пройшов, виписка, ödeme başarısız, son ödeme tarihi, 결제 실패, 납부 기한',
  'भुगतान विफल, भुगतान की अंतिम तारीख, ชำระภายใน, hạn thanh toán, thanh toán thất bại, jatuh tempo',
  'pembayaran gagal, فشل الدفع, آخر موعد للدفع, مهلت پرداخت, termin płatności',
);

export const BOOKINGS = parsePhrases(
  'your appointment, appointment reminder, appointment confirmed, your booking, booking confirmation',
  'booking confirmed, reservation confirmed, your reservation, your itinerary, boarding pass, e-ticket',
  'check in is open, ihr termin, ihren termin, terminbestätigung, terminerinnerung, buchungsbestätigung',
  'ihre buchung, ihre reservierung, votre rendez-vous, votre réservation, confirmation de réservation',
  'tu cita, su cita, tu reserva, confirmación de reserva, il tuo appuntamento, la tua prenotazione',
  'conferma prenotazione, je afspraak, uw afspraak, je boeking, boekingsbevestiging, sua consulta',
  'sua reserva, confirmação de reserva, twoja wizyta, twoja rezerwacja, potwierdzenie rezerwacji',
  'ご予約, 予約確認, 预订确认, 预约成功',
  'din tid, påminnelse om din, din bokning, bokningsbekräftelse, programarea ta, rezervarea ta',
  'confirmarea rezervării',
  'vaše návštěva, vaše rezervace, váš termín, potvrzení rezervace, időpontod, foglalásod',
  'foglalás visszaigazolása',
  'το ραντεβού σας, η κράτησή σας, επιβεβαίωση κράτησης, запись на, о записи на, ваша запись',
  'ваше бронирование, бронирование подтверждено',
  'про запис на, ваш запис, ваше бронювання, randevunuz, rezervasyonunuz, rezervasyon onayı, 예약 안내',
  '예약이 완료, 예약 확인',
  'अपॉइंटमेंट, आपकी बुकिंग, नัดหมาย, การจองของคุณ, นัดหมาย, lịch hẹn, đặt chỗ, xác nhận đặt, janji temu',
  'pemesanan anda',
  'konfirmasi reservasi, بموعدك, موعدك, حجزك, تأكيد الحجز, نوبت شما, رزرو شما, 预约提醒, 予約確認',
  'dokter afspraak, 预约',
);

/** Lines of a receipt. One alone may be anything. */
export const RECEIPT_LINES = parsePhrases(
  'subtotal, sub total, order total, total amount, amount due, amount paid, shipping, vat, tax, quantity',
  'zwischensumme, gesamtsumme, gesamtbetrag, mwst, ust, versandkosten, menge',
  'sous total, total ttc, tva, frais de livraison, quantité, total a pagar, iva, gastos de envío',
  'subtotale, totale, spese di spedizione, subtotaal, totaal, btw, verzendkosten, aantal',
  'frete, quantidade, razem, suma, do zapłaty, ilość, 小計, 合計, 消費税, 数量, 小计, 合计, 运费',
  'delsumma, totalt, moms, frakt, antal, subtotal, total de plată, tva, transport, celkem, dph',
  'mezisoučet, doprava, összesen, áfa, szállítás, σύνολο, φπα, μεταφορικά, итого, ндс, доставка, разом',
  'пдв, toplam, kdv, kargo ücreti, ara toplam, 합계, 부가세, 배송비, कुल राशि, जीएसटी, ยอดรวม, ภาษี, ค่าจัดส่ง',
  'tổng cộng, thuế, phí vận chuyển, ongkos kirim, pajak, المجموع, الضريبة, الشحن, مبلغ کل, مالیات',
);

/** Part account notice, part offer. */
export const ENDING_PLANS = parsePhrases(
  'trial ends, trial is ending, trial expires, trial has ended, trial ending, trial period, free trial is',
  'trial will end, your trial, plan expires, subscription expires, subscription ends',
  'testphase, testzeitraum, probezeit endet, probeabo, essai gratuit, période d’essai, votre essai',
  'prueba gratuita, periodo de prueba, período de prueba, prova gratuita, periodo di prova',
  'proefperiode, período de teste, teste grátis, okres próbny, okresu próbnego',
  '無料トライアル, 試用期間, お試し期間, 试用期, 试用即将',
  'din provperiod, perioada de probă, zkušební doba, zkušební verze, próbaidőszak, δοκιμαστική περίοδος',
  'пробный период, пробний період, deneme süreniz, 무료 체험, निःशुल्क परीक्षण, ทดลองใช้, dùng thử',
  'masa uji coba, الفترة التجريبية, دوره آزمایشی',
);

/** A digest of what happened in an account: part notification, part promotion of a service. */
export const DIGESTS = parsePhrases(
  'new followers, viewed your profile, new notifications, what you missed, appeared in searches',
  'people you may know, neue follower, haben ihr profil besucht, das hast du verpasst',
  'nouveaux abonnés, ont consulté votre profil, nuevos seguidores, nuovi follower, nieuwe volgers',
  'novos seguidores, nowi obserwujący, 新しいフォロワー, 新粉丝',
  'nya följare, urmăritori noi, noví sledující, új követők, νέοι ακόλουθοι, новые подписчики',
  'нові підписники, yeni takipçi*, 새 팔로워, नए फ़ॉलोअर, ผู้ติดตามใหม่, người theo dõi mới, pengikut baru',
  'متابعون جدد, دنبال‌کننده‌های جدید',
);
