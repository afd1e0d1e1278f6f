package server_test

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"boon.example/examples"
	"boon.example/internal/gift/operation"
	"boon.example/internal/merchant"
	"boon.example/internal/server"
	"boon.example/internal/staff"
)

var formKey = regexp.MustCompile(`name="key" value="([^"]+)"`)

// does opens the form of an action on a gift, fills it in, sends it, and gives the page of the gift that follows.
func (b *browser) does(g soldGift, action string, typed url.Values) string {
	b.Helper()
	path := harborConsole + "gifts/" + g.VoucherID + "/" + action
	form := b.want(http.StatusOK, path, nil).body
	key := formKey.FindStringSubmatch(form)
	if key == nil {
		b.Fatalf("the form of %s has no key: %s", action, form)
	}
	sent := url.Values{"key": {key[1]}}
	for name, values := range typed {
		sent[name] = values
	}
	to := b.want(http.StatusSeeOther, path, sent).header.Get("Location")
	// A reload of the answer sends the form again: nothing happens twice.
	if again := b.want(http.StatusSeeOther, path, sent).header.Get("Location"); again != to {
		b.Errorf("%s, sent again, leads to %s", action, again)
	}
	return b.want(http.StatusOK, to, nil).body
}

// TestStaffMendGifts: each action does what it says, once, tells that it is done, and offers what undoes it.
func TestStaffMendGifts(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	g := s.sell(`{"value":25,"recipientDescription":"Ana","deliveryMethodID":1,"recipientContact":"ana@example.com"}`)
	s.eventually(func() bool {
		var is soldGift
		s.must("GET", giftPath+g.VoucherID, examples.HarborOfficeKey, "", &is)
		return is.Status == "DELIVERED"
	})
	var done struct{ RedemptionID string }
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherID":"`+g.VoucherID+`","amount":5}`, &done)
	owner := s.joined("ann@example.com", staff.Owner)
	for _, step := range []struct {
		action string
		typed  url.Values
		want   []string // of the page afterwards
	}{
		{"reverse", url.Values{"redemption": {done.RedemptionID}, "amount": {"1,50"}},
			[]string{"$1.50 given back", "$21.50"}},
		{"reverse", url.Values{"redemption": {done.RedemptionID}}, []string{"$3.50 given back", "$25.00"}},
		{"block", url.Values{"code": {"LOST"}, "reason": {"She called"}},
			[]string{"The gift is blocked.", "/unblock\">Unblock</a>", "She called"}},
		{"unblock", nil, []string{"The gift can be used again."}},
		{"adjust", url.Values{"amount": {"-5"}, "code": {"MISTAKE"}, "reason": {"typed wrong"}},
			[]string{"$5.00 taken off", "$20.00"}},
		{"resend", url.Values{"contact": {"ana@example.org"}}, []string{"Sent again", "ana@example.org"}},
		{"cancel", url.Values{"reason": {"refunded"}}, []string{"The gift is cancelled.", "/reinstate\">",
			`<p class="worth">$0.00</p>`}},
		{"reinstate", nil, []string{"Cancellation taken back"}},
		{"link", url.Values{"customer": {"C-<20177>"}}, []string{"The gift is linked to the customer.", "C-&lt;20177&gt;",
			"Linked to a customer", "/unlink\">"}},
		{"unlink", nil, []string{"The gift is linked to no customer.", "Link to the customer ended", "/link\">"}},
		{"replace", url.Values{"contact": {"ana@example.org"}, "reason": {"seen by others"}},
			[]string{"Replaced by a new card"}},
	} {
		page := owner.does(g, step.action, step.typed)
		for _, text := range step.want {
			if !strings.Contains(page, text) {
				t.Errorf("after %s the page lacks %q: %s", step.action, text, page)
			}
		}
		if !strings.Contains(page, " · ann") {
			t.Errorf("after %s nobody is named: %s", step.action, page)
		}
	}
}

// becomes finds in a form what the engine says that is going to change.
var becomes = regexp.MustCompile(`<dt>([^<]+)</dt><dd>([^<]+) <span aria-hidden="true">→</span><span class="hidden">becomes</span> <b>([^<]+)</b>`)

