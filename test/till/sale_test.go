package till

import (
	"fmt"
	"strings"
	"testing"

	"boon.example/client"
)

// stock makes a card that is not sold yet; worth is what it is going to be worth, "": what is paid for it.
func (s *shop) stock(worth string) *client.SentGift {
	s.Helper()
	ask := client.CreateStockRequest{Count: 1}
	if worth != "" {
		ask.Value = client.MustDecimal(worth)
	}
	made, err := s.api.CreateStock(s.Context(), ask)
	if err != nil {
		s.Fatal(err)
	}
	for g, err := range s.api.Gifts(s.Context(), client.GiftsFilter{OrderID: made.OrderID}) {
		if err != nil {
			s.Fatal(err)
		}
		return &client.SentGift{Voucher: g}
	}
	s.Fatal("the stock is empty")
	return nil
}

// references lists with what reference value was put into a gift.
func (s *shop) references(g *client.SentGift) (all []string) {
	s.Helper()
	for e, err := range s.api.History(s.Context(), g.VoucherID) {
		if err != nil {
			s.Fatal(err)
		}
		if e.Kind == "ACTIVATION" || e.Kind == "RELOAD" {
			all = append(all, e.ExternalTransactionReferenceNumber)
		}
	}
	return all
}

// TestSale is a card that is sold at the counter, loaded and undone, also when the line is bad.
func TestSale(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	l := newLine(t, s.server.URL)
	d := s.till("Counter 1", l.URL, "--may", "activate,reload")
	card := s.stock("")
	d.at("home")
	inLanguages := func(what string, act func()) {
		for _, language := range []string{"de", "es", "en"} {
			d.open("/till?lang=" + language)
			d.at("home")
			d.scanner(card.VoucherCode)
			d.at("gift")
			act()
			d.everyWay(language+" "+what, func() {})
		}
	}
	inLanguages("sell", func() { d.keypad("2500") })
	d.shows("button.take", "Sell for $25.00")
	d.tap("button.take")
	d.shows("h1", "Sold")
	d.shows(".result .words", "On the card now: $25.00")
	d.picture("sold")
	s.holds(card, "25.00")
	d.tap(".next")

	inLanguages("load", func() { d.tap(".do-load"); d.keypad("1000") })
	d.open("/till")
	d.find(card, "$25.00")
	d.tap(".do-load")
	d.shows(".entry-label", "Put on it")
	d.tap(".do-load") // it was a slip: the guest wants to pay
	d.shows(".entry-label", "The bill is")
	d.tap(".do-load")
	d.keypad("1000")
	d.shows("button.take", "Load $10.00")
	l.cut.Store(after)
	d.shows(".take-side .rest", "Then on the card: $35.00")
	d.tap("button.take") // it is carried out, and no answer comes
	d.shows("h1", "Not known yet")
	d.shows(".stop", "Call it off")
	l.cut.Store(whole)
	d.shows("h1", "Loaded")
	d.shows(".result .words", "On the card now: $35.00")
	d.picture("loaded")
	if all := s.references(card); len(all) != 2 || all[0] == all[1] || all[0] == "" || all[1] == "" {
		t.Errorf("the references are %q", all)
	}
	d.tap(".undo")
	d.shows("h1", "Taken off again")
	s.holds(card, "25.00")
	d.tap(".next")
	d.undoSale(s, card)
	other := s.stock("")
	d.find(other, "New card")
	d.keypad("500")
	d.tap("button.take")
	d.shows("h1", "Sold")
	d.tap(".undo")
	d.shows("h1", "Sale taken back")
	d.shows(".result .words", "can be sold again")
	d.picture("sale-undone")
	s.holds(other, "0.00")
	d.tap(".next")

	// a card of fixed worth is sold for that, and a call that never arrived is called off
	fixed := s.stock("20")
	d.find(fixed, "$20.00")
	d.shows(".worth .facts", "New card")
	d.shows("button.take", "Sell for $20.00")
	d.shows(".gift .keypad", "")
	d.picture("sell-fixed")
	l.cut.Store(before)
	d.tap("button.take")
	d.shows("h1", "Not known yet")
	d.tap(".stop")
	d.shows(".result .words", "nothing is put on the card")
	l.cut.Store(whole)
	d.shows("h1", "Not sold")
	s.holds(fixed, "0.00")
	d.tap(".next")
	d.calm()

	plain := s.till("Counter 2", s.server.URL)
	plain.find(fixed, "$0.00")
	plain.shows(".reasons", "has not been sold yet")
	plain.tap(".back")
	plain.find(s.sell("5"), "$5.00")
	if plain.text(".do-load") != "" {
		t.Error("a till that may not load offers it")
	}
}

