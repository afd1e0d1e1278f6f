package gifts

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/contact"
	"boon.example/internal/face/console/desk"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/staff"
)

// action is something that staff do to a gift: an operation of the JSON interface with a form before it. Its page says
// what it is going to do; the page of the gift says afterwards what undoes it.
type action struct {
	name      string // in its address, and in the names of its texts
	operation operation.Name
	path      string // that of the operation below the JSON interface
	ends      bool   // it takes something away for good, or until somebody undoes it
	offered   func(*desk.Request, *gift.Gift) bool
	fields    func(*desk.Request, *gift.Gift, []gift.Entry) []input
	body      func(r *desk.Request, g *gift.Gift, typed func(name string) string) (map[string]any, error)
	undo      string // the action that undoes it; "": none does
}

// input is a field of a form.
type input struct {
	Name, Label, Hint string
	Kind              string // text, date, amount or choice
	Value             string
	Options           []option
	Optional          bool
}

// option is one of the choices of a field.
type option struct{ Value, Text string }

const (
	gifting    = "/gifting/"
	redemption = "/redemption/"
)

// actions is the table of what staff do to a gift, in the order in which its page offers them: what takes something
// away from the guest comes last.
var actions = []action{
	{name: "sell", operation: operation.ActivateGift, path: redemption, offered: unsold, fields: sellFields,
		body: sellBody, undo: "cancel"},
	{name: "resend", operation: operation.ResendGift, path: gifting, offered: receivable, fields: contactField(false),
		body: resendBody},
	{name: "reverse", operation: operation.ReverseRedemption, path: redemption, offered: redeemed, fields: reverseFields,
		body: reverseBody},
	{name: "extend", operation: operation.ExtendGift, path: gifting, offered: expires, fields: extendFields,
		body: extendBody},
	{name: "adjust", operation: operation.AdjustGift, path: gifting, offered: receivable, fields: adjustFields,
		body: adjustBody, undo: "adjust"},
	{name: "transfer", operation: operation.TransferBalance, path: gifting, offered: movable, fields: transferFields,
		body: transferBody},
	{name: "link", operation: operation.LinkCustomer, path: gifting, offered: linkable, fields: customerField,
		body: customerBody, undo: "unlink"},
	{name: "unlink", operation: operation.UnlinkCustomer, path: gifting, offered: linked, body: onlyGift, undo: "link"},
	{name: "unblock", operation: operation.UnblockGift, path: gifting, offered: blocked, body: onlyGift, undo: "block"},
	{name: "reinstate", operation: operation.ReinstateGift, path: gifting, offered: cancelled, fields: reasonField,
		body: onlyGift, undo: "cancel"},
	{name: "cash-out", operation: operation.CashOutGift, path: redemption, ends: true, offered: cashable,
		fields: cashOutFields, body: cashOutBody, undo: "reverse"},
	{name: "replace", operation: operation.ReplaceGift, path: gifting, ends: true, offered: receivable,
		fields: contactField(true), body: replaceBody},
	{name: "block", operation: operation.BlockGift, path: gifting, ends: true, offered: unblocked, fields: blockFields,
		body: blockBody, undo: "unblock"},
	{name: "cancel", operation: operation.CancelGift, path: gifting, ends: true, offered: cancellable, fields: reasonField,
		body: cancelBody, undo: "reinstate"},
}

func receivable(_ *desk.Request, g *gift.Gift) bool { return g.Status.Receivable() }
func redeemed(_ *desk.Request, g *gift.Gift) bool   { return g.Balance < g.Funded }
func expires(_ *desk.Request, g *gift.Gift) bool    { return !g.End().IsZero() && g.Status.Receivable() }
func blocked(_ *desk.Request, g *gift.Gift) bool    { return g.Blocked != "" }
func unblocked(_ *desk.Request, g *gift.Gift) bool {
	return g.Blocked == "" && g.Status != gift.Cancelled
}
func cancelled(_ *desk.Request, g *gift.Gift) bool { return g.Status == gift.Cancelled }

func linked(_ *desk.Request, g *gift.Gift) bool { return g.CustomerID != "" }
func linkable(_ *desk.Request, g *gift.Gift) bool {
	return g.CustomerID == "" && g.Status != gift.NotActivated
}