// TestAFormSaysWhatWillBe: what the engine would do now, for the form as it is and for what was typed; nothing is done,
// and the form can be sent then. What the engine refuses is told before.
func TestAFormSaysWhatWillBe(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	g := s.sell(`{"value":25,"recipientDescription":"Ana","deliveryMethodID":1,"recipientContact":"ana@example.com"}`)
	s.become(g, "DELIVERED")
	var done struct{ RedemptionID string }
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherID":"`+g.VoucherID+`","amount":5}`, &done)
	owner := s.joined("ann@example.com", staff.Owner)
	says := func(page string) (all []string) {
		for _, m := range becomes.FindAllStringSubmatch(page, -1) {
			all = append(all, m[1]+": "+m[2]+" becomes "+m[3])
		}
		return all
	}
	path := harborConsole + "gifts/" + g.VoucherID + "/"
	before := owner.want(http.StatusOK, harborConsole+"gifts/"+g.VoucherID, nil).body
	for _, is := range []struct {
		action string
		typed  url.Values // nil: the form as it is
		want   []string
	}{
		{"reverse", nil, []string{"Balance: $20.00 becomes $25.00", "State: Partly used becomes Ready"}},
		{"reverse", url.Values{"redemption": {done.RedemptionID}, "amount": {"1.50"}},
			[]string{"Balance: $20.00 becomes $21.50"}},
		{"adjust", url.Values{"amount": {"-5"}, "code": {"MISTAKE"}, "reason": {"typed wrong"}},
			[]string{"Balance: $20.00 becomes $15.00"}},
		{"cancel", nil, []string{"Balance: $20.00 becomes $0.00", "State: Partly used becomes Cancelled"}},
		{"block", nil, []string{"State: Partly used becomes Blocked"}},
		{"resend", nil, nil},
	} {
		var page string
		if is.typed == nil {
			page = owner.want(http.StatusOK, path+is.action, nil).body
		} else {
			is.typed.Set("look", "look")
			page = owner.want(http.StatusOK, path+is.action, is.typed).body
			for name, typed := range is.typed {
				if name != "look" && !strings.Contains(page, `"`+typed[0]+`"`) {
					t.Errorf("%s: the form lost %s: %s", is.action, name, page)
				}
			}
		}
		if got := says(page); !slices.Equal(got, is.want) || len(got) == 0 && !strings.Contains(page, "stay as they are") {
			t.Errorf("%s says %q, want %q: %s", is.action, got, is.want, page)
		}
	}
	if got := says(owner.want(http.StatusOK, path+"adjust", nil).body); got != nil {
		t.Errorf("a form with an empty amount says %q", got)
	}
	if after := owner.want(http.StatusOK, harborConsole+"gifts/"+g.VoucherID, nil).body; after != before {
		t.Errorf("asking changed the gift: %s\nbefore: %s", after, before)
	}
	tooMuch := url.Values{"amount": {"-20.01"}, "code": {"MISTAKE"}, "reason": {"typed wrong"}, "look": {"look"}}
	if page := owner.want(http.StatusOK, path+"adjust", tooMuch).body; !strings.Contains(page, `role="alert"`) {
		t.Errorf("what the engine refuses is not told: %s", page)
	}
}