// TestStorefronts: of several storefronts, somebody says once on a device which is its own, and it stays that.
func TestStorefronts(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	const kiosk = prefix + "22"
	file := strings.Replace(fmt.Sprintf(setupFile, ""), "name: Web shop}",
		"name: Web shop}, {id: "+kiosk+", name: Kiosk}", 1)
	s.apply(file)
	d := s.till("Counter 1", s.server.URL, "--may", "activate,reload")
	card := s.stock("")
	d.find(card, "New card")
	d.keypad("2500")
	d.shows("button.take:disabled", "Sell for $25.00")
	d.choose(".storefront", "Kiosk")
	d.everyWay("storefronts", func() {})
	if bottom := js[float64](d, `document.querySelector("button.take").getBoundingClientRect().bottom`); bottom > 667 {
		t.Errorf("the button ends at %v of 667", bottom)
	}
	d.tap("button.take:enabled")
	d.shows("h1", "Sold")
	d.tap(".next")
	d.find(s.stock("20"), "$20.00")
	d.shows(".entry", "Kiosk") // there is nothing to type, and something to choose
	d.shows(".gift .keypad", "")

	d.open("/till")
	d.find(card, "$25.00")
	d.shows(".storefront", "")
	d.tap(".do-load")
	d.shows(".storefront", "Kiosk")
	d.keypad("1000")
	d.tap("button.take:enabled")
	d.shows("h1", "Loaded")
	s.holds(card, "35.00")
	for e, err := range s.api.History(t.Context(), card.VoucherID) {
		if err != nil {
			t.Fatal(err)
		}
		if (e.Kind == "ACTIVATION" || e.Kind == "RELOAD") && e.ExternalStorefrontID != kiosk {
			t.Errorf("%s at storefront %q", e.Kind, e.ExternalStorefrontID)
		}
	}
	d.tap(".next")

	s.apply(strings.Replace(file, "{id: "+webShop+", name: Web shop}, ", "", 1)) // one is left: nobody is asked
	d.open("/till")
	d.find(card, "$35.00")
	d.tap(".do-load")
	d.shows(".entry-label", "Put on it")
	d.shows(".storefront", "")
	d.calm()
}

// choose takes what is named so of a list.
func (d *device) choose(selector, name string) {
	d.Helper()
	js[*string](d, fmt.Sprintf(`(() => { const list = document.querySelector(%q);
		list.value = [...list.options].find(o => o.text === %q).value;
		list.dispatchEvent(new Event("change", {bubbles: true})); return null; })()`, selector, name))
}

// undoSale tries to take the sale of a card back from the list of the day, after it was loaded.
func (d *device) undoSale(s *shop, card *client.SentGift) {
	d.Helper()
	d.tap(".open-today")
	d.shows(".totals", "$25.00")
	d.shows(".entries .undone", "Undone")
	d.picture("sale-today")
	d.tap(`.entries .do button[aria-label*="25.00"]`)
	d.shows("dialog h2", "$25.00")
	d.picture("sale-question")
	d.tap("dialog .primary")
	d.shows("h1", "Sale not taken back")
	d.shows(".result .words", "its sale stays")
	s.holds(card, "25.00")
	d.tap(".next")
	d.shows(".totals", "$25.00")
	d.tap(".today .back")
}