// actionPages are the forms of all actions, and what they do.
func (f *pages) actionPages() (all []desk.Page) {
	for n := range actions {
		a := &actions[n]
		show := func(r *desk.Request) (desk.View, error) { return f.showAction(r, a, nil, nil) }
		do := func(r *desk.Request) (desk.View, error) { return f.act(r, a) }
		needs := a.operation.Needs() | merchant.MayLookUp // the form tells of the gift
		all = append(all, desk.Page{Pattern: "GET /gifts/{voucher}/" + a.name, Needs: needs, Do: show},
			desk.Page{Pattern: "POST /gifts/{voucher}/" + a.name, Needs: needs, Do: do})
	}
	return all
}

// offer are the actions that the member may do to a gift as it is.
func (f *pages) offer(r *desk.Request, g *gift.Gift) (all []offered) {
	for n := range actions {
		a := &actions[n]
		if r.Member.Role.May().Has(a.operation.Needs()) && a.offered(r, g) {
			all = append(all, offered{To: g.ID.String() + "/" + a.name, Text: r.Locale.Text("console.act." + a.name),
				Says: says(r, a, g), Ends: a.ends})
		}
	}
	return all
}

// offered is an action in a list.
type offered struct {
	To, Text, Says string
	Ends           bool
}

// says tells what an action is going to do to a gift.
func says(r *desk.Request, a *action, g *gift.Gift) string {
	left := worth(r, g, g.Balance)
	end := ""
	if !g.End().IsZero() {
		end = r.Locale.Moment(g.End().In(r.Account.Zone))
	}
	name := "console.act-says." + a.name
	switch a.name {
	case "extend":
		return r.Locale.Text(name, end)
	case "sell":
		if g.Fixed > 0 {
			return r.Locale.Text("console.act-says.sell.fixed", worth(r, g, g.Fixed))
		}
		return r.Locale.Text(name)
	case "cancel":
		if unsold(r, g) {
			return r.Locale.Text("console.act-says.cancel.unsold")
		}
		return r.Locale.Text(name, left)
	case "resend", "reverse", "adjust":
		return r.Locale.Text(name)
	default:
		return r.Locale.Text(name, left)
	}
}

// actionShown is what the form of an action shows.
type actionShown struct {
	Gift, For, Left, Says, Do string
	Operation                 operation.Name // that the button calls
	Key                       string         // under which it is done once
	Fields                    []input
	Wrong                     []string
	Confirm                   string // where the member proves first who they are; "": they need not
	Ends                      bool
	Changes                   []change // that the engine says; none: it was not asked, or says that nothing changes
	Rehearsed                 bool     // the engine was asked
}

// showAction asks for what an action needs, and says what it is going to do.
// typed are the fields of a form that asks what it would do; nil: it does not.
func (f *pages) showAction(r *desk.Request, a *action, wrong error, typed func(string) string) (desk.View, error) {
	g, err := f.named(r)
	if err != nil {
		return desk.View{}, err
	}
	if !a.offered(r, &g) {
		return desk.View{}, refusal.New(refusal.RedemptionNotAllowed, "%s", r.Locale.Text("console.act-not-now"))
	}
	history, err := f.Store.History(r.Context(), r.Account.ID, g.ID, max(0, g.Seq-maxEvents), maxEvents)
	if err != nil {
		return desk.View{}, service.Stored(err)
	}
	shown := actionShown{Gift: desk.Home(r.Account.ID) + "gifts/" + g.ID.String(), For: recipient(r, &g),
		Left: left(r, &g), Says: says(r, a, &g), Do: r.Locale.Text("console.act." + a.name),
		Operation: a.operation, Key: uuid.NewString(), Ends: a.ends}
	if a.fields != nil {
		shown.Fields = a.fields(r, &g, history)
	}
	v := desk.View{Template: "action.html", Title: "console.act." + a.name}
	if wrong != nil || typed != nil {
		for n := range shown.Fields {
			shown.Fields[n].Value = r.HTTP.PostForm.Get(shown.Fields[n].Name)
		}
	}
	if wrong != nil {
		refused := service.Told(wrong)
		v.Status, shown.Wrong = refused.Code.Status(), r.Said(refused)
		shown.askProof(r, &g, wrong)
	} else if err := shown.rehearse(r, a, &g, typed); err != nil {
		return desk.View{}, err
	}
	v.Data = shown
	return v, nil
}