// TestStaffMoveValue: value goes to the gift that was named by its code, its id or its page, once; what names no gift,
// and the same gift, are refused in the form, and nothing moves.
func TestStaffMoveValue(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	from := s.sell(`{"value":25,"recipientDescription":"Ana","deliveryMethodID":3}`)
	to := s.sellAs(`{"value":10,"recipientDescription":"Ben","deliveryMethodID":3}`, "W-2")
	mia := s.joined("mia@example.com", staff.Manager)
	path := harborConsole + "gifts/" + from.VoucherID + "/transfer"
	look := mia.want(http.StatusOK, path, url.Values{"key": {"K"}, "look": {"1"}, "gift": {to.VoucherCode},
		"amount": {"5"}})
	if !strings.Contains(look.body, "$20.00") || strings.Contains(look.body, to.GiftURL) {
		t.Errorf("before value moves, the form says %s", look.body)
	}
	if page := mia.does(from, "transfer", url.Values{"gift": {to.VoucherCode}, "amount": {"5"}}); !strings.Contains(page,
		"$20.00") || !strings.Contains(page, "The value is moved.") {
		t.Errorf("after $5.00 moved: %s", page)
	}
	mia.does(from, "transfer", url.Values{"gift": {"https://example.com/gifts/" + to.VoucherID}, "amount": {"2.50"}})
	if page := mia.does(from, "transfer", url.Values{"gift": {to.VoucherID}}); !strings.Contains(page,
		`<p class="worth">$0.00</p>`) {
		t.Errorf("after all moved: %s", page)
	}
	if page := mia.want(http.StatusOK, harborConsole+"gifts/"+to.VoucherID, nil).body; !strings.Contains(page,
		"$35.00") {
		t.Errorf("the other gift is %s", page)
	}
	back := harborConsole + "gifts/" + to.VoucherID + "/transfer"
	before := s.rows()
	for named, want := range map[string]string{"": "Type the code", "Ana": "Type the code", to.VoucherID: "same",
		"0197f2a4-0000-7000-8000-000000000001": "no such gift", `"><script>alert(1)</script>`: "Type the code"} {
		a := mia.ask(back, url.Values{"key": {"K-" + want}, "gift": {named}})
		if a.status < 400 || !strings.Contains(a.body, want) || strings.Contains(a.body, "<script>alert") {
			t.Errorf("%q: status %d: %s", named, a.status, a.body)
		}
	}
	after := s.rows()
	for _, table := range []string{"entry", "voucher"} {
		if len(after[table]) != len(before[table]) {
			t.Errorf("%s has other rows", table)
		}
	}
}

// TestStaffPayOut: an owner pays the rest of a gift out in cash where the law lets a guest ask for it, and takes that
// back; a manager does not, and where no law lets a guest ask, nobody is offered it.
func TestStaffPayOut(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	g := s.sell(`{"value":25,"recipientDescription":"Ana","deliveryMethodID":3}`)
	ann, mia := s.joined("ann@example.com", staff.Owner), s.joined("mia@example.com", staff.Manager)
	page := harborConsole + "gifts/" + g.VoucherID
	if strings.Contains(ann.want(http.StatusOK, page, nil).body, "/cash-out") {
		t.Error("a gift of which too much is left can be paid out")
	}
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherID":"`+g.VoucherID+`","amount":20}`, nil)
	if strings.Contains(mia.want(http.StatusOK, page, nil).body, "/cash-out") {
		t.Error("a manager is offered to pay out")
	}
	mia.want(http.StatusForbidden, page+"/cash-out", url.Values{"key": {"K"}, "location": {pier39}})
	done := ann.does(g, "cash-out", url.Values{"location": {pier39}})
	for _, text := range []string{"paid out in cash", "/reverse\">", `<p class="worth">$0.00</p>`, " · ann"} {
		if !strings.Contains(done, text) {
			t.Errorf("after it was paid out, the page lacks %q: %s", text, done)
		}
	}
	of := func(b *browser) []string {
		return regexp.MustCompile(`<option value="([0-9a-f-]{36})">\$5\.00`).FindStringSubmatch(
			b.want(http.StatusOK, page+"/reverse", nil).body)
	}
	if of(mia) != nil || of(ann) == nil {
		t.Fatalf("a manager may take back %v, an owner %v", of(mia), of(ann))
	}
	if back := ann.does(g, "reverse", url.Values{"redemption": {of(ann)[1]}}); !strings.Contains(back,
		`<p class="worth">$5.00</p>`) {
		t.Errorf("after it was taken back: %s", back)
	}
}

