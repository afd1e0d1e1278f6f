package web

import (
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/card"
	"boon.example/internal/post/delivery"
)

// TestMailAndPageAgree: in every language, a gift's mail and the notice of what is left tell of the gift what its page
// tells, word for word: every line of theirs stands on the page, but for the few that a letter needs and a page does
// not.
func TestMailAndPageAgree(t *testing.T) {
	t.Parallel()
	// the colons, bullets and spaces between a heading and what stands under it on the page
	tight := func(s string) string {
		return strings.NewReplacer("×", "x", ":", "", "：", "").Replace(strings.Join(strings.Fields(strings.TrimLeft(s, "->")),
			""))
	}
	for _, l := range merchant.Languages() {
		for _, item := range []bool{false, true} {
			many, g := *account, aGift(t)
			many.Locations = slices.Grow(many.Locations, 20)
			for len(many.Locations) < 20 {
				many.Locations = append(many.Locations, merchant.Location{ID: guid.ID{30}, Name: "Pier 7"})
			}
			g.Item, g.Card.Label, g.Card.Language, g.Card.Terms = item, "Latte", string(l), "Not for cash."
			g.Status, g.Balance, g.Seq = gift.Claimed, 1550, 1
			g.Holds = []gift.OpenHold{{Left: 450, Until: time.Now().Add(time.Hour)}}
			g.Items, g.ValidUntil = []merchant.Item{{ID: "LATTE", Name: "Latte"}}, time.Now().Add(time.Hour)
			used := []gift.Entry{{Kind: gift.Redemption, Delta: -950, At: time.Now(),
				Actor: merchant.Actor{LocationID: guid.ID{2}}}}
			s := newStoreOf(t, &many, g)
			s.history = used
			_, body := s.as(t, string(l), "/g/"+token)
			page := tight(visible(t, body))
			mail, err := delivery.Render(&g, &many, base, guid.ID{7}, delivery.Pictures{}, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			notice, err := delivery.RenderBalance(&g, &many, used, base, guid.ID{7}, delivery.Pictures{}, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			v := card.New(&g, &many, time.Now())
			for _, text := range []string{mail.Text, notice.Text} {
				agreed := 0
				for line := range strings.Lines(text) {
					if line = strings.TrimSpace(line); slices.Contains(ofALetter(&v), line) {
						continue
					}
					for _, part := range strings.Split(line, " · ") {
						if agreed++; !strings.Contains(page, tight(part)) {
							t.Errorf("%s: the page does not say %q: %s", l, part, page)
						}
					}
				}
				if agreed < 6 {
					t.Errorf("%s: only %d lines are on the page, too:\n%s", l, agreed, text)
				}
			}
		}
	}
}

// ofALetter are the lines of mails that are not about the gift, or say in a sentence what the page has figures for.
func ofALetter(v *card.View) []string {
	url := base + "/g/" + token
	return []string{"", url, v.Text("mail.hello", v.Recipient), v.Text("mail.sent", v.Sender),
		v.Text("mail.worth", v.Worth, v.Merchant), v.Text("mail.fact", v.Text("mail.left"), v.Balance),
		v.Text("mail.fact", v.Text("mail.code"), v.Code), v.Text("mail.link.code"),
		v.Text("mail.used", v.Sender, v.Merchant), v.Text("mail.not-you", v.Merchant)}
}

// TestOutboxTellsLanguages: the outbox, which is in English, says in which language a message is.
func TestOutboxTellsLanguages(t *testing.T) {
	t.Parallel()
	mail, sms := aGift(t), aGift(t)
	mail.Card.Language, sms.Card.Language, sms.Card.Method, sms.Card.Contact = "de", "ja", contact.SMS, "+14155550132"
	for _, tt := range []struct {
		g    gift.Gift
		want []string
	}{
		{mail, []string{`<bdi lang="de">Ein Geschenk`, `<pre dir="auto" lang="de"`}},
		{sms, []string{`<p class="sms" dir="auto" lang="ja">`}},
	} {
		s := newFakeStore(t, tt.g)
		_, _, body := s.get(t, "/outbox/"+s.messages[0].ID.String())
		for _, want := range append(tt.want, `<html lang="en"`) {
			if !strings.Contains(body, want) {
				t.Errorf("the page lacks %s: %s", want, body)
			}
		}
	}
}