// askProof leads to where the member proves who they are, if that is what was missing: in a window beside the form, in
// which what was typed stays.
func (s *actionShown) askProof(r *desk.Request, g *gift.Gift, wrong error) {
	if _, missing := errors.AsType[*unproven](wrong); missing {
		s.Confirm = r.ToConfirm("gifts/" + g.ID.String()).To
	}
}

// act does an action, once for each form that was shown.
func (f *pages) act(r *desk.Request, a *action) (desk.View, error) {
	g, err := f.named(r)
	if err != nil {
		return desk.View{}, err
	}
	typed := func(name string) string { return strings.TrimSpace(r.HTTP.PostForm.Get(name)) }
	if typed("look") != "" {
		return f.showAction(r, a, nil, typed)
	}
	body, err := a.body(r, &g, typed)
	if err == nil {
		err = r.Operate(http.MethodPost, a.path+string(a.operation), typed("key"), body, nil)
	}
	if _, refused := errors.AsType[*refusal.Error](err); refused {
		return f.showAction(r, a, err, nil)
	}
	if err != nil {
		return desk.View{}, err
	}
	return desk.View{To: desk.Home(r.Account.ID) + "gifts/" + g.ID.String() + "?done=" + a.name}, nil
}

// done tells of an action that was just done; nil: none was. That the address says so is not enough.
func (f *pages) done(r *desk.Request, g *gift.Gift, history []gift.Entry) *doneShown {
	name := r.HTTP.URL.Query().Get("done")
	lately := func(o operation.Name) bool {
		return slices.ContainsFunc(history, func(e gift.Entry) bool {
			return e.Kind == o.Makes() && r.Now.Sub(e.At) < time.Minute
		})
	}
	if name == "send" && lately(operation.SendGift) {
		return &doneShown{Text: r.Locale.Text("console.send.done")}
	}
	n := slices.IndexFunc(actions, func(a action) bool { return a.name == name })
	if n < 0 || !lately(actions[n].operation) {
		return nil
	}
	shown := &doneShown{Text: r.Locale.Text("console.act-done." + name)}
	undo := slices.IndexFunc(actions, func(a action) bool { return a.name == actions[n].undo })
	if undo >= 0 && actions[undo].offered(r, g) && r.Member.Role.May().Has(actions[undo].operation.Needs()) {
		shown.Undo, shown.To = r.Locale.Text("console.act."+actions[undo].name), g.ID.String()+"/"+actions[undo].name
	}
	return shown
}

// doneShown says what was done, and how to undo it.
type doneShown struct{ Text, Undo, To string }

func label(r *desk.Request, name string) string { return r.Locale.Text("console.field." + name) }
func hint(r *desk.Request, name string) string  { return r.Locale.Text("console.hint." + name) }

func onlyGift(_ *desk.Request, g *gift.Gift, typed func(string) string) (map[string]any, error) {
	return withReason(g, typed), nil
}

// withReason is the body of an operation on a gift that may have a reason.
func withReason(g *gift.Gift, typed func(string) string) map[string]any {
	body := map[string]any{"voucherID": g.ID.String()}
	if reason := typed("reason"); reason != "" {
		body["reason"] = reason
	}
	return body
}

func reasonField(r *desk.Request, _ *gift.Gift, _ []gift.Entry) []input {
	return []input{{Name: "reason", Label: label(r, "reason"), Kind: "text", Optional: true}}
}

// contactField asks where a gift is sent to.
func contactField(reason bool) func(*desk.Request, *gift.Gift, []gift.Entry) []input {
	return func(r *desk.Request, g *gift.Gift, history []gift.Entry) []input {
		fields := []input{{Name: "contact", Label: label(r, "contact"), Hint: hint(r, "contact"), Kind: "text",
			Value: g.Card.Contact}}
		if reason {
			fields = append(fields, reasonField(r, g, history)...)
		}
		return fields
	}
}