// TestStaffAreRefusedInWords: what is wrong with a form is told above it, and what was typed stays.
func TestStaffAreRefusedInWords(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	g := s.sell(`{"value":25,"recipientDescription":"Ana","deliveryMethodID":3}`)
	manager := s.joined("mia@example.com", staff.Manager)
	path := harborConsole + "gifts/" + g.VoucherID + "/"
	adjusted := url.Values{"key": {"K-1"}, "code": {"SUPPORT"}, "reason": {"the <b>queue</b>"}}
	for amount, want := range map[string]string{"a lot": "“a lot” is no amount", "100.01": "up to $100.00",
		"0": "must not be zero", "1.250": "“1.250” could be $1,250.00 or $1.25. Write 1250.00 or 1.25."} {
		adjusted.Set("amount", amount)
		a := manager.ask(path+"adjust", adjusted)
		if a.status < 400 || !strings.Contains(a.body, want) || !strings.Contains(a.body, `value="`+amount+`"`) ||
			!strings.Contains(a.body, "the &lt;b&gt;queue") || strings.Contains(a.body, `value="K-1"`) {
			t.Errorf("%s: status %d: %s", amount, a.status, a.body)
		}
	}
	adjusted.Set("amount", "100")
	manager.want(http.StatusSeeOther, path+"adjust", adjusted)
	manager.want(http.StatusConflict, path+"unblock", nil) // it is not blocked
	if a := manager.ask(path+"resend", url.Values{"key": {"K-2"}, "contact": {"nobody"}}); a.status < 400 {
		t.Errorf("an address that is none: status %d: %s", a.status, a.body)
	}
}

// TestAddingMuchAsksForProof: an owner who adds more than a manager may has proved within five minutes who they are.
// What they typed stays, and the form that is sent again afterwards does it.
func TestAddingMuchAsksForProof(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	g := s.sell(`{"value":25,"recipientDescription":"Ana","deliveryMethodID":3}`)
	path := harborConsole + "gifts/" + g.VoucherID
	owner := s.unproven(s.member("ann@example.com", staff.Owner).token())
	typed := url.Values{"key": {"K-1"}, "code": {"SUPPORT"}, "reason": {"the queue"}, "amount": {"100"}}
	owner.want(http.StatusSeeOther, path+"/adjust", typed)
	typed.Set("amount", "100.01")
	look := url.Values{"look": {"look"}}
	maps.Copy(look, typed)
	for what, a := range map[string]answer{"looked at": owner.want(http.StatusOK, path+"/adjust", look),
		"done": owner.want(http.StatusForbidden, path+"/adjust", typed)} {
		if !strings.Contains(a.body, "more than $100.00, confirm that it is you") || !strings.Contains(a.body,
			`value="the queue"`) || !strings.Contains(a.body, harborConsole+`confirm?to=gifts/`+g.VoucherID) {
			t.Errorf("what is %s: %s", what, a.body)
		}
	}
	to := owner.want(http.StatusSeeOther, harborConsole+"confirm", url.Values{"password": {words},
		"to": {"gifts/" + g.VoucherID}}).header.Get("Location")
	if page := owner.want(http.StatusOK, to, nil).body; to != path || !strings.Contains(page, `<p class="worth">$125.00</p>`) {
		t.Errorf("%s: %s", to, page)
	}
	typed.Set("key", "K-2")
	owner.want(http.StatusSeeOther, path+"/adjust", typed)
	if page := owner.want(http.StatusOK, path, nil).body; !strings.Contains(page, `<p class="worth">$225.01</p>`) {
		t.Errorf("after the proof: %s", page)
	}
}

// TestActionsNeedTheirPermissions: a role opens the form of an action on a gift, and sends it, if it may look gifts up
// and the table of authority lets it do the operation; nobody else does.
func TestActionsNeedTheirPermissions(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	g := s.sell(`{"value":25,"recipientDescription":"Ana","deliveryMethodID":3}`)
	operations := map[string]operation.Name{"resend": operation.ResendGift, "extend": operation.ExtendGift,
		"reverse": operation.ReverseRedemption, "adjust": operation.AdjustGift, "replace": operation.ReplaceGift,
		"sell":  operation.ActivateGift,
		"block": operation.BlockGift, "unblock": operation.UnblockGift, "cancel": operation.CancelGift,
		"reinstate": operation.ReinstateGift, "transfer": operation.TransferBalance, "cash-out": operation.CashOutGift,
		"link": operation.LinkCustomer, "unlink": operation.UnlinkCustomer}
	for _, role := range staff.Roles() {
		b := s.joined(string(role)+"@example.com", role)
		for _, p := range closedPages(t) {
			_, action, of := strings.Cut(p.Pattern, "/gifts/{voucher}/")
			if !of {
				continue
			}
			operation := operations[action]
			if operation == "" {
				t.Fatalf("the test knows no operation of %s", p.Pattern)
			}
			path, form := addressOf(&p, g.VoucherID, url.Values{"key": {"K"}})
			may := role.May().Has(operation.Needs() | merchant.MayLookUp)
			if a := b.ask(harborConsole+path, form); (a.status != http.StatusForbidden) != may {
				t.Errorf("%s, %s: status %d", role, p.Pattern, a.status)
			}
		}
	}
}