// deliverTo is how a gift is sent to what somebody typed.
func deliverTo(typed string) map[string]any {
	method := contact.SMS
	if strings.Contains(typed, "@") {
		method = contact.Email
	}
	return map[string]any{"deliveryMethodID": int(method), "recipientContact": typed}
}

var errNoContact = refusal.At(refusal.ValidationFailure, "contact", "Write an e-mail address or a mobile number.")

func resendBody(_ *desk.Request, g *gift.Gift, typed func(string) string) (map[string]any, error) {
	if typed("contact") == "" {
		return nil, errNoContact
	}
	// It does not depend on the gift as it is now: a form that is sent again has to be the same request.
	body := deliverTo(typed("contact"))
	body["voucherID"] = g.ID.String()
	return body, nil
}

func replaceBody(_ *desk.Request, g *gift.Gift, typed func(string) string) (map[string]any, error) {
	if typed("contact") == "" {
		return nil, errNoContact
	}
	body := withReason(g, typed)
	body["deliver"] = deliverTo(typed("contact"))
	return body, nil
}

// reverseFields offer what was redeemed, or paid out in cash, and not given back yet, the newest first.
func reverseFields(r *desk.Request, g *gift.Gift, history []gift.Entry) []input {
	left := map[guid.ID]money.Amount{}
	for _, e := range history {
		switch e.Kind {
		case gift.Redemption, gift.CashOut:
			left[e.ID] -= e.Delta
		case gift.Reversal:
			left[e.Reverses] -= e.Delta
		}
	}
	var options []option
	for _, e := range slices.Backward(history) {
		if left[e.ID] > 0 && (e.Kind != gift.CashOut || r.Member.Role.May().Has(merchant.MayCashOut)) {
			place := ""
			if at := r.Account.Location(e.Actor.LocationID); at != nil {
				place = " · " + at.Name
			}
			options = append(options, option{e.ID.String(), worth(r, g, left[e.ID]) + " · " +
				r.Locale.Day(e.At.In(r.Account.Zone)) + ", " + r.Locale.Clock(e.At.In(r.Account.Zone)) + place})
		}
	}
	return []input{{Name: "redemption", Label: label(r, "redemption"), Kind: "choice", Options: options},
		{Name: "amount", Label: label(r, "part"), Hint: hint(r, "part"), Kind: "amount", Optional: true},
		{Name: "reason", Label: label(r, "reason"), Kind: "text", Optional: true}}
}

func reverseBody(r *desk.Request, g *gift.Gift, typed func(string) string) (map[string]any, error) {
	body := withReason(g, typed)
	delete(body, "voucherID")
	body["redemptionID"], body["amount"] = typed("redemption"), nil
	return withAmount(r, g, typed, body)
}

// withAmount is a body with the amount that somebody typed; without one it stays as it is.
func withAmount(r *desk.Request, g *gift.Gift, typed func(string) string, body map[string]any) (map[string]any, error) {
	if typed("amount") == "" {
		return body, nil
	}
	amount, err := readAmount(r, g, typed("amount"))
	if err != nil {
		return nil, err
	}
	body["amount"] = amount
	return body, nil
}

// readAmount reads an amount of a gift that somebody typed.
func readAmount(r *desk.Request, g *gift.Gift, typed string) (json.Number, error) {
	return r.ReadAmount("amount", typed, g.Unit(), func(a money.Amount) string { return worth(r, g, a) })
}

func extendFields(r *desk.Request, g *gift.Gift, _ []gift.Entry) []input {
	next := g.End().In(r.Account.Zone).AddDate(1, 0, 0)
	return []input{{Name: "until", Label: label(r, "until"), Kind: "date", Value: next.Format(time.DateOnly)}}
}

// extendBody makes a gift valid up to the end of the day that was chosen.
func extendBody(r *desk.Request, g *gift.Gift, typed func(string) string) (map[string]any, error) {
	day, err := time.ParseInLocation(time.DateOnly, typed("until"), r.Account.Zone)
	if err != nil {
		return nil, refusal.At(refusal.ValidationFailure, "until", "Choose the last day on which the gift is good.")
	}
	return map[string]any{"voucherID": g.ID.String(), "validUntil": day.AddDate(0, 0, 1).Format(time.RFC3339)}, nil
}

func adjustFields(r *desk.Request, _ *gift.Gift, _ []gift.Entry) []input {
	var options []option
	for _, code := range gift.AdjustReasons() {
		options = append(options, option{string(code), r.Locale.Text("console.reason." + string(code))})
	}
	return []input{{Name: "amount", Label: label(r, "amount"), Hint: hint(r, "amount"), Kind: "amount"},
		{Name: "code", Label: label(r, "why"), Kind: "choice", Options: options},
		{Name: "reason", Label: label(r, "words"), Kind: "text"}}
}

func adjustBody(r *desk.Request, g *gift.Gift, typed func(string) string) (map[string]any, error) {
	amount, err := readAmount(r, g, typed("amount"))
	if err != nil {
		return nil, err
	}
	by, err := g.Unit().ParseSigned(money.Number(amount))
	if err != nil {
		return nil, err
	}
	if err := mayAdd(r, g, by); err != nil {
		return nil, err
	}
	body := withReason(g, typed)
	body["amount"], body["reasonCode"] = amount, typed("code")
	return body, nil
}

// mayAdd holds to how much somebody may add by hand. More than that an owner adds, who has proved lately who they are:
// a session that was left open or stolen makes no money. Of pieces the worth is not known, so no limit holds.
func mayAdd(r *desk.Request, g *gift.Gift, by money.Amount) error {
	most := staff.AdjustLimit * unitsOf(g.Unit())
	owner := r.Member.Role == staff.Owner
	switch {
	case by <= 0 || !g.Item && by <= most || owner && r.Session.Proven(r.Real):
		return nil
	case owner && g.Item:
		return &unproven{refusal.At(refusal.NotAuthorized, "amount", "Before you add pieces, confirm that it is you.")}
	case owner:
		return &unproven{refusal.At(refusal.NotAuthorized, "amount",
			"Before you add more than %s, confirm that it is you.", worth(r, g, most))}
	case g.Item:
		return refusal.At(refusal.NotAuthorized, "amount", "Only an owner adds pieces. Ask an owner of the account.")
	}
	return refusal.At(refusal.NotAuthorized, "amount", "You may add up to %s. Ask an owner of the account.",
		worth(r, g, most))
}

// unproven is refused until the member proves once more who they are.
type unproven struct{ why *refusal.Error }

func (u *unproven) Error() string { return u.why.Error() }
func (u *unproven) Unwrap() error { return u.why }

// unitsOf is one of a currency in its smallest unit.
func unitsOf(c money.Currency) money.Amount {
	one := money.Amount(1)
	for range c.Decimals {
		one *= 10
	}
	return one
}

func blockFields(r *desk.Request, _ *gift.Gift, _ []gift.Entry) []input {
	var options []option
	for _, code := range gift.BlockReasons() {
		options = append(options, option{string(code), r.Locale.Text("console.reason." + string(code))})
	}
	return []input{{Name: "code", Label: label(r, "why"), Kind: "choice", Options: options},
		{Name: "reason", Label: label(r, "words"), Kind: "text", Optional: true}}
}

func blockBody(_ *desk.Request, g *gift.Gift, typed func(string) string) (map[string]any, error) {
	body := withReason(g, typed)
	body["reasonCode"] = typed("code")
	return body, nil
}

func customerField(r *desk.Request, _ *gift.Gift, _ []gift.Entry) []input {
	return []input{{Name: "customer", Label: label(r, "customer"), Hint: hint(r, "customer"), Kind: "text"}}
}

func customerBody(_ *desk.Request, g *gift.Gift, typed func(string) string) (map[string]any, error) {
	return map[string]any{"voucherID": g.ID.String(), "customerID": typed("customer")}, nil
}

func cancelBody(_ *desk.Request, g *gift.Gift, typed func(string) string) (map[string]any, error) {
	body := withReason(g, typed)
	body["cause"] = "CANCELLED"
	return body, nil
}