// TestRolesAreHeld: of all pages and actions on a gift, each role gets those of its permissions, by address too.
func TestRolesAreHeld(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	g := s.sell(`{"value":25,"recipientDescription":"Ana","deliveryMethodID":3}`)
	path := harborConsole + "gifts/" + g.VoucherID
	for role, may := range map[staff.Role]bool{staff.Owner: true, staff.Manager: true, staff.Bookkeeper: false,
		staff.Cashier: false} {
		b := s.joined(string(role)+"@example.com", role)
		for _, action := range []string{"resend", "replace", "block", "cancel", "adjust"} {
			want := http.StatusForbidden
			if may {
				want = http.StatusOK
			}
			b.want(want, path+"/"+action, nil)
			if !may {
				b.want(http.StatusForbidden, path+"/"+action, url.Values{"key": {"K"}, "code": {"LOST"}})
			}
		}
		if role == staff.Bookkeeper {
			if page := b.want(http.StatusOK, path, nil).body; strings.Contains(page, "/block") {
				t.Errorf("a bookkeeper is offered to block: %s", page)
			}
		}
	}
}

// TestStaffSendGifts: a form makes one gift, however often it is sent, by the way that was chosen; what is wrong is
// told with the name of its field.
func TestStaffSendGifts(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	manager := s.joined("mia@example.com", staff.Manager)
	const path = harborConsole + "send"
	filled := func(more url.Values) url.Values {
		form := url.Values{"key": formKey.FindStringSubmatch(manager.want(http.StatusOK, path, nil).body)[1:],
			"value": {"12,50"}, "how": {"paid"}, "to": {"contact"}, "contact": {"ana@example.com"}, "recipient": {"Ana"},
			"when": {"now"}, "reference": {"R-1"}, "first": {"Carla"}, "last": {"Diaz"}, "email": {"carla@example.com"},
			"storefront": {examples.HarborStorefront}}
		for name, values := range more {
			form[name] = values
		}
		return form
	}
	form := filled(nil)
	to := manager.want(http.StatusSeeOther, path, form).header.Get("Location")
	if again := manager.want(http.StatusSeeOther, path, form).header.Get("Location"); again != to {
		t.Errorf("sent again, the form leads to %s, not to %s", again, to)
	}
	page := manager.want(http.StatusOK, to, nil).body
	for _, text := range []string{"The gift is made.", "$12.50", "ana@example.com", "R-1", " · mia"} {
		if !strings.Contains(page, text) {
			t.Errorf("the gift lacks %q: %s", text, page)
		}
	}
	other := manager.want(http.StatusOK, strings.Replace(to, "done=send", "done=cancel", 1), nil).body
	if strings.Contains(other, "is cancelled") {
		t.Error("an address says what was not done")
	}
	paper := manager.want(http.StatusOK, path, filled(url.Values{"to": {"paper"}, "reference": {"R-2"}})).body
	if !strings.Contains(paper, "/print.pdf") || !strings.Contains(paper, `target="_blank"`) {
		t.Errorf("a printed gift: %s", paper)
	}
	buyers := manager.want(http.StatusSeeOther, path, filled(url.Values{"to": {"buyer"}, "contact": {""},
		"reference": {"R-3"}}))
	if page := manager.want(http.StatusOK, buyers.header.Get("Location"), nil).body; !strings.Contains(page,
		"carla@example.com") {
		t.Errorf("a gift for who pays: %s", page)
	}
	if a := manager.want(http.StatusBadRequest, path, filled(url.Values{"to": {"buyer"}, "how": {"present"},
		"promotion": {examples.HarborWelcomeBack}})); !strings.Contains(a.body, "A promotional gift has no buyer.") {
		t.Errorf("a promotional gift for who pays: %s", a.body)
	}
	for name, wrong := range map[string]url.Values{
		"Value":                  {"value": {"a lot"}},
		"Number of the sale":     {"reference": {""}},
		"Buyer&#39;s first name": {"first": {""}},
	} {
		a := manager.want(http.StatusBadRequest, path, filled(wrong))
		if !strings.Contains(a.body, name+": ") || !strings.Contains(a.body, `value="ana@example.com"`) {
			t.Errorf("%s: %s", name, a.body)
		}
	}
	foreign := manager.want(http.StatusBadRequest, path, filled(url.Values{"contact": {"+49 151 23456789"}})).body
	if !strings.Contains(foreign, "CA only. An owner says on Set-up, Messages and privacy") {
		t.Errorf("a number of another country: %s", foreign)
	}
	s.joined("bo@example.com", staff.Bookkeeper).want(http.StatusForbidden, path, nil)
}

// TestAPreviewFollowsTheForm: it is the page that the guest would see, with what was typed; it sends nothing, is framed
// by the console alone, and what attacks it stays text.
func TestAPreviewFollowsTheForm(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	b := s.joined("mia@example.com", staff.Manager)
	form := b.want(http.StatusOK, harborConsole+"send", nil)
	if !strings.Contains(form.body, `<iframe name="preview" src="send/preview"`) ||
		!strings.Contains(form.body, `formaction="send/preview" formtarget="preview" formnovalidate`) {
		t.Errorf("the form has no preview: %s", form.body)
	}
	if empty := b.want(http.StatusOK, harborConsole+"send/preview", nil); !strings.Contains(empty.body, "$25.00") {
		t.Errorf("before a value is typed, the preview shows %s", empty.body)
	}
	page := b.want(http.StatusOK, harborConsole+"send/preview", url.Values{"value": {"42.50"}, "recipient": {"Ana"},
		"sender": {"Ben"}, "message": {`<script src="https://evil.example"></script>`}})
	for _, want := range []string{"$42.50", "Ana", "Ben", "&lt;script", "Harbor Coffee"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the preview lacks %q: %s", want, page.body)
		}
	}
	if policy := page.header.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors 'self'") ||
		strings.Contains(policy, "unsafe") || page.header.Get("X-Frame-Options") != "SAMEORIGIN" {
		t.Errorf("the preview has the policy %q", policy)
	}
	for _, bad := range []string{"", "0", "a lot", "-1", "1e400", "999999999999999999"} {
		page := b.want(http.StatusOK, harborConsole+"send/preview", url.Values{"value": {bad}})
		if strings.Contains(page.body, "Used in full") {
			t.Errorf("with the value %q, the preview shows a gift that is used: %s", bad, page.body)
		}
	}
	if list := b.want(http.StatusOK, harborConsole+"gifts", nil); !strings.Contains(list.body, "No gifts") {
		t.Errorf("a preview made a gift: %s", list.body)
	}
	s.joined("bo@example.com", staff.Bookkeeper).want(http.StatusForbidden, harborConsole+"send/preview", nil)
}

// TestWithoutGatewaysGiftsArePrinted: where the service sends neither e-mail nor SMS, the form begins with paper, and
// says so in words of the console if somebody chooses to send.
func TestWithoutGatewaysGiftsArePrinted(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	owner := s.joined("ann@example.com", staff.Owner)
	const path, paper = harborConsole + "send", `value="paper" checked`
	for _, form := range []string{path, harborConsole + "many"} {
		if page := owner.want(http.StatusOK, form, nil).body; !strings.Contains(page, paper) {
			t.Errorf("the form begins with what is not there: %s", page)
		}
	}
	page := owner.want(http.StatusConflict, path, owner.keyed(path, url.Values{"value": {"5"}, "to": {"contact"},
		"contact": {"ana@example.com"}, "how": {"paid"}, "reference": {"R-1"}, "first": {"Ana"}, "last": {"Diaz"},
		"email": {"ana@example.com"}, "storefront": {examples.HarborStorefront}})).body
	if !strings.Contains(page, "Until then, gifts can be printed.") || strings.Contains(page, paper) {
		t.Errorf("the refusal is in words of the interface, or the choice is lost: %s", page)
	}
	sending := start(t, server.Config{Outbox: true})
	if page := sending.joined("ann@example.com", staff.Owner).want(http.StatusOK, path, nil).body; strings.Contains(page,
		paper) {
		t.Errorf("the form begins with paper: %s", page)
	}
}
